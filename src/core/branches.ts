import type { Branch } from '../ports/branch.ts'
import { PlimsollError } from '../ports/errors.ts'
import type { HidingMark, Op, RewindMark } from '../ports/op.ts'
import type { ScopeStore } from '../ports/store.ts'
import { hiddenBy } from './fold.ts'
import { notFound, readFromMessage, readRewinds } from './history.ts'
import { MAX_ENTRY_BYTES } from './message.ts'
import { partId } from './rounds.ts'
import { markIn } from './seal.ts'
import { utf8Length } from './text.ts'
import { readEntry, readRange, type Slice } from './view.ts'

/** What is to be written so that a version shows: what hides the one that does, if there is one, and what no longer holds. */
export interface Switch extends Pick<HidingMark, 'hides' | 'after'> {
  /** The rewinds that hide it. */
  readonly undo: readonly string[]
}

/** All places at which there are versions, by the order in which they came to be. Rewinds that say no place are left out. Pure. */
export function branchesOf(marks: readonly RewindMark[]): readonly Branch[] {
  const places = new Map<string | null, Set<string>>()
  for (const { after, hides } of marks.filter(isHiding)) {
    const [first] = hides
    if (after === undefined || first === undefined) continue
    const versions = places.get(after) ?? new Set()
    places.set(after, versions.add(first))
  }
  return [...places].map(([after, versions]) => ({ after, versions: [...versions] }))
}

/** All places in a session at which there are versions. */
export async function readBranches(store: ScopeStore): Promise<readonly Branch[]> {
  return branchesOf(marksIn(await readRewinds(store)))
}

/**
 * How a version comes to show in the place of the one that does.
 *
 * @returns undefined: it shows
 * @throws ERR_NOT_FOUND: it is hidden and begins no version, or what it follows does not show
 */
export async function planSwitch(store: ScopeStore, view: Slice, id: string): Promise<Switch | undefined> {
  const rows = await readRewinds(store)
  const marks = marksIn(rows)
  const hidden = hiddenBy(rows)
  if (!hidden.has(id) && (await readEntry(store, id))?.kind === 'message') return undefined
  const after = branchesOf(marks).find(({ versions }) => versions.includes(id))?.after
  if (after === undefined) throw notFound('switchTo', id)
  return {
    hides: after === null ? await readAll(store, hidden) : await readAfter(store, view, after),
    after,
    undo: standing(marks)
      .filter((mark) => mark.hides.includes(id))
      .map((mark) => mark.id),
  }
}

async function readAfter(store: ScopeStore, view: Slice, id: string): Promise<readonly string[]> {
  const { hides } = await readFromMessage(store, view, id, 'switchTo')
  return hides.slice(1)
}

/** Ids of all that shows. */
async function readAll(store: ScopeStore, hidden: ReadonlySet<string>): Promise<readonly string[]> {
  const rows = await readRange(store, undefined)
  return rows.flatMap(({ kind, id, body }) =>
    kind === 'message' && body !== null && !hidden.has(id) ? [id] : [],
  )
}

/** What is written for it, under names that are made from one. */
export function marksOf({ hides, after, undo }: Switch, name: string): readonly RewindMark[] {
  const hiding: readonly RewindMark[] =
    hides.length === 0 ? [] : [{ type: 'rewind', id: name, hides, ...(after !== undefined && { after }) }]
  return [
    ...hiding,
    ...undo.map((rewind, index): RewindMark => {
      const id = partId(name, hiding.length + index)
      return { type: 'rewind', id, undo: rewind }
    }),
  ]
}

export type RewindOp = Extract<Op, { readonly kind: 'mark' }>

/** @throws ERR_ENTRY_TOO_LARGE */
export function rewindOp(operation: string, entry: RewindMark): RewindOp {
  const size = utf8Length(JSON.stringify(entry))
  if (size > MAX_ENTRY_BYTES)
    throw new PlimsollError(
      'ERR_ENTRY_TOO_LARGE',
      `${operation}: ${size} bytes of ids, more than ${MAX_ENTRY_BYTES}`,
      { size, limit: MAX_ENTRY_BYTES },
    )
  return { kind: 'mark', opId: entry.id, base: null, entry }
}

/** The rewinds that hold, oldest first. */
export function standing(marks: readonly RewindMark[]): readonly HidingMark[] {
  const undone = new Set(marks.flatMap((mark) => ('undo' in mark ? mark.undo : [])))
  return marks.filter(isHiding).filter((mark) => !undone.has(mark.id))
}

export function marksIn(rewinds: Awaited<ReturnType<typeof readRewinds>>): readonly RewindMark[] {
  return rewinds.flatMap((row) => (markIn(row) as RewindMark | undefined) ?? [])
}

function isHiding(mark: RewindMark): mark is HidingMark {
  return 'hides' in mark
}
