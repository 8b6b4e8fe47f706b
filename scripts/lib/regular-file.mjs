// Reads files of a folder that others may have written, without following a link out of it.

import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

/** Reads a file of at most `most` bytes, but not through a link, also if it has become a link since the folder was listed. */
export async function readRegularFile(path, most) {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch((error) => {
    throw error.code === 'ELOOP' ? new Error('it is a link, which is not followed: replace it by what it points to') : error
  })
  try {
    const what = await file.stat()
    if (!what.isFile()) throw new Error('it is no longer a file')
    if (what.size > most) throw new Error(`it has ${what.size} bytes, and a file has at most ${most}`)
    return await file.readFile()
  } finally {
    await file.close()
  }
}
