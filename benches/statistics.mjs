// Numbers out of several rounds.

/** The middle one; of an even number, the mean of the two in the middle. */
export function median(numbers) {
  const sorted = [...numbers].sort((one, other) => one - other)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** The median of each member over objects that have the same ones. */
export const medians = (objects) =>
  Object.fromEntries(Object.keys(objects[0]).map((name) => [name, median(objects.map((one) => one[name]))]))
