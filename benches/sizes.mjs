// Computes the size of the deployed modules.

import { gzipSync } from 'node:zlib'

/** @param {{ bytes: Uint8Array }[]} modules */
export const sizeOf = (modules) => ({
  raw: total(modules.map(({ bytes }) => bytes.length)),
  gzip: total(modules.map(({ bytes }) => gzipSync(bytes, { level: 9 }).length)),
})

const total = (numbers) => numbers.reduce((sum, number) => sum + number, 0)
