import type { Certificate } from '../../ports/certificate.ts'
import type { SessionBase } from '../../ports/memory.ts'
import { kernelOf } from '../kernel-of.ts'
import { finishOwed, forgetLog } from './cascade.ts'
import { certified, kept } from './forget.ts'

/**
 * Removes the conversation and keeps the session: forgets all messages that are in the log by now,
 * those included that a rewind hid, as `forget` does each of them. What was derived from them goes
 * too: summaries, facts that name one as a source (shared ones too), heads, the index of recall,
 * and attachments that nothing else names. Checkpoint, title, project, settings, and facts that
 * name no message stay. Rows keep id, number and place; the log goes on after them.
 *
 * Idempotent: repeating it says `already`. It goes in steps; what an end of the process left,
 * the same call finishes, as does `forget` and `runDueWork`. What others say meanwhile stays. It is
 * recorded in the user's audit.
 *
 * @returns what was removed: ids and counts, no text; its `target` is the session
 */
export async function clearLog(session: SessionBase): Promise<Certificate> {
  const kernel = kernelOf('clearLog', session)
  return kernel.run(async () => {
    const { store, user, memory, sessionId } = kernel
    const parts = { store, sessionId, userStore: user.store, open: user.session, host: memory.host }
    const all = await finishOwed(parts, parts)
    const begun = all.find((one) => one.isLog && one.sessionId === sessionId)?.done
    const done = await kept(memory, async () => {
      const before = await begun
      const now = await forgetLog(parts, { action: 'forget', target: sessionId })
      // What an earlier call began was ended by this one.
      return now.already && before ? before : now
    })
    await kernel.look()
    return certified(memory.host, sessionId, done)
  })
}
