import { env, runInDurableObject } from 'cloudflare:test'
import { describeGovernance, textOf } from '../everywhere/governance.ts'
import { ObjectStore } from './object-store.ts'

describeGovernance('Durable Object', async () => {
  const stub = env.SESSIONS.get(env.SESSIONS.newUniqueId())
  return { store: new ObjectStore(stub), dump: () => dumpTables(stub) }
})

/** Every row of every table of an object, as text in lower case. */
function dumpTables(stub: DurableObjectStub): Promise<string> {
  return runInDurableObject(stub, (_, { storage: { sql } }) =>
    sql
      .exec(`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\'`)
      .toArray()
      .flatMap(({ name }) => [...sql.exec(`SELECT * FROM "${name}"`).raw()].map(rowText))
      .join('\n')
      .toLowerCase(),
  )
}

function rowText(row: readonly unknown[]): string {
  return row.map((value) => (value instanceof ArrayBuffer ? textOf(new Uint8Array(value)) : value)).join(' ')
}
