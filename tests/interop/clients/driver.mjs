// Runs a client library, and prints what it has seen, as a line of JSON.
//
//   node driver.mjs FILE TASK     FILE has the function `use`, TASK is a JSON object

const [, , file, json] = process.argv
const task = JSON.parse(json)
const plain = (name) => name.toLowerCase().replace(/[^a-z0-9]/g, '')
task.headers = { Authorization: `Bearer ${task.token}` }
/** Returns the name of the tool to call. Some libraries change the name, or put a prefix before it. */
task.chosen = (names) => {
  const matching = names.filter((name) => plain(name).endsWith(plain(task.tool))).sort((a, b) => a.length - b.length)
  if (matching.length === 0) throw new Error(`no tool ${task.tool} in ${names}`)
  return matching[0]
}
/** Sends the requests with a client of an official library. */
task.ask = async (client) => ({
  tools: (await client.listTools()).tools.map(({ name }) => name),
  call: await client.callTool({ name: task.tool, arguments: task.arguments }),
  read: await client.readResource({ uri: task.resource }),
  prompt: await client.getPrompt({ name: task.prompt, arguments: task.promptArguments }),
})
const { use } = await import(file)
const seen = await use(task)
process.stdout.write(`\n${JSON.stringify(seen)}\n`, () => process.exit(0))
