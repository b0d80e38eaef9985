import type { KernelSession } from '../kernel/feature.ts'
import { notFound } from '../kernel/log/history.ts'
import { allOrNone } from '../kernel/log/once.ts'
import { sealOp } from '../kernel/log/seal.ts'
import { duplicate } from '../kernel/log/writer.ts'
import type { SessionBase } from '../ports/memory.ts'
import type { MessageInput } from '../ports/message.ts'
import type { RewindMark } from '../ports/op.ts'
import type { AppendOptions, AppendResult } from '../ports/session.ts'
import { checkId, checkOptions, invalid } from '../text/json.ts'
import { kernelOf } from './kernel-of.ts'
import { readMarks, standing } from './marks.ts'
import { readHiding, readRewind, rewindName, rewindOp } from './rewinds.ts'

export interface RewindOptions {
  /** Names the op; repeating it gives the first result. Default: fresh. */
  readonly opId?: string
}

/**
 * Hides a message and everything that shows after it, to edit or regenerate from there. The log
 * keeps all of it.
 *
 * @returns the id of the rewind, for {@link undo}
 * @throws ERR_NOT_FOUND; ERR_DUPLICATE_ID: the op was an undo
 */
export async function rewind(session: SessionBase, id: string, options: RewindOptions = {}): Promise<string> {
  const kernel = kernelOf('rewind', session)
  return kernel.run(async () => {
    checkId('rewind', 'id', id)
    const name = nameOf('rewind', kernel, options)
    const done = await wasDone(kernel, name, options)
    if (done && 'undo' in done) throw duplicate('rewind', name)
    if (!done) await writeRewinds(kernel, 'rewind', [await readHiding(kernel, 'rewind', name, id)])
    return name
  })
}

/**
 * Shows again what a rewind hid. Default: the newest rewind that still holds.
 *
 * @returns the id of the rewind that was taken back
 * @throws ERR_NOT_FOUND; ERR_DUPLICATE_ID: the op was a rewind; ERR_INVALID_ARGUMENT
 */
export async function undo(
  session: SessionBase,
  rewound?: string,
  options: RewindOptions = {},
): Promise<string> {
  const kernel = kernelOf('undo', session)
  if (rewound !== undefined) checkId('undo', 'rewind', rewound)
  return kernel.run(async () => {
    const name = nameOf('undo', kernel, options)
    const done = await wasDone(kernel, name, options)
    if (done && 'hides' in done) throw duplicate('undo', name)
    if (done) return done.undo
    const held = standing(await readMarks(kernel.store))
    const target = rewound === undefined ? held.at(-1) : held.find(({ id }) => id === rewound)
    if (!target) throw notFound('undo', rewound ?? 'a rewind')
    await writeRewinds(kernel, 'undo', [{ type: 'rewind', id: name, undo: target.id }])
    return target.id
  })
}

/**
 * Says something in place of a message of the user: that one is hidden with everything that shows
 * after it, and the new one is written, in one commit. The old version stays in the log:
 * {@link readBranches}.
 *
 * @param input as in `append`; it begins with a message of the user
 * @throws ERR_NOT_FOUND, ERR_INVALID_ARGUMENT, and as `append`; nothing is written
 */
export async function editMessage(
  session: SessionBase,
  id: string,
  input: MessageInput | readonly MessageInput[],
  options: AppendOptions = {},
): Promise<AppendResult> {
  const kernel = kernelOf('editMessage', session)
  return kernel.run(async () => {
    checkId('editMessage', 'id', id)
    if ([input].flat()[0]?.role !== 'user')
      throw invalid('editMessage', 'messages', 'must begin with a message of the user')
    return kernel.append('editMessage', input, options, async (opId) => {
      const name = rewindName('editMessage', opId)
      try {
        return [rewindOp('editMessage', await readHiding(kernel, 'editMessage', name, id))]
      } catch (error) {
        // Done before, it is hidden by that. To look first, a device would fetch the whole log.
        if (await readRewind(kernel.store, name)) return []
        throw error
      }
    })
  })
}

/** Id of the mark that an op writes. */
export function nameOf(operation: string, { memory }: KernelSession, options: RewindOptions): string {
  checkOptions(operation, 'options', options, ['opId'])
  return options.opId === undefined ? memory.host.newId() : rewindName(operation, options.opId)
}

/** What an op wrote before; it cannot have written anything before it had a name. */
export async function wasDone(
  { store }: KernelSession,
  name: string,
  { opId }: RewindOptions,
): Promise<RewindMark | undefined> {
  return opId === undefined ? undefined : readRewind(store, name)
}

/** Writes marks, all or none. */
export async function writeRewinds(
  session: KernelSession,
  operation: string,
  marks: readonly RewindMark[],
): Promise<void> {
  const ops = marks.map((mark) => sealOp(rewindOp(operation, mark)))
  const results = await session.store.commit(ops, allOrNone)
  if (results.some((result) => result.status !== 'accepted' || result.repeated))
    throw duplicate(operation, marks[0]?.id ?? '')
  await session.look().catch(() => {})
}
