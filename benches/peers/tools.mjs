// The tools and the resource of every JavaScript peer. The names, descriptions and schemas come from tools.json.

import * as z from 'zod'
import { megabyte, named } from '../content.mjs'
import eleven from '../tools.json'

export { megabyte }

const handlers = {
  add: ({ a, b }) => String(a + b),
  echo: ({ text }) => text,
}

let made
/** Returns `TOOLS` tools: the eleven tools, and then the same tools again under other names. They are created once. */
export const tools = ({ TOOLS }) => made ??= Array.from({ length: Number(TOOLS) }, (_, index) => {
  const { name, description, inputSchema } = eleven[index % eleven.length]
  return { name: named(name, index), description, input: objects.get(inputSchema), handle: handlers[name] ?? (() => 'done') }
})

// The zod schemas have the usual form of hand-written schemas. They are created once per module, not once per request.
const converters = {
  string: ({ enum: values, minLength, maxLength, pattern }) => {
    if (values) return z.enum(values)
    const some = minLength === undefined ? z.string() : z.string().min(minLength)
    const bounded = maxLength === undefined ? some : some.max(maxLength)
    return pattern === undefined ? bounded : bounded.regex(new RegExp(pattern))
  },
  number: (schema) => within(z.number(), schema),
  integer: (schema) => within(z.int(), schema),
  boolean: () => z.boolean(),
  array: ({ items, minItems = 0, maxItems }) => {
    const some = minItems === 0 ? z.array(zod(items)) : z.array(zod(items)).min(minItems)
    return maxItems === undefined ? some : some.max(maxItems)
  },
  object: ({ properties }) => z.object(Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, zod(one)]))),
}
const zod = (schema) => {
  const type = converters[schema.type](schema)
  return schema.description === undefined ? type : type.describe(schema.description)
}
const within = (type, { minimum, maximum }) => {
  const some = minimum === undefined ? type : type.min(minimum)
  return maximum === undefined ? some : some.max(maximum)
}

const objects = new Map(eleven.map(({ inputSchema }) => [inputSchema, zod(inputSchema)]))
