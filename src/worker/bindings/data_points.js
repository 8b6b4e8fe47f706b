// Data points for Workers Analytics Engine.

export function write(dataset, index, blobs, ms) {
  dataset.writeDataPoint({ indexes: [index], blobs, doubles: [ms] })
}
