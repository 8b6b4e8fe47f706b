// What the works carry. Both sides use it: the Workers answer with it, and the bench knows by it what is right.

/** Prose of so many bytes, with what JSON has to escape. */
export const prose = (bytes) => {
  const line = 'The kettle said "now", and the tea was poured into four cups.\n'
  return line.repeat(Math.ceil(bytes / line.length)).slice(0, bytes)
}

export const RESOURCE = 'bench://megabyte'

let text
/** A megabyte of it, made once. */
export const megabyte = () => text ??= prose(1_000_000)

/** What a tool is called where the same eleven are registered again. */
export const named = (name, index) => index < 11 ? name : `${name}-${index}`
