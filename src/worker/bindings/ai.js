// Requests to Workers AI.

/** Runs a model with inputs in JSON. Returns its answer as the bytes of JSON. */
export async function run(ai, model, inputs) {
  const answer = await ai.run(model, JSON.parse(inputs))
  return new TextEncoder().encode(JSON.stringify(answer) ?? 'null')
}
