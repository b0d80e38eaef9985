import { notesAbout, notesOf } from '../../forgetting/note-keys.ts'
import type { KernelMemory } from '../../kernel/feature.ts'
import { messageIn, valueIn } from '../../kernel/log/bodies.ts'
import { readEntry } from '../../kernel/log/entries.ts'
import { lowerTrust, partsOf, textOf } from '../../kernel/log/message.ts'
import { changedByOthers, TRIES } from '../../kernel/log/once.ts'
import { registerPages } from '../../kernel/log/register-pages.ts'
import { sealOp } from '../../kernel/log/seal.ts'
import { defined } from '../../ports/defined.ts'
import type { Fact } from '../../ports/fact.ts'
import type { Host } from '../../ports/host.ts'
import type { Json } from '../../ports/message.ts'
import type { RegisterRow, ScopeStore } from '../../ports/store.ts'
import { canonical } from '../../text/json.ts'
import { beside } from '../rules.ts'
import { type ScopePass, scopePass } from '../scope-pass.ts'
import { FACT, factIn, type Place, sourceName } from './fact.ts'
import { compared, hasEnded, keptIndexOf, keptList, SHARE } from './fact-index.ts'

/** A session's scope, and that of its user, which is told of its facts. */
export interface NotedIn {
  readonly store: ScopeStore
  readonly user: ScopeStore
  readonly sessionId: string
  readonly host: Pick<Host, 'newId' | 'now'>
  /**
   * Contract: whether a fact was written for the first time, and not again since: then its note is
   * written without a look whether there is one. Default: of none it is known.
   */
  readonly isNew?: (key: string) => boolean
}

/** A fact of a session, as the user's scope knows of it. */
export interface KeptFact {
  /** Among those of all sessions. */
  readonly key: string
  readonly session: string
  readonly fact: Fact
}

/** What is noted of a fact: of one that is for its session alone no more than that it is there. */
interface Note {
  readonly session: string
  readonly fact?: Omit<Fact, 'pinned' | 'sources' | 'reviewAt'>
}

