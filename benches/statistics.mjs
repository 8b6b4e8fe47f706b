// Numbers out of several rounds.

/**
 * @typedef {{ lower: number, median: number, upper: number }} Quartiles
 *
 * @param {number[]} numbers
 * @returns {Quartiles} the numbers below which a quarter, a half and three quarters of them are, between two by their distance
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

/** The ratio of what two subjects took in each round. Those of one round stood beside each other in time. */
export const ratio = (one, other) => one && other ? quartiles(one.map((value, round) => value / other[round])) : undefined

/** The values of each member over objects that have the same ones. */
export const columns = (objects) =>
  Object.fromEntries(Object.keys(objects[0]).map((name) => [name, objects.map((one) => one[name])]))

/** The list, begun at another place for each round, so that nothing always follows the same. */
export const rotated = (list, round) => list.map((_, index) => list[(index + round) % list.length])
