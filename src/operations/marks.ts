import { markIn, messageIn } from '../kernel/log/bodies.ts'
import { readAll } from '../kernel/log/entries.ts'
import { readRewinds } from '../kernel/log/history.ts'
import type { Branch } from '../ports/branch.ts'
import type { Message } from '../ports/message.ts'
import type { HidingMark, RewindMark } from '../ports/op.ts'
import type { ScopeStore } from '../ports/store.ts'

/**
 * All places at which a version is hidden, by the order in which they came to be: where all show,
 * they follow each other. Rewinds that say no place are left out. Pure.
 */
export function branchesOf(marks: readonly RewindMark[]): readonly Branch[] {
  const held = standing(marks)
  const parted = new Set(held.map(({ after }) => after))
  const hidden = new Set<string | undefined>(held.flatMap(({ hides }) => hides))
  const hiding = new Map<string, HidingMark>()
  const places = new Map<string | null, { readonly all: Set<string>; last: string | undefined }>()
  for (const mark of marks) {
    const isUndo = 'undo' in mark
    const of = isUndo ? hiding.get(mark.undo) : mark
    const { after, hides: [first] = [] } = of ?? {}
    if (!of || after === undefined || first === undefined || !parted.has(after)) continue
    hiding.set(of.id, of)
    const place = places.get(after) ?? { all: new Set(), last: undefined }
    place.all.add(first)
    if (isUndo) place.last = first
    places.set(after, place)
  }
  return [...places].map(([after, { all, last }]) => {
    const shown = hidden.has(last) ? undefined : last
    // Of others that are not hidden nothing is left: a switch would have hidden it.
    return { after, versions: [...all].filter((id) => id === shown || hidden.has(id)), shown }
  })
}

/** The rewinds that hold, oldest first. */
export function standing(marks: readonly RewindMark[]): readonly HidingMark[] {
  const undone = new Set(marks.flatMap((mark) => ('undo' in mark ? mark.undo : [])))
  return marks.filter(isHiding).filter((mark) => !undone.has(mark.id))
}

/** All rewinds of a session. */
export async function readMarks(store: ScopeStore): Promise<readonly RewindMark[]> {
  return (await readRewinds(store)).flatMap((row) => (markIn(row) as RewindMark | undefined) ?? [])
}

/** All messages that hold, those that no context shows too, in the order of the log. */
export async function readMessages(store: ScopeStore): Promise<readonly Message[]> {
  const [rows, marks] = await Promise.all([readAll(store, { kinds: ['message'] }), readMarks(store)])
  const hidden = new Set(standing(marks).flatMap(({ hides }) => hides))
  return rows.flatMap((row) => (hidden.has(row.id) ? [] : (messageIn(row) ?? [])))
}

function isHiding(mark: RewindMark): mark is HidingMark {
  return 'hides' in mark
}
