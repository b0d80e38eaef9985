/**
 * All that is in a database, past its owner, as text in lower case: every row of every object
 * store, with its key.
 */
export async function dumpDatabase(engine: IDBFactory, name: string): Promise<string> {
  const database = await done(engine.open(name))
  const parts: string[] = []
  for (const table of database.objectStoreNames) {
    const store = database.transaction([table], 'readonly').objectStore(table)
    const [keys, rows] = await Promise.all([done(store.getAllKeys()), done(store.getAll())])
    parts.push(`${table} ${JSON.stringify(keys)}`)
    // The reserve is noise.
    for (const row of rows) if (row.key !== 'reserve') parts.push(await textOf(row))
  }
  database.close()
  return parts.join('\n').toLowerCase()
}

async function textOf(value: unknown): Promise<string> {
  if (value instanceof Blob) return latin(new Uint8Array(await value.arrayBuffer()))
  if (value instanceof Uint8Array) return latin(value)
  if (typeof value !== 'object' || value === null) return String(value)
  return (await Promise.all(Object.entries(value).flat().map(textOf))).join(' ')
}

function latin(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')
}

function done<Value>(request: IDBRequest<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}