/** What a person writes to say one thing: short, without what marks another's words or code. */
const ONE_LINE = /^[^\p{Cc}\u2028\u2029"“”„«»`<>[\]{}|]{1,280}$/u
/** Facts of one session that are told at once. */
const AT_ONCE = 16

/** What the keys of marks begin with, in a session's scope. */
export const UNTOLD = 'untold/'
/** Where marks stand. */
export const UNTOLD_INDEX = [{ group: SHARE, order: '' }]

/** Key of the register that says that a fact of a session was written, until it is noted. */
export function untoldKey(key: string): string {
  return UNTOLD + key.slice(FACT.length)
}

/**
 * Notes facts of a session in the user's scope as they are now, and takes off the marks that this
 * is to be done. Idempotent. A note is looked at before its fact is read: who forgets the fact
 * writes the note after that, so no note comes back.
 *
 * @param marks rows of marks
 * @throws ERR_CONFLICT: others wrote eight times in a row
 */
export async function tell(parts: NotedIn, marks: readonly RegisterRow[]): Promise<void> {
  const { store, host } = parts
  const keys = marks.map(({ key }) => FACT + key.slice(UNTOLD.length))
  await note(parts, keys)
  const puts = marks.map(({ key, version }) =>
    sealOp({ kind: 'put', opId: host.newId(), key, base: version, value: null }),
  )
  // What was written since is marked once more, and stays so.
  await store.commit(puts, beside)
}

/** What sessions of a memory's store have not told yet. */
export function untold(memory: KernelMemory): ScopePass {
  const { store, host } = memory
  const make = (): ScopePass =>
    scopePass(store, host, async (scopes) => {
      const failed: unknown[] = []
      for (const { sessionId, ...scope } of scopes) {
        if (sessionId === undefined) continue
        const user = memory.user(scope)
        const parts = { store: user.session(sessionId), user: user.store, sessionId, host }
        await tellAll(parts).catch((error) => failed.push(error))
      }
      if (failed.length > 0) throw failed[0]
    })
  return memory.shared('facts', make)
}

/** Tells of all that waits in a session. @throws as {@link tell} */
async function tellAll(parts: NotedIn): Promise<void> {
  for (let after: Place | undefined; ; ) {
    const page = await parts.store.indexed(SHARE, defined({ first: AT_ONCE, after }))
    // What is to be handed over waits for its session.
    const marks = page.filter(({ key }) => key.startsWith(UNTOLD))
    if (marks.length > 0) await tell(parts, marks)
    const last = page.at(-1)
    if (!last) return
    after = { order: '', key: last.key }
  }
}

/**
 * Notes all facts of a session, marked or not, and takes off notes of those that are there no more:
 * for who moves rows by themselves. Idempotent.
 */
export async function noteAll(parts: NotedIn): Promise<void> {
  const { store, user, sessionId } = parts
  for (const [scope, prefix] of [
    [store, FACT],
    [user, notesOf(sessionId)],
  ] as const) {
    const rows = await allOf(scope, prefix)
    await note(
      parts,
      rows.map(({ key }) => FACT + key.slice(prefix.length)),
    )
  }
}

/** Registers in the order of their writing: that of their keys is one of hashes of texts. */
async function allOf(scope: ScopeStore, prefix: string): Promise<readonly RegisterRow[]> {
  const rows: RegisterRow[] = []
  for await (const page of registerPages(scope, prefix)) rows.push(...page)
  return rows.sort((one, other) => one.seq - other.seq)
}

/** As {@link tell}, whether or not they are marked: facts by their keys. */
export async function note(parts: NotedIn, keys: readonly string[]): Promise<void> {
  for (let at = 0; at < keys.length; at += AT_ONCE) await noteSome(parts, keys.slice(at, at + AT_ONCE))
}

async function noteSome(parts: NotedIn, keys: readonly string[]): Promise<void> {
  const { store, user, sessionId, host, isNew } = parts
  const named = notesAbout(sessionId, keys)
  for (let attempt = 0; attempt < TRIES; attempt++) {
    // If there is one all the same, what is written over none is refused.
    const isLookedFor = (place: number): boolean => attempt > 0 || !isNew?.(keys[place] as string)
    const notes = await Promise.all(
      named.map((key, place) => (isLookedFor(place) ? user.register(key) : undefined)),
    )
    const rows = await Promise.all(keys.map((key) => store.register(key)))
    const forOthers = await Promise.all(rows.map((row) => isForOthers(store, row && factIn(row))))
    const puts = named.flatMap((key, place) => {
      const row = rows[place]
      const fact = row && factIn(row)
      const before = notes[place]
      const isListed = forOthers[place] === true
      const isLive = fact && !fact.supersededBy && fact.status !== 'resolved' && !hasEnded(fact, host.now())
      if (!isLive && (!before || valueIn(before) === null)) return []
      const value = isLive ? { session: sessionId, ...(isListed && { fact: noted(fact) }) } : null
      const index = isLive ? keptIndexOf(fact, isListed) : []
      const stands = [before?.body, before?.index ?? []]
      if (canonical(stands as Json) === canonical([JSON.stringify(value), index] as Json)) return []
      return sealOp({
        kind: 'put',
        opId: host.newId(),
        key,
        base: before?.version ?? null,
        value: value as Json,
        // Where somebody forgets the fact elsewhere, this goes too.
        ...(value?.fact && { sources: [keys[place] as string, ...(fact?.sources ?? [])].map(sourceName) }),
        index,
      })
    })
    const results = puts.length > 0 ? await user.commit(puts, beside) : []
    if (results.every(({ status }) => status !== 'conflict')) return
  }
  throw changedByOthers('remember', 'what the user knows of it')
}

/** Takes notes off, whether or not they are there: none that is about to be written stands then. */
export async function dropNotes(
  user: ScopeStore,
  host: Pick<Host, 'newId'>,
  keys: readonly string[],
): Promise<void> {
  let left = keys
  for (let attempt = 0; attempt < TRIES && left.length > 0; attempt++) {
    const rows = await Promise.all(left.map((key) => user.register(key)))
    const puts = left.map((key, place) =>
      sealOp({ kind: 'put', opId: host.newId(), key, base: rows[place]?.version ?? null, value: null }),
    )
    const results = await user.commit(puts, beside)
    left = left.filter((_, place) => results[place]?.status === 'conflict')
  }
  if (left.length > 0) throw changedByOthers('forget', 'what the user knows of it')
}

/** The same of all facts of a session. */
export async function dropAllNotes(
  user: ScopeStore,
  host: Pick<Host, 'newId'>,
  sessionId: string,
): Promise<void> {
  const rows = await allOf(user, notesOf(sessionId))
  const keys = rows.flatMap((row) => (valueIn(row) === null ? [] : row.key))
  await dropNotes(user, host, keys)
}

/**
 * The first facts that the user's sessions kept and that others may see, of no project and of that
 * one: by priority, then the newest first.
 */
export async function keptFacts(
  user: ScopeStore,
  project: string | undefined,
  first: number,
  now: number,
): Promise<readonly KeptFact[]> {
  const groups = project === undefined ? [keptList()] : [keptList(), keptList(project)]
  const pages = await Promise.all(groups.map((group) => user.indexed(group, { first })))
  const orderIn = ({ index = [] }: RegisterRow): string =>
    index.find(({ group }) => groups.includes(group))?.order ?? ''
  return pages
    .flat()
    .sort((one, other) => compared(orderIn(one), orderIn(other)) || compared(one.key, other.key))
    .flatMap((row) => {
      const { session, fact } = (valueIn(row) ?? {}) as unknown as Partial<Note>
      if (session === undefined || !fact || hasEnded(fact, now)) return []
      return { key: row.key, session, fact: { ...fact, pinned: false, sources: [], reviewAt: 0 } }
    })
    .slice(0, first)
}

/**
 * Whether other sessions may be shown a session's fact: what was found out there, by the user or by
 * the assistant, and not from a tool, the web, an import or what may have been pasted, no matter
 * who vouched for it later.
 */
async function isForOthers(store: ScopeStore, fact: Fact | undefined): Promise<boolean> {
  if (!fact || fact.kind === 'preference' || fact.kind === 'constraint') return false
  return isSaid(fact) && areSaid(store, fact.sources)
}

/** Whether it was asked for, and its label was never lower than the assistant's. */
function isSaid({ trust, promotedFrom = trust, extracted }: Fact): boolean {
  return !extracted && lowerTrust(lowerTrust(trust, promotedFrom), 'assistant') === 'assistant'
}

/** Whether none of what is derived from may have been pasted, by way of other facts either. */
async function areSaid(
  store: ScopeStore,
  sources: readonly string[],
  seen = new Set<string>(),
): Promise<boolean> {
  for (const source of sources) {
    if (seen.has(source)) continue
    seen.add(source)
    if (source.startsWith(FACT)) {
      const row = await store.register(source)
      const other = row && factIn(row)
      if (other && !(isSaid(other) && (await areSaid(store, other.sources, seen)))) return false
      continue
    }
    const row = await readEntry(store, source)
    const message = row && messageIn(row)
    if (message?.role !== 'user') continue
    if (partsOf(message).some(({ type }) => type !== 'text')) return false
    const { rows } = await store.entries({ to: source, last: 2, kinds: ['message'] })
    const before = rows.findLast(({ id }) => id !== source)
    if (!ONE_LINE.test(textOf(message)) || (before && messageIn(before)?.role === 'user')) return false
  }
  return true
}

function noted(fact: Fact): Note['fact'] {
  const { id, kind, title, text, project, status, priority, confidence, trust, createdAt, expiresAt } = fact
  return defined({
    id,
    kind,
    title,
    text,
    project,
    status,
    priority,
    confidence,
    trust,
    createdAt,
    expiresAt,
  })
}
