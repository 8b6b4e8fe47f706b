// The content of requests and answers. The Workers send it, and the bench compares answers with it.

/** Returns prose of this length in bytes, with characters that JSON escapes. */
export const prose = (bytes) => {
  const line = 'The kettle said "now", and the tea was poured into four cups.\n'
  return line.repeat(Math.ceil(bytes / line.length)).slice(0, bytes)
}

export const RESOURCE = 'bench://megabyte'

let text
/** Returns a megabyte of prose, which is generated once. */
export const megabyte = () => text ??= prose(1_000_000)

/** Returns the name of tool number `index`. The tools after the first eleven repeat them, and their names end with the index. */
export const named = (name, index) => index < 11 ? name : `${name}-${index}`
