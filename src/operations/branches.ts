import type { KernelSession } from '../kernel/feature.ts'
import { readEntry } from '../kernel/log/entries.ts'
import { notFound } from '../kernel/log/history.ts'
import { partId } from '../kernel/log/rounds.ts'
import type { Branch } from '../ports/branch.ts'
import type { SessionBase } from '../ports/memory.ts'
import type { HidingMark, RewindMark } from '../ports/op.ts'
import { checkId } from '../text/json.ts'
import { kernelOf } from './kernel-of.ts'
import { branchesOf, readMarks, standing } from './marks.ts'
import { nameOf, type RewindOptions, wasDone, writeRewinds } from './rewind.ts'
import { readFromMessage, readShown } from './rewinds.ts'

/**
 * All places of a session at which a message was edited or a reply made again, with their versions;
 * {@link versionsIn} says which of them show. Reads all rewinds, and no message.
 */
export async function readBranches(session: SessionBase): Promise<readonly Branch[]> {
  const kernel = kernelOf('readBranches', session)
  return kernel.run(async () => branchesOf(await readMarks(kernel.store)))
}

/**
 * Shows a version of {@link readBranches} in the place of the one that shows, with all that
 * followed it when it was left. One commit: after a crash, either the one or the other shows.
 * Idempotent: what shows stays.
 *
 * @param id the message with which the version begins
 * @throws ERR_NOT_FOUND: it is hidden and begins no version, or what it follows does not show
 */
export async function switchTo(session: SessionBase, id: string, options: RewindOptions = {}): Promise<void> {
  const kernel = kernelOf('switchTo', session)
  return kernel.run(async () => {
    checkId('switchTo', 'id', id)
    const name = nameOf('switchTo', kernel, options)
    if (await wasDone(kernel, name, options)) return
    await kernel.lane.view.refresh()
    const planned = await planSwitch(kernel, id)
    if (planned) await writeRewinds(kernel, 'switchTo', marksOf(planned, name))
  })
}

/**
 * What is to be written so that a version shows: what hides the one that does, if there is one, and
 * what no longer holds.
 */
interface Switch extends Pick<HidingMark, 'hides' | 'after'> {
  /** The rewinds that hide it. */
  readonly undo: readonly string[]
}

/**
 * How a version comes to show in the place of the one that does.
 *
 * @returns undefined: it shows
 * @throws ERR_NOT_FOUND: it is hidden and begins no version, or what it follows does not show
 */
async function planSwitch(session: KernelSession, id: string): Promise<Switch | undefined> {
  const { store } = session
  const marks = await readMarks(store)
  const undo = standing(marks).flatMap((mark) => (mark.hides.includes(id) ? mark.id : []))
  if (undo.length === 0 && (await readEntry(store, id))?.kind === 'message') return undefined
  const branch = branchesOf(marks).find(({ versions }) => versions.includes(id))
  if (!branch) throw notFound('switchTo', id)
  const { after, shown } = branch
  const left =
    after === null
      ? await readShown(store)
      : (await readFromMessage(session, after, 'switchTo')).hides.slice(1)
  // What is left of a version is the same one, though the message that began it was forgotten.
  const hides = shown && left.length > 0 && !left.includes(shown) ? [shown, ...left] : left
  return { hides, after, undo }
}

/** What is written for it, under names that are made from one. */
function marksOf({ hides, after, undo }: Switch, name: string): readonly RewindMark[] {
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
