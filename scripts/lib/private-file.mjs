// Files with secrets in them: only their owner may read or write them.

import { appendFileSync, closeSync, fchmodSync, openSync, statSync } from 'node:fs'

const OWNER_ONLY = 0o600

/** Appends to a file of mode 0600. A file that others may read loses that mode before anything is written. */
export function appendPrivately(path, text) {
  const file = openSync(path, 'a', OWNER_ONLY)
  try {
    // The mode above is only that of a new file.
    fchmodSync(file, OWNER_ONLY)
    appendFileSync(file, text)
  } finally {
    closeSync(file)
  }
}

/** Sets the mode of a file to 0600 if others may use it. Returns whether they could; false if there is no such file. */
export function makePrivate(path) {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0
  if ((mode & 0o077) === 0) return false
  appendPrivately(path, '')
  return true
}
