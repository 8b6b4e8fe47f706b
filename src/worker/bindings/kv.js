// Requests to Workers KV.

/** Returns the bytes of a key, or null. */
export async function get(store, key) {
  const value = await store.get(key, 'arrayBuffer')
  return value && new Uint8Array(value)
}

export function put(store, key, value, expirationTtl) {
  return store.put(key, value, { expirationTtl })
}

export function delete_key(store, key) {
  return store.delete(key)
}

/** Returns the cursor of the next page, or null, and the keys as `[name, expiration]`. */
export async function list(store, prefix, limit, cursor) {
  const page = await store.list({ prefix, limit, cursor })
  return [page.list_complete ? null : page.cursor, page.keys.map(({ name, expiration }) => [name, expiration])]
}
