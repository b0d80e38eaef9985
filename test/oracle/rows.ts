/**
 * All that a store holds, as JSON: scopes in the order of their names, rows in the log's order,
 * registers in the order of their writing.
 */
import type { Adapter } from './adapter.ts'
import { type Json, type JsonObject, plain } from './json.ts'
import type { LogRowLike, RegisterLike, ScopeJson, ScopeStoreLike, StoreLike } from './store.ts'

type Spelling = Pick<Adapter, 'row'>

/** @param spelling in which builds are compared */
export async function rowsOf(store: StoreLike, spelling: Spelling): Promise<readonly JsonObject[]> {
  const scopes: ScopeJson[] = []
  for (let page = await store.scopes(); page.length > 0; page = await store.scopes(scopes.at(-1)))
    scopes.push(...page)
  const found: JsonObject[] = []
  for (const scope of scopes) found.push(await scopeOf(store.open(scope), scope, spelling))
  // Stores have orders of their own.
  return found.sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1))
}

async function scopeOf(
  store: ScopeStoreLike,
  scope: ScopeJson,
  { row: rowOf = (row) => row }: Spelling,
): Promise<JsonObject> {
  const log = await logOf(store)
  const registers = await registersOf(store)
  const groups = [...new Set(registers.flatMap(({ index = [] }) => index.map(({ group }) => group)))].sort()
  const lists: Json[] = []
  for (const group of groups) {
    const keys = places(await store.indexed(group), group)
    lists.push({ group, keys, sum: plain((await store.sums([group])).get(group)) })
  }
  const { marks, ...head } = (await store.head()) as {
    readonly marks: ReadonlyMap<string, { readonly seq: number }>
  }
  return {
    scope: plain(scope),
    head: plain(head),
    // Some stores have them in the order of their lanes.
    marks: plain([...marks.values()].sort((one, other) => one.seq - other.seq)),
    log: log.map((row) => rowOf(opened(row))),
    registers: registers.map((row) => rowOf(opened(row))),
    lists,
    derived: await derivedOf(store),
  }
}

/**
 * The keys at each place of a list. At the same place keys decide, which may be hashes: there, who
 * was written first.
 */
function places(rows: readonly RegisterLike[], group: string): readonly (readonly string[])[] {
  const found = new Map<string, RegisterLike[]>()
  for (const row of rows) {
    const order = row.index?.find((one) => one.group === group)?.order ?? ''
    found.set(order, [...(found.get(order) ?? []), row])
  }
  return [...found.values()].map((same) =>
    same.sort((one, other) => one.seq - other.seq).map(({ key }) => key),
  )
}

/** Rows of the log after a seq. */
export async function logOf(store: ScopeStoreLike, after = 0): Promise<readonly LogRowLike[]> {
  const rows: LogRowLike[] = []
  for (let seq = after; ; ) {
    const page = await store.changesSince(seq)
    rows.push(...page.rows)
    seq = rows.at(-1)?.seq ?? seq
    if (!page.more) return rows
  }
}

async function registersOf(store: ScopeStoreLike): Promise<readonly RegisterLike[]> {
  const rows: RegisterLike[] = []
  for (
    let page = await store.registers('');
    page.length > 0;
    page = await store.registers('', rows.at(-1)?.key)
  )
    rows.push(...page)
  // Keys are hashes in part.
  return rows.sort((one, other) => one.seq - other.seq || (one.key < other.key ? -1 : 1))
}

async function derivedOf(store: ScopeStoreLike): Promise<readonly Json[]> {
  const rows: Json[] = []
  for (let after: string | undefined; ; ) {
    const page = await store.derived('', after)
    rows.push(...page.map(({ key, bytes }) => ({ key, length: bytes.length, sum: sumOf(unnamed(bytes)) })))
    after = page.at(-1)?.key
    if (after === undefined) return rows
  }
}

/** A row with its texts as the JSON that they are. */
function opened(row: object): JsonObject {
  const { body, derived, ...rest } = row as { readonly body: string | null; readonly derived?: string }
  return {
    ...(plain(rest) as JsonObject),
    body: body === null ? null : (JSON.parse(body) as Json),
    ...(derived !== undefined && { derived: JSON.parse(derived) as Json }),
  }
}

/** Without the ids that a build makes itself: another build may make others. */
function unnamed(bytes: Uint8Array): Uint8Array {
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')
  return Uint8Array.from(text.replace(/id-\d{6}/g, 'id-'), (character) => character.charCodeAt(0))
}

/** FNV-1a. */
function sumOf(bytes: Uint8Array): number {
  return bytes.reduce((sum, byte) => Math.imul(sum ^ byte, 16_777_619) >>> 0, 2_166_136_261)
}

function nameOf(found: JsonObject): string {
  const { tenant = '', userId = '', sessionId = '' } = found.scope as unknown as ScopeJson
  return JSON.stringify([tenant, userId, sessionId])
}
