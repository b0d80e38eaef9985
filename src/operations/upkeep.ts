import type { KernelMemory } from '../kernel/feature.ts'
import type { Memory } from '../ports/memory.ts'
import { owedWork } from './forget/owed-work.ts'
import { memoryOf } from './kernel-of.ts'

/** How long an attachment is kept that no message has named, in milliseconds: a day. */
const UNUSED_MS = 24 * 60 * 60 * 1000

/**
 * When {@link runDueWork} next has something to do, Unix milliseconds; undefined: nothing is
 * waiting. Sooner after a call that leaves work behind: {@link attach}, and one that failed while
 * it forgot something. With `retention` in use, now where no call looked through all scopes yet,
 * and at least once in the shortest of its times.
 */
export async function nextWorkAt(memory: Memory): Promise<number | undefined> {
  return nextOf(memoryOf('nextWorkAt', memory))
}

/**
 * Does what is due, over all scopes of the store, a bounded part of it at a time: removes
 * attachments that no message has named within a day, finishes what a process that ended was about
 * to forget, and what features have to do, such as retention. Nothing calls it by itself: call it
 * from an alarm, or when the app starts. Idempotent.
 *
 * @returns {@link nextWorkAt} after that
 */
export async function runDueWork(memory: Memory): Promise<number | undefined> {
  const kernel = memoryOf('runDueWork', memory)
  const { store, host, parts } = kernel
  await store.removeUnused(host.now() - UNUSED_MS)
  await owedWork(kernel).run()
  for (const part of parts) await part.runDueWork?.()
  return nextOf(kernel)
}

async function nextOf(kernel: KernelMemory): Promise<number | undefined> {
  const { store, parts } = kernel
  const oldest = await store.oldestUnused()
  const due = await Promise.all(parts.map((part) => part.nextWorkAt?.()))
  const times = [oldest === undefined ? undefined : oldest + UNUSED_MS, owedWork(kernel).nextAt(), ...due]
  const known = times.filter((time) => time !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}
