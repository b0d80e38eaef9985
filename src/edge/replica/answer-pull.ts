import { AUDIT, AUDIT_GROUP } from '../../features/audit.ts'
import { PlimsollError } from '../../ports/errors.ts'
import { idIn, type Name, type OpResult, type SealedOp } from '../../ports/op.ts'
import { type LogRow, PAGE_ROWS, PAGE_UNITS, type RegisterRow, type ScopeStore } from '../../ports/store.ts'
import {
  type Cursor,
  isHeld,
  MOST_NAMES,
  OTHERS,
  type Place,
  type PullAnswer,
  type PullRequest,
  SESSIONS,
  START,
} from './pull.ts'
import { deciderOf } from './rules.ts'

/**
 * Most pages of the log that one answer looks through. Where more is new, the registers themselves
 * are fewer.
 */
const MOST_PAGES = 8

/** Behind all keys of a prefix: a session's id has at most 256 bytes, notes begin with a hash. */
const BEHIND = '\uffff'.repeat(256)

/**
 * What the home of a user's scope answers to a replica: it commits the ops, if there are any, and
 * says what changed since the replica's place. Idempotent, as the ops are. Registers that cannot be
 * decrypted are left out: a replica keeps what it has of them, rather than nothing.
 *
 * @param store the user's scope
 * @throws ERR_INVALID_ARGUMENT (more than {@link MOST_NAMES} names, an unknown rule); as the
 * store's `commit` and reads
 */
export async function answerPull(store: ScopeStore, request: PullRequest): Promise<PullAnswer> {
  const { sessionId, cursor, names = [], commit } = request
  if (names.length > MOST_NAMES)
    throw new PlimsollError('ERR_INVALID_ARGUMENT', `pull: at most ${MOST_NAMES} names`, {
      argument: 'names',
    })
  const results = commit && (await store.commit(commit.ops, deciderOf(commit.rule)))
  const part =
    'after' in cursor
      ? await registersAfter(store, cursor)
      : await changesAfter(store, sessionId, cursor.since)
  const wanted = [...names, ...refused(commit?.ops ?? [], results ?? [])]
  const named = await registersOf(
    store,
    wanted.filter((key) => isHeld(key, sessionId)),
  )
  // Records that stand beside the log are sent where one stood in the way: a writer of the next
  // one needs them all.
  const records = wanted.some((key) => key.startsWith(AUDIT))
    ? (await store.indexed(AUDIT_GROUP)).filter(readable)
    : []
  // Stores that run other calls between these reads may have more by now.
  const isBehind = !part.next && (await store.head()).seq !== part.place.seq
  return {
    ...part,
    ...(results && { results }),
    rows: [...part.rows, ...named, ...records],
    ...(isBehind && { next: { since: part.place } }),
  }
}

type Part = Omit<PullAnswer, 'results'>

async function changesAfter(store: ScopeStore, sessionId: string, since: Place): Promise<Part> {
  // Each op has a row of the log: where there are more than a page holds, it is not read to see
  // that. Ops before an erase count too; what came after it is the same by its registers.
  if (since.seq === 0 && (await store.head()).seq > PAGE_ROWS) return snapshot(store, sessionId)
  const log: LogRow[] = []
  for (let pages = 0, from = since.seq - 1, more = true; more; pages++) {
    const page = await store.changesSince(Math.max(0, from))
    // The op at the place itself comes first, unless that is the beginning.
    const [first] = page.rows
    if (pages === 0 && since.seq > 0 && (first?.seq !== since.seq || first.opId !== since.opId))
      return fromStart(store, sessionId)
    if (pages === MOST_PAGES || (since.seq === 0 && page.more)) return snapshot(store, sessionId)
    const rows = page.rows.filter(({ seq }) => seq > since.seq)
    // Erased while this was read, by a store that lets others in between.
    if (since.seq > 0 && rows.some(({ kind }) => kind === 'erase')) return fromStart(store, sessionId)
    log.push(...rows)
    more = page.more
    from = page.rows.at(-1)?.seq ?? from
  }
  return { ...(await changesIn(store, sessionId, since, log)), ...(since.seq === 0 && { reset: 'log' }) }
}

