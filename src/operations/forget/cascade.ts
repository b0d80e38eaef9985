import { type AuditInput, auditOp } from '../../features/audit.ts'
import { FACT } from '../../features/facts/fact.ts'
import { emptyShared, registerName, sharedFrom } from '../../features/facts/forget-shared.ts'
import { dropNotes } from '../../features/facts/kept.ts'
import { changeOwed, emptyElsewhere, type Begun as SharedBegun } from '../../features/forget-shown.ts'
import { emptiedBy } from '../../forgetting/deletes.ts'
import { notesAbout } from '../../forgetting/note-keys.ts'
import { type AllOwed, emptyOwed, OWED, type OwedIn, owedIn } from '../../forgetting/owed.ts'
import { headsShowing } from '../../forgetting/shown.ts'
import { messageIn } from '../../kernel/log/bodies.ts'
import { readEntry } from '../../kernel/log/entries.ts'
import { HEAD_KEY, SUMMARY_ID } from '../../kernel/log/message.ts'
import { attachmentsIn } from '../../kernel/log/seal.ts'
import type { Removed } from '../../ports/certificate.ts'
import type { Host } from '../../ports/host.ts'
import { idIn, type Name } from '../../ports/op.ts'
import { hasBody, type LogRow, PAGE_ROWS, type ScopeStore } from '../../ports/store.ts'
import { countsOf, type Found, removed, sumOf } from './certificate.ts'

/** Messages of a log that are forgotten at once. */
const STEP = 4 * PAGE_ROWS

export interface ForgetParts extends UserParts {
  /** The session's scope. */
  readonly store: ScopeStore
  /** Undefined: what is to be forgotten is the user's alone. */
  readonly sessionId: string | undefined
}

export interface UserParts {
  /** The scope of a user. */
  readonly userStore: ScopeStore
  /** Contract: opens a session of the user. */
  readonly open: (sessionId: string) => ScopeStore
  readonly host: Host
}

/** What is to be forgotten. */
export interface Targets {
  /** Rows of messages and summaries of the session. */
  readonly rows: readonly LogRow[]
  /** Keys of facts of the session. */
  readonly own: readonly string[]
  /** Keys of facts of the user. */
  readonly shared: readonly string[]
}

/** What was forgotten, and the attachments that stay. */
export interface Forgotten {
  readonly already: boolean
  readonly found: Found
  readonly kept: Removed
  /** Looks for all of it again. @returns whether it was seen empty */
  readonly isGone: () => Promise<boolean>
}

/** The same, of a session too. */
interface Begun extends SharedBegun {
  /** Of a whole log, which goes in steps. */
  readonly log?: LogStep
}

/** A step through a log that is forgotten whole. */
interface LogStep {
  /** Seq of the newest row that is to go: what is said meanwhile stays. */
  readonly until: number
  /** The last message of the step. */
  readonly last?: string
  /** What the steps before it removed, and whether that was seen empty. */
  readonly found: Found
  readonly isGone: boolean
  /** Attachments that went, and those that stay. */
  readonly attachments: readonly string[]
  readonly kept: readonly string[]
}

/** What was begun before, by whichever call. */
export interface Continued {
  readonly sessionId: string | undefined
  readonly record: AuditInput
  /** Whether it is the whole log. */
  readonly isLog: boolean
  /** Contract: rejects where it failed. */
  readonly done: Promise<Forgotten>
}

/**
 * Forgets messages and facts of a session, and all that derives from them: summaries, heads, facts
 * (those that the user's other sessions share, and heads of these that showed them), attachments
 * that nothing else names.
 *
 * The scopes share no transaction. So what is to be done is written to the user's scope first, and
 * taken off when it is done and recorded: in between, a call that opens the session, forgets again
 * or runs what is due goes on with it ({@link finishOwed}). A fact that is on its way from the
 * session to the user meanwhile is refused there, a head that shows one of the user's arrives empty
 * in the session that writes it.
 */
export async function forgetAll(
  parts: ForgetParts,
  targets: Targets,
  record: AuditInput,
): Promise<Forgotten> {
  const begun = await begin(parts, targets, record)
  if (begun) return finish(parts, await owe(parts, begun), begun)
  const { rows, own, shared } = targets
  const names = [...rows.map(({ id }) => entryName(id)), ...[...own, ...shared].map(registerName)]
  return nothing(() => areGone(parts.store, names))
}

/**
 * Forgets all messages that are in a session's log by now, as {@link forgetAll} does, in steps: of
 * each is written what is to be done before it is done, so that the next call goes on to the
 * end of the log.
 */
