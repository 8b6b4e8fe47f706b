// Data points for Workers Analytics SqlEngine.

/** Writes a data point. The platform limits them per request, and a call must not fail for that. */
export function write(dataset, index, blobs, ms) {
  try {
    dataset.writeDataPoint({ indexes: [index], blobs, doubles: [ms] })
  } catch (error) {
    console.error('a data point was not written:', error)
  }
}