/** All that there is: from the log, where that is short and so tells what was deleted too. */
function fromStart(store: ScopeStore, sessionId: string): Promise<Part> {
  return changesAfter(store, sessionId, START)
}

async function changesIn(
  store: ScopeStore,
  sessionId: string,
  since: Place,
  log: readonly LogRow[],
): Promise<Part> {
  const fill = new Fill()
  const deleted = new Set<Name>()
  const seen = new Set<string>()
  let place = since
  for (const { kind, id, seq, opId } of log) {
    const key = kind === 'put' ? id : kind === 'delete' ? idIn('register', id as Name) : undefined
    const isNew = key !== undefined && !seen.has(key) && isHeld(key, sessionId)
    const row = isNew ? readable(await store.register(key)) : undefined
    if (row && !fill.take(row))
      return { rows: fill.rows, deleted: [...deleted], place, next: { since: place } }
    if (isNew) seen.add(key)
    if (kind === 'delete') deleted.add(id as Name)
    place = { seq, opId }
  }
  return { rows: fill.rows, deleted: [...deleted], place }
}

/** The first part of a snapshot, and of all sessions' registers the replica's own one. */
async function snapshot(store: ScopeStore, sessionId: string): Promise<Part> {
  const { seq } = await store.head()
  const { rows } = await store.changesSince(seq - 1)
  const since = { seq, opId: rows.find((row) => row.seq === seq)?.opId ?? '' }
  const part = await registersAfter(store, { since, after: null })
  const own = await registersOf(store, [SESSIONS + sessionId])
  return { ...part, rows: [...own, ...part.rows], reset: 'registers' }
}

/**
 * Live registers after a key, but no session's and no notes. When they end, what changed since the
 * snapshot began is still to come.
 */
async function registersAfter(
  store: ScopeStore,
  { since, after }: Extract<Cursor, { readonly after: string | null }>,
): Promise<Part> {
  const fill = new Fill()
  for (let last = after; ; ) {
    const others = OTHERS.find((prefix) => prefix > (last ?? ''))
    const page = await store.registers('', last ?? undefined, others)
    if (page.length === 0 && others === undefined) return { rows: fill.rows, deleted: [], place: since }
    if (page.length === 0) last = others + BEHIND
    for (const row of page) {
      const others = OTHERS.find((prefix) => row.key.startsWith(prefix))
      if (others !== undefined) {
        last = others + BEHIND
        break
      }
      if (readable(row) && !fill.take(row))
        return { rows: fill.rows, deleted: [], place: since, next: { since, after: last } }
      last = row.key
    }
  }
}

/** As much as one answer holds: whatever comes first, however long it is. */
class Fill {
  readonly rows: RegisterRow[] = []
  #units = 0

  take(row: RegisterRow): boolean {
    const units = unitsOf(row)
    if (this.rows.length > 0 && this.#units + units > PAGE_UNITS) return false
    this.rows.push(row)
    this.#units += units
    return true
  }
}

function unitsOf({ key, body, sources = [], index = [] }: RegisterRow): number {
  return key.length + (body?.length ?? 0) + sources.join().length + JSON.stringify(index).length
}

async function registersOf(store: ScopeStore, keys: readonly string[]): Promise<readonly RegisterRow[]> {
  const rows: RegisterRow[] = []
  for (const key of new Set(keys)) {
    const row = readable(await store.register(key))
    if (row) rows.push(row)
  }
  return rows
}

function readable(row: RegisterRow | undefined): RegisterRow | undefined {
  return row?.unreadable ? undefined : row
}

/** Keys whose registers are not what their writer took them for. */
function refused(ops: readonly SealedOp[], results: readonly OpResult[]): readonly string[] {
  return ops.flatMap(({ envelope: { key } }, index) =>
    key === undefined || results[index]?.status === 'accepted' ? [] : [key],
  )
}
