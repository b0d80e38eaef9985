/**
 * What objects hold, read as they read it themselves: these suites run with encryption and without.
 */
import { env, runInDurableObject } from 'cloudflare:test'
import { encryptionOf, type ObjectStore, objectStore } from '../../../src/edge/objects/encryption.ts'
import type { LogRow, RegisterRow, ScopeStore } from '../../../src/ports/store.ts'
import type { SqlStorageLike } from '../../../src/stores/sql-schema.ts'

/** By what the objects under test encrypt; undefined: they do not. */
export const encryption = encryptionOf(env)

/** The store of an object, as the object has it. */
export function storeIn(storage: SqlStorageLike): ObjectStore {
  return objectStore(storage, encryption)
}

/** Rows and registers of all scopes of an object, by the scopes' names. */
export function openedIn(stub: DurableObjectStub): Promise<Readonly<Record<string, Opened>>> {
  return runInDurableObject(stub, async (_, { storage }) => {
    const store = storeIn(storage)
    const found: Record<string, Opened> = {}
    const scopes = await store.scopes()
    for (const scope of scopes) found[JSON.stringify(scope)] = await opened(store.open(scope))
    return found
  })
}

export interface Opened {
  readonly rows: readonly LogRow[]
  readonly registers: readonly RegisterRow[]
}

async function opened(scope: ScopeStore): Promise<Opened> {
  const rows: LogRow[] = []
  for (let more = true; more; ) {
    const page = await scope.changesSince(rows.at(-1)?.seq ?? 0)
    rows.push(...page.rows)
    more = page.more
  }
  const registers: RegisterRow[] = []
  for (let after: string | undefined; ; ) {
    const page = await scope.registers('', after)
    registers.push(...page)
    after = page.at(-1)?.key
    if (after === undefined) return { rows, registers }
  }
}
