import { contextOf } from '../kernel/context/context-of.ts'
import { seenBy } from '../kernel/context/epoch.ts'
import { readGaps } from '../kernel/context/gaps.ts'
import { type HeadTexts, headKey } from '../kernel/context/head.ts'
import type { Lane } from '../kernel/context/lane.ts'
import { hashPrefix, Prefix } from '../kernel/context/prefix.ts'
import { type CurrentEpoch, readApart, type Slice } from '../kernel/context/view.ts'
import { markIn, valueIn } from '../kernel/log/bodies.ts'
import { readEntry, readRange } from '../kernel/log/entries.ts'
import { fold } from '../kernel/log/fold.ts'
import { checkId } from '../kernel/text/json.ts'
import type { ContextAt } from '../ports/context.ts'
import { PlimsollError } from '../ports/errors.ts'
import type { ContextOptionsOf, SessionBase } from '../ports/memory.ts'
import type { EpochMark } from '../ports/op.ts'
import { type EntryKind, type LogRow, PAGE_ROWS, type Reads } from '../ports/store.ts'
import { kernelOf } from './kernel-of.ts'

/**
 * Rebuilds the context of the call that was made when message `id` was the newest one (before any
 * rewind that followed), without its tail, and checks it against the hash that its epoch recorded.
 *
 * @throws ERR_NOT_FOUND: no such message, or no context was built in this lane up to it
 */
export async function contextAt(session: SessionBase, id: string): Promise<ContextAt> {
  const kernel = kernelOf('contextAt', session)
  return kernel.run(async () => buildAt(kernel.lane, checkId('contextAt', 'id', id)))
}

/**
 * Checks options as `context` does, without reading anything: for a caller that writes first and
 * builds a context then, and would not want to have written for a call that cannot be.
 *
 * @throws ERR_INVALID_ARGUMENT
 */
export function checkContext<F extends object>(session: SessionBase<F>, options: ContextOptionsOf<F>): void {
  kernelOf('checkContext', session).check(options)
}

async function buildAt({ store, secret, policy, calls, cover }: Lane, id: string): Promise<ContextAt> {
  const row = await readEntry(store, id)
  if (row?.kind !== 'message')
    throw new PlimsollError('ERR_NOT_FOUND', `contextAt: ${id} is no message of this session`, { id })
  const past = await readPast(store, policy.lane, id)
  if (!past)
    throw new PlimsollError(
      'ERR_NOT_FOUND',
      `contextAt: no context was built in this lane up to message ${id}`,
      { id },
    )
  const { mark, seq } = past.epoch
  await secret.refresh(store, true)
  const register = await store.register(headKey(mark.head))
  const value = register && valueIn(register)
  const measure = calls.measureBy(mark.calibration ?? 1)
  const call = measure.call(
    value === undefined
      ? calls.texts({ parts: {}, covering: undefined }, past.epoch.place)
      : (value as unknown as HeadTexts),
    [],
  )
  const covering = mark.summary === undefined ? undefined : await cover?.past(store, mark.summary)
  const context = await contextOf(
    { policy, calls, cover, prefix: new Prefix(secret) },
    {
      slice: past,
      call,
      epoch: past.epoch,
      window: measure.layout(past.conversation).show(mark, past.rows),
      covering,
      failures: [],
    },
  )
  const seen = seenBy(past.epoch, past.rows)
  const then = fold(
    [...past.rewinds, ...past.rows.filter((row) => row !== past.opener && row.seq <= seen)],
    undefined,
    past.opener,
  )
  const { blocks } = measure.layout(then).show(mark, past.rows)
  const isMet = call.head.hash === mark.head && hashPrefix(secret, mark.head, blocks) === mark.prefixHash
  if (value !== undefined && isMet) return { context, verified: true }
  const behind = [register, ...past.rows]
  const reason = behind.some((row) => row?.unreadable)
    ? 'unreadable'
    : seq < secret.since || behind.some((row) => (row?.body ?? null) === null)
      ? 'forgotten'
      : 'mismatch'
  return { context, verified: false, reason }
}

/**
 * The slice that was shown when message `id` was the newest, with the epoch in force then: before
 * any rewind that followed, unless the lane's first epoch came after that. Undefined when the lane
 * had no epoch yet, or it cannot be read any more.
 */
async function readPast(
  store: Reads,
  lane: string,
  id: string,
): Promise<(Slice & { readonly epoch: CurrentEpoch; readonly rewinds: readonly LogRow[] }) | undefined> {
  const after = async (kinds: readonly EntryKind[]): Promise<string | undefined> =>
    (await store.entries({ after: id, first: 1, kinds })).rows[0]?.id
  let to = await after(['message', 'rewind'])
  let row = await lastEpoch(store, lane, to)
  if (!row) {
    to = await after(['message'])
    row = await lastEpoch(store, lane, to)
  }
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
