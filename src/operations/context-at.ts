import { contextOf } from '../kernel/context/context-of.ts'
import { readGaps } from '../kernel/context/gaps.ts'
import { type HeadTexts, headKey } from '../kernel/context/head.ts'
import { Prefix } from '../kernel/context/prefix.ts'
import { type CurrentEpoch, readApart, type Slice } from '../kernel/context/view.ts'
import type { KernelSession } from '../kernel/feature.ts'
import { markIn, valueIn } from '../kernel/log/bodies.ts'
import { readEntry, readRange } from '../kernel/log/entries.ts'
import { fold } from '../kernel/log/fold.ts'
import type { ContextAt, Unverified } from '../ports/context.ts'
import { PlimsollError } from '../ports/errors.ts'
import type { SessionBase } from '../ports/memory.ts'
import type { EpochMark } from '../ports/op.ts'
import { type LogRow, PAGE_ROWS, type Reads, type RegisterRow } from '../ports/store.ts'
import { checkId } from '../text/json.ts'
import { kernelOf } from './kernel-of.ts'
import { pastNews } from './past-news.ts'

/** Rewinds that followed a message, before each of which the context is looked for. */
const MOST_REWINDS = 8

/**
 * Rebuilds the context of the call that was made when message `id` was the newest one, and checks
 * it against the hashes of the contexts that were handed out then, which the message after it
 * records: as it was before any rewind that followed, unless it was handed out after one. Its tail
 * is in it where those hashes say what stood there, and that is the same now, or that there was
 * none; else it is without.
 *
 * @throws ERR_NOT_FOUND: no such message, or no context was built in this lane up to it
 */
export async function contextAt(session: SessionBase, id: string): Promise<ContextAt> {
  const kernel = kernelOf('contextAt', session)
  return kernel.run(async () => buildAt(kernel, checkId('contextAt', 'id', id)))
}

async function buildAt(session: KernelSession, id: string): Promise<ContextAt> {
  const { lane } = session
  const { store, secret, policy } = lane
  const row = await readEntry(store, id)
  if (row?.kind !== 'message')
    throw new PlimsollError('ERR_NOT_FOUND', `contextAt: ${id} is no message of this session`, { id })
  await secret.refresh(store, true)
  const [next] = (await store.entries({ after: id, first: 1, kinds: ['message'] })).rows
  const to = next ? { to: next.id } : {}
  const rewinds = await store.entries({ after: id, ...to, first: MOST_REWINDS, kinds: ['rewind'] })
  let first: ContextAt | undefined
  for (const end of [...rewinds.rows, next]) {
    const past = await readPast(store, policy.lane, end?.id)
    const built = past && (await build(session, past, next))
    if (built?.verified) return built
    first ??= built
    // Without a record no other one can be the one that was handed out.
    if (first && !next?.contexts?.length) break
  }
  if (first) return first
  throw new PlimsollError(
    'ERR_NOT_FOUND',
    `contextAt: no context was built in this lane up to message ${id}`,
    { id },
  )
}

/** @param next the message that records the hashes of what was handed out */
async function build(session: KernelSession, past: Past, next: LogRow | undefined): Promise<ContextAt> {
  const { store, secret, policy, calls, cover } = session.lane
  const { mark, place } = past.epoch
  const register = await store.register(headKey(mark.head))
  const value = register && valueIn(register)
  const measure = calls.measureBy(mark.calibration ?? 1)
  const call = measure.call(
    value === undefined
      ? calls.texts({ parts: {}, covering: undefined }, place)
      : (value as unknown as HeadTexts),
    place,
  )
  const covering = mark.summary === undefined ? undefined : await cover?.past(store, mark.summary)
  const makers = { policy, calls, cover, prefix: new Prefix(secret) }
  const window = measure.layout(past.conversation).show(mark, past.rows)
  const made = { slice: past, call, mark, window, covering, failures: [] }
  const { context } = await contextOf(makers, made)
  const recorded = next?.contexts
  const { hash } = context
  const others = new Set(recorded?.filter((one) => one !== hash))
  const hadNone = others.delete(secret.hash(hash))
  if (others.size > 0) {
    // As it was recorded: by what made the tail, so that nobody can try what that says.
    const isOf = (version: string): boolean => others.has(secret.hash(hash + version))
    const { parts = {} } = call.head
    const told = await pastNews(session, parts, measure.policy.counter.count, isOf)
    if (told) {
      const { context } = await contextOf(makers, { ...made, call: { ...call, tail: told.sections } })
      return { context, verified: true, tail: 'whole' }
    }
  }
  if (hadNone) return { context, verified: true, tail: 'whole' }
  if (recorded?.includes(hash)) return { context, verified: true, tail: 'absent' }
  const behind = [register, ...past.rows]
  // Each delete puts another secret in place of the one by which they were hashed.
  const isOld = secret.since !== Infinity && (next ?? past.epoch).seq < secret.since
  const isCleared = isOld || recorded?.length === 0
  return { context, verified: false, reason: reasonOf(behind, recorded, isCleared), tail: 'absent' }
}

function reasonOf(
  behind: readonly (LogRow | RegisterRow | undefined)[],
  recorded: readonly string[] | undefined,
  isCleared: boolean,
): Unverified {
  if (behind.some((row) => row?.unreadable)) return 'unreadable'
  if (isCleared) return 'forgotten'
  if (recorded) return 'different'
  return behind.some((row) => (row?.body ?? null) === null) ? 'forgotten' : 'unrecorded'
}

/** The slice that was shown, and what it was shown by. */
type Past = Slice & { readonly epoch: CurrentEpoch; readonly rewinds: readonly LogRow[] }

/**
 * The slice that was shown before an entry, with the epoch in force then. Undefined when the lane
 * had no epoch yet, or it cannot be read any more.
 */
async function readPast(store: Reads, lane: string, to: string | undefined): Promise<Past | undefined> {
  const row = await lastEpoch(store, lane, to)
  const mark = row && (markIn(row) as EpochMark | undefined)
  if (!row || !mark) return undefined
  const entries = await readRange(store, mark.readFrom ?? mark.windowFrom ?? undefined, to)
  const { opener, rewinds } = await readApart(store, entries, mark.windowFrom)
  const { first } = await store.head()
  const rows = opener ? [opener, ...entries] : entries
  return {
    rows,
    opener,
    rewinds,
    conversation: fold([...rewinds, ...entries], undefined, opener),
    before: () => readGaps(store, first, entries, opener),
    epoch: { mark, seq: row.seq, ordinal: row.ordinal, place: row.chain ?? 1 },
  }
}

/** The newest applied epoch of a lane before an entry. */
async function lastEpoch(store: Reads, lane: string, to: string | undefined): Promise<LogRow | undefined> {
  for (let before = to; ; ) {
    const page = await store.entries({
      last: PAGE_ROWS,
      kinds: ['epoch'],
      ...(before !== undefined && { to: before }),
    })
    const found = page.rows.findLast((row) => row.lane === lane && row.applied)
    if (found || !page.more) return found
    before = page.rows[0]?.id
  }
}