export async function forgetLog(parts: ForgetParts, record: AuditInput, most = STEP): Promise<Forgotten> {
  const { seq: until } = await parts.store.head()
  const begun = await nextStep(
    parts,
    { until, found: {}, isGone: true, attachments: [], kept: [] },
    record,
    most,
  )
  return begun ? finish(parts, await owe(parts, begun), begun, most) : nothing(async () => true)
}

/** What a step through a log forgets; undefined: nothing is left up to its end. */
async function nextStep(
  parts: ForgetParts,
  log: LogStep,
  record: AuditInput,
  most: number,
): Promise<Begun | undefined> {
  const { store } = parts
  const rows: LogRow[] = []
  let { last } = log
  for (let more = true; more && rows.length < most; ) {
    const page = await store.entries({
      first: PAGE_ROWS,
      kinds: ['message'],
      ...(last !== undefined && { after: last }),
    })
    const old = page.rows.filter(({ seq }) => seq <= log.until).slice(0, most - rows.length)
    rows.push(...old.filter(hasBody))
    last = old.at(-1)?.id ?? last
    more = page.more && old.length === page.rows.length
  }
  const step = { ...log, ...(last !== undefined && { last }) }
  return rows.length === 0 ? undefined : begin(parts, { rows, own: [], shared: [] }, record, step)
}

/** What one call is to forget; undefined: nothing of it is there. */
async function begin(
  { store, sessionId, userStore, host }: ForgetParts,
  { rows, own, shared }: Targets,
  record: AuditInput,
  log?: LogStep,
): Promise<Begun | undefined> {
  const live = rows.filter(hasBody)
  const roots = [...live.map(({ id }) => entryName(id)), ...own.map(registerName)]
  const names = await emptiedBy(store, host, roots)
  const from = [...rows.map(({ id }) => entryName(id)), ...shared.map(registerName)]
  if (names.length === 0 && (await sharedFrom(userStore, from)).length === 0) return undefined
  const { only, kept } = await attachmentsOf(store, live, log)
  const all = (before: readonly string[] = [], more: readonly string[]) => [...new Set([...before, ...more])]
  return {
    ...(sessionId !== undefined && { sessionId }),
    names: [...names, ...only.map((id): Name => `attachment:${id}`)],
    from,
    messages: live.flatMap(({ id, kind }) => (kind === 'message' ? id : [])),
    attachments: all(log?.attachments, only),
    kept: all(log?.kept, kept),
    record,
    ...(log && { log }),
  }
}

/** Writes what is to be done. @returns its id */
async function owe({ userStore, host }: ForgetParts, begun: Begun): Promise<string> {
  const id = host.newId()
  await changeOwed(userStore, host, (all) => ({ ...all, [id]: begun }))
  return id
}

function nothing(isGone: () => Promise<boolean>): Forgotten {
  return { already: true, found: {}, kept: removed([]), isGone }
}

/** Forgets facts of the user's scope, by their keys, and heads of all sessions that show them. */
export function forgetShared(
  parts: UserParts,
  shared: readonly string[],
  record: AuditInput,
): Promise<Forgotten> {
  return forgetAll(
    { ...parts, store: parts.userStore, sessionId: undefined },
    { rows: [], own: [], shared },
    record,
  )
}

/**
 * Goes on with all that was begun to be forgotten for a user, no matter who began it. What fails,
 * since a session lives elsewhere for one, stays owed and keeps nothing else waiting. Idempotent.
 *
 * @param here the session that is at hand
 */
export async function finishOwed(
  parts: UserParts,
  here?: Pick<ForgetParts, 'sessionId' | 'store'>,
): Promise<readonly Continued[]> {
  const { userStore, open } = parts
  const continued: Continued[] = []
  const all = owedIn<Begun>(await userStore.register(OWED))
  for (const [id, begun] of Object.entries(all)) {
    const { sessionId, record, log } = begun
    const isHere = here !== undefined && here.sessionId === sessionId
    const store = isHere ? here.store : sessionId === undefined ? userStore : open(sessionId)
    const done = finish({ ...parts, store, sessionId }, id, begun)
    continued.push({ sessionId, record, isLog: log !== undefined, done })
    await done.catch(() => {})
    if (!isHere && store !== userStore) await store.close()
  }
  return continued
}

