// Files with secrets, which only their owner may read or write.

import { appendFileSync, closeSync, fchmodSync, openSync, statSync } from 'node:fs'

const OWNER_ONLY = 0o600

/** Appends to a file, and creates it if it is missing. Sets its mode to 0600 before it writes the text. */
export function appendPrivately(path, text) {
  const file = openSync(path, 'a', OWNER_ONLY)
  try {
    // openSync sets the mode of new files only.
    fchmodSync(file, OWNER_ONLY)
    appendFileSync(file, text)
  } finally {
    closeSync(file)
  }
}

/** Sets the mode of a file to 0600 if other users have access to it, and returns whether they had. Returns false if there is no file. */
export function makePrivate(path) {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0
  if ((mode & 0o077) === 0) return false
  appendPrivately(path, '')
  return true
}
