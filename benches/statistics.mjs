// Numbers out of several rounds.

/**
 * @typedef {{ lower: number, median: number, upper: number }} Quartiles
 *
 * @param {number[]} numbers
 * @returns {Quartiles} interpolated between neighbours
 */
export function quartiles(numbers) {
  const sorted = numbers.toSorted((one, other) => one - other)
  const at = (part) => {
    const place = part * (sorted.length - 1)
    const below = sorted[Math.floor(place)]
    return below + (sorted[Math.ceil(place)] - below) * (place % 1)
  }
  return { lower: at(0.25), median: at(0.5), upper: at(0.75) }
}

export const median = (numbers) => quartiles(numbers).median

/**
 * The ratio of two subjects, taken in each round. The values of one round are close in time, so a slow phase of the machine slows both.
 */
export const ratio = (one, other) => one && other ? quartiles(one.map((value, round) => value / other[round])) : undefined

/** Turns objects with the same members into one object of lists. */
export const columns = (objects) =>
  Object.fromEntries(Object.keys(objects[0]).map((name) => [name, objects.map((one) => one[name])]))

/** The list, rotated by one place in each round, so that nothing always follows the same one. */
export const rotated = (list, round) => list.map((_, index) => list[(index + round) % list.length])
