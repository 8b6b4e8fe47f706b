// The tools and the resource of every peer, as they are in tools.json: what they are called, what they take, what they do.

import * as z from 'zod'
import { megabyte, named } from '../content.mjs'
import eleven from '../tools.json'

export { megabyte }

const does = {
  add: ({ a, b }) => String(a + b),
  echo: ({ text }) => text,
}

let made
/** As many tools as the Worker is told to have: the eleven, and then the same again by other names. Made once. */
export const tools = ({ TOOLS }) => made ??= Array.from({ length: Number(TOOLS) }, (_, index) => {
  const { name, description, inputSchema } = eleven[index % eleven.length]
  return { name: named(name, index), description, input: objects.get(inputSchema), does: does[name] ?? (() => 'done') }
})

// Written as anybody would by hand, and made once: the schemas are those of a module, not of a request.
const written = {
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
  const type = written[schema.type](schema)
  return schema.description === undefined ? type : type.describe(schema.description)
}
const within = (type, { minimum, maximum }) => {
  const some = minimum === undefined ? type : type.min(minimum)
  return maximum === undefined ? some : some.max(maximum)
}

const objects = new Map(eleven.map(({ inputSchema }) => [inputSchema, zod(inputSchema)]))