/** Goes on with what was begun, to its end. */
async function finish(parts: ForgetParts, id: string, begun: Begun, most = STEP): Promise<Forgotten> {
  const { store, sessionId, userStore, host } = parts
  const own = { store, user: userStore, sessionId: sessionId ?? '', host }
  if (sessionId !== undefined) await emptyOwed(own, id)
  const { names = begun.names } = (await owedFor(userStore, id)) ?? {}
  const keys = names.flatMap((name) => idIn('register', name) ?? [])
  if (sessionId !== undefined) await dropNotes(userStore, host, notesAbout(sessionId, keys))
  const heads = keys.filter((key) => key.startsWith(HEAD_KEY))
  // Where the session has a copy of the user's scope, its heads go with the user's commit.
  const shared = await emptyShared(userStore, host, id, async (going) => {
    if (sessionId !== undefined) heads.push(...(await headsShowing(store, going)).heads)
  })
  if (shared.length > 0) {
    const asked = shared.flatMap((key): Name[] => [`user:${key}`, registerName(key)])
    // What goes with it in a session may be noted with the user.
    const unnote = async ({ store: from, sessionId: of }: OwedIn): Promise<void> => {
      const gone = (await emptiedBy(from, host, asked)).flatMap((name) => idIn('register', name) ?? [])
      await dropNotes(userStore, host, notesAbout(of, gone))
    }
    if (sessionId !== undefined) {
      await unnote(own)
      await emptyOwed(own, id)
    }
    const user = { store: userStore, session: parts.open, memory: { host } }
    heads.push(...(await emptyElsewhere(user, id, shared, sessionId, unnote)))
  }
  const { messages, attachments, kept, record, log } = begun
  const facts = [...keys, ...shared].flatMap((key) => (key.startsWith(FACT) ? key.slice(FACT.length) : []))
  const step: Found = {
    messages: removed(messages),
    summaries: removed(
      names.flatMap((name) => idIn('entry', name) ?? []).filter((id) => id.startsWith(SUMMARY_ID)),
    ),
    facts: removed([...new Set(facts)]),
    heads: removed([...new Set(heads)]),
    attachments: removed(attachments),
  }
  const isGone = async () =>
    (await areGone(store, names)) && (await areGone(userStore, shared.map(registerName)))
  const found = log ? { ...sumOf(log.found, step), attachments: removed(attachments) } : step
  const done = log && { ...log, found, isGone: log.isGone && (await isGone()), attachments, kept }
  const next = done && (await nextStep(parts, done, record, most))
  // Another tab may have gone on with it.
  const isHere = (all: AllOwed<Begun>) => all[id] !== undefined && all[id].log?.last === log?.last
  if (next) {
    await changeOwed<Begun>(userStore, host, (all) => (isHere(all) ? { ...all, [id]: next } : all))
    const now = (await owedFor(userStore, id)) ?? next
    return finish(parts, id, now, most)
  }
  await changeOwed<Begun>(
    userStore,
    host,
    (all) => {
      const { [id]: _, ...others } = all
      return isHere(all) ? others : all
    },
    () => auditOp(userStore, host, { ...record, counts: countsOf(found) }),
  )
  return { already: false, found, kept: removed(kept), isGone: done ? async () => done.isGone : isGone }
}

async function owedFor(userStore: ScopeStore, id: string): Promise<Begun | undefined> {
  return owedIn<Begun>(await userStore.register(OWED))[id]
}

/** Whether nothing is left under names, attachments included. */
async function areGone(store: ScopeStore, names: readonly Name[]): Promise<boolean> {
  for (const name of names) {
    const [entry, key, ref] = [idIn('entry', name), idIn('register', name), idIn('attachment', name)]
    const row =
      entry === undefined ? key !== undefined && (await store.register(key)) : await readEntry(store, entry)
    if ((row && hasBody(row)) || (ref !== undefined && (await store.attached([ref])).length > 0)) return false
  }
  return true
}

/**
 * The attachments that messages name: those that nothing else names, and the others. Reads the log
 * only where there are any.
 */
async function attachmentsOf(
  store: ScopeStore,
  rows: readonly LogRow[],
  { last, until = 0 }: Partial<LogStep> = {},
): Promise<{ readonly only: readonly string[]; readonly kept: readonly string[] }> {
  const refs = new Set(rows.flatMap(refsIn))
  if (refs.size === 0) return { only: [], kept: [] }
  const kept = new Set<string>()
  const going = new Set(rows.map(({ id }) => id))
  for (let after = last, more = true; more; ) {
    const page = await store.entries({
      first: PAGE_ROWS,
      kinds: ['message'],
      ...(after !== undefined && { after }),
    })
    for (const row of page.rows) {
      if (row.seq <= until || going.has(row.id)) continue
      // What cannot be read may name any of them.
      for (const ref of row.unreadable ? refs : refsIn(row)) if (refs.has(ref)) kept.add(ref)
    }
    after = page.rows.at(-1)?.id
    more = page.more && after !== undefined
  }
  return { only: [...refs].filter((ref) => !kept.has(ref)), kept: [...kept] }
}

function refsIn(row: LogRow): readonly string[] {
  const message = row.kind === 'message' ? messageIn(row) : undefined
  return message ? attachmentsIn(message) : []
}

function entryName(id: string): Name {
  return `entry:${id}`
}
