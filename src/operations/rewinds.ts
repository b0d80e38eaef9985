import type { KernelSession } from '../kernel/feature.ts'
import { markIn } from '../kernel/log/bodies.ts'
import { checkSize } from '../kernel/log/check-message.ts'
import { readEntry, readRange } from '../kernel/log/entries.ts'
import { fold, type Unit } from '../kernel/log/fold.ts'
import { notFound, readHistory, readRewinds } from '../kernel/log/history.ts'
import { MAX_ENTRY_BYTES } from '../kernel/log/message.ts'
import type { HidingMark, Op, RewindMark } from '../ports/op.ts'
import type { ScopeStore } from '../ports/store.ts'
import { hashText } from '../text/hash.ts'
import { checkId } from '../text/json.ts'

export type RewindOp = Extract<Op, { readonly kind: 'mark' }>

/** @throws ERR_ENTRY_TOO_LARGE */
export function rewindOp(operation: string, entry: RewindMark): RewindOp {
  checkSize(operation, 'the list of what it hides', JSON.stringify(entry), MAX_ENTRY_BYTES)
  return { kind: 'mark', opId: `entry:${entry.id}`, base: null, entry }
}

/** Id of the mark that a named op writes. */
export function rewindName(operation: string, opId: string): string {
  return `rewind/${hashText(checkId(operation, 'opId', opId))}`
}

/** The mark of that id, if it was written. */
export async function readRewind(store: ScopeStore, name: string): Promise<RewindMark | undefined> {
  const row = await readEntry(store, name)
  return row && (markIn(row) as RewindMark | undefined)
}

/** What hides a message and all that shows after it. @throws ERR_NOT_FOUND */
export async function readHiding(
  session: KernelSession,
  operation: string,
  name: string,
  id: string,
): Promise<HidingMark> {
  await session.lane.view.refresh()
  return { type: 'rewind', id: name, ...(await readFromMessage(session, id, operation)) }
}

/**
 * Ids of everything that shows from a message on, and that of the message before it. @throws
 * ERR_NOT_FOUND
 */
export async function readFromMessage(
  { store, lane: { view } }: Pick<KernelSession, 'store' | 'lane'>,
  id: string,
  operation: string,
): Promise<Pick<HidingMark, 'hides' | 'after'>> {
  // A round that opened before the entries may be shown before others that did so, too.
  const ids = idsIn(view.conversation.units.filter(({ round }) => round !== view.opener?.id))
  const all = ids.includes(id) ? ids : await readFromRound(store, id)
  const place = all.indexOf(id)
  if (place < 0) throw notFound(operation, id)
  const after = all[place - 1] ?? (await readHistory(store, { before: id, messages: 1 })).at(-1)?.id ?? null
  return { hides: all.slice(place), after }
}

/** Ids of what shows from the round of a message on. */
async function readFromRound(store: ScopeStore, id: string): Promise<readonly string[]> {
  const row = await readEntry(store, id)
  return row?.round === undefined ? [] : readShown(store, row.round)
}

/** Ids of what shows, in the order in which it does. @param round from which on. Default: all */
export async function readShown(store: ScopeStore, round?: string): Promise<readonly string[]> {
  const rows = await readRange(store, round)
  return idsIn(fold([...rows, ...(await readRewinds(store))]).units)
}

function idsIn(units: readonly Unit[]): readonly string[] {
  return units.flatMap((unit) => [unit.row.id, ...unit.results.map((result) => result.row.id)])
}
