import { type AuditInput, writeAudit } from '../../features/audit.ts'
import { FACT } from '../../features/facts/fact.ts'
import { HEAD_KEY } from '../../kernel/context/head.ts'
import { commitDeletes } from '../../kernel/context/secret.ts'
import { messageIn, valueIn } from '../../kernel/log/bodies.ts'
import { decide, nothingWritten } from '../../kernel/log/decide.ts'
import { SUMMARY_ID } from '../../kernel/log/message.ts'
import { attachmentsIn, sealOp } from '../../kernel/log/seal.ts'
import type { Removed } from '../../ports/certificate.ts'
import { isPlimsollError } from '../../ports/errors.ts'
import type { Host } from '../../ports/host.ts'
import { idIn, type Name, type Op } from '../../ports/op.ts'
import { SESSION } from '../../ports/session.ts'
import { hasBody, type LogRow, PAGE_ROWS, type RegisterRow, type ScopeStore } from '../../ports/store.ts'
import { countsOf, type Found, removed } from './certificate.ts'

export interface ForgetParts {
  /** The session's scope. */
  readonly store: ScopeStore
  /** Undefined: what is to be forgotten is the user's alone. */
  readonly sessionId: string | undefined
  /** The scope of its user. */
  readonly userStore: ScopeStore
  /** Contract: opens another session of the user. */
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
}

/**
 * Forgets messages and facts of a session, and all that derives from them: summaries, heads, facts
 * (those that the user's other sessions share, and heads of these that showed them), attachments
 * that nothing else names.
 *
 * The scopes share no transaction, so the session's own rows, from which the rest is found, are
 * emptied last: where it was not finished, the same call finds all of it again.
 */
export async function forgetAll(
  parts: ForgetParts,
  { rows, own, shared }: Targets,
  record: AuditInput,
): Promise<Forgotten> {
  const { store, userStore, host } = parts
  const live = rows.filter(hasBody)
  const targets = [...live.map(({ id }): Name => `entry:${id}`), ...own.map(registerName)]
  const names = await emptiedBy(store, host, targets)
  const all = [...rows.map(({ id }): Name => `entry:${id}`), ...names, ...shared.map(registerName)]
  const facts = await sharedFrom(userStore, all)
  const shown = facts.length > 0 ? await removeShown(parts, facts) : NOTHING
  const { only, kept } = await attachmentsOf(store, live)
  const keys = names.flatMap((name) => idIn('register', name) ?? [])
  const factIds = [...keys.filter((key) => key.startsWith(FACT)), ...facts].map((key) =>
    key.slice(FACT.length),
  )
  const heads = [...keys.filter((key) => key.startsWith(HEAD_KEY)), ...shown.own]
  const found: Found = {
    messages: removed(live.flatMap(({ id, kind }) => (kind === 'message' ? id : []))),
    summaries: removed(
      names.flatMap((name) => idIn('entry', name) ?? []).filter((id) => id.startsWith(SUMMARY_ID)),
    ),
    facts: removed([...new Set(factIds)]),
    heads: removed([...new Set(heads), ...shown.others]),
    attachments: removed(only),
  }
  const already = Object.values(found).every(({ count }) => count === 0)
  if (already) return { already, found, kept: removed(kept) }
  const deletes = facts.map((key): Op => ({ kind: 'delete', opId: host.newId(), target: registerName(key) }))
  await writeAudit(userStore, host, { ...record, counts: countsOf(found) }, deletes)
  const gone = [...targets, ...only.map((id): Name => `attachment:${id}`), ...shown.own.map(registerName)]
  if (gone.length > 0) await commitDeletes(store, host, [...new Set(gone)])
  return { already, found, kept: removed(kept) }
}

/** Forgets facts of the user's scope, by their keys, and heads of all sessions that show them. */
export function forgetShared(
  parts: Pick<ForgetParts, 'userStore' | 'open' | 'host'>,
  shared: readonly string[],
  record: AuditInput,
): Promise<Forgotten> {
  return forgetAll(
    { ...parts, store: parts.userStore, sessionId: undefined },
    { rows: [], own: [], shared },
    record,
  )
}

