// Statistics of the values of several rounds.

/**
 * @typedef {{ lower: number, median: number, upper: number }} Quartiles
 *
 * @param {number[]} numbers
 * @returns {Quartiles} with linear interpolation between neighbors
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
 * Returns the quartiles of the ratios of two subjects, one ratio per round. The values of one round are close in time, so a slow phase of
 * the machine affects both.
 */
export const ratio = (one, other) => one && other ? quartiles(one.map((value, round) => value / other[round])) : undefined

/** Turns objects with the same members into one object of lists. */
export const columns = (objects) =>
  Object.fromEntries(Object.keys(objects[0]).map((name) => [name, objects.map((one) => one[name])]))

/** Returns the list, rotated by one place in each round, so that each subject is first in turn. */
export const rotated = (list, round) => list.map((_, index) => list[(index + round) % list.length])