/** All live names that a delete of these would empty; nothing is written. */
async function emptiedBy(store: ScopeStore, host: Host, targets: readonly Name[]): Promise<readonly Name[]> {
  if (targets.length === 0) return []
  let names: readonly Name[] = []
  await store.commit(deletesOf(host, targets), (ops, rows) => {
    const { emptied, results } = decide(ops, rows)
    // Of what is gone already only marks still name their sources.
    names = emptied.filter((name) => !rows.deleted.has(name))
    return nothingWritten(results)
  })
  return names
}

function deletesOf(host: Host, targets: readonly Name[]) {
  return [...new Set(targets)].map((target) => sealOp({ kind: 'delete', opId: host.newId(), target }))
}

/** Keys of the user's live facts among these names, and of those that derive from any. */
async function sharedFrom(userStore: ScopeStore, from: readonly Name[]): Promise<readonly string[]> {
  const { indexed } = await userStore.head()
  if (!indexed) return []
  const rows: Pick<RegisterRow, 'key' | 'sources'>[] = []
  for (let after: string | undefined; ; ) {
    const page = await userStore.registers(FACT, after)
    rows.push(...page.map(({ key, sources = [] }) => ({ key, sources })))
    after = page.at(-1)?.key
    if (after === undefined) break
  }
  const names = new Set(from)
  const found = new Set<string>()
  for (let before = -1; before < found.size; ) {
    before = found.size
    for (const { key, sources = [] } of rows)
      if (names.has(registerName(key)) || sources.some((source) => names.has(source))) {
        found.add(key)
        names.add(registerName(key))
      }
  }
  return [...found]
}

interface Shown {
  /** Keys of heads of the session that are to be removed with it. */
  readonly own: readonly string[]
  /** Keys of those of others that were removed. */
  readonly others: readonly string[]
}

const NOTHING: Shown = { own: [], others: [] }

/**
 * Removes heads of all sessions of the user that show facts of the user's; those of this session
 * are only found.
 */
async function removeShown(
  { store, sessionId, userStore, open, host }: ForgetParts,
  facts: readonly string[],
): Promise<Shown> {
  const names = new Set(facts.map((key): Name => `user:${key}`))
  const own = await headsShowing(store, names)
  const others: string[] = []
  for (let after: string | undefined; ; ) {
    const page = await userStore.registers(SESSION, after)
    for (const row of page) {
      const id = row.key.slice(SESSION.length)
      if (id === sessionId || valueIn(row) === null) continue
      others.push(...(await removeHeads(open(id), host, names)))
    }
    after = page.at(-1)?.key
    if (after === undefined) return { own, others }
  }
}

/** Removes heads of another session, unless it is gone. */
async function removeHeads(
  other: ScopeStore,
  host: Host,
  names: ReadonlySet<Name>,
): Promise<readonly string[]> {
  try {
    const heads = await headsShowing(other, names)
    if (heads.length > 0) await commitDeletes(other, host, heads.map(registerName))
    return heads
  } catch (error) {
    if (!isPlimsollError(error, 'ERR_NOT_FOUND')) throw error
    return []
  } finally {
    await other.close()
  }
}

async function headsShowing(store: ScopeStore, names: ReadonlySet<Name>): Promise<readonly string[]> {
  const found: string[] = []
  for (let after: string | undefined; ; ) {
    const page = await store.registers(HEAD_KEY, after)
    for (const row of page) {
      if (row.sources?.some((name) => names.has(name))) found.push(row.key)
    }
    after = page.at(-1)?.key
    if (after === undefined) return found
  }
}

/**
 * The attachments that messages name: those that nothing else names, and the others. Reads the log
 * only where there are any.
 */
async function attachmentsOf(
  store: ScopeStore,
  rows: readonly LogRow[],
): Promise<{ readonly only: readonly string[]; readonly kept: readonly string[] }> {
  const refs = new Set(rows.flatMap(refsIn))
  if (refs.size === 0) return { only: [], kept: [] }
  const kept = new Set<string>()
  const going = new Set(rows.map(({ id }) => id))
  for (let after: string | undefined, more = true; more; ) {
    const page = await store.entries({
      first: PAGE_ROWS,
      kinds: ['message'],
      ...(after !== undefined && { after }),
    })
    for (const row of page.rows) {
      if (going.has(row.id)) continue
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

function registerName(key: string): Name {
  return `register:${key}`
}
