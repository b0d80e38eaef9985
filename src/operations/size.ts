import { heldBy } from '../features/held.ts'
import type { Call } from '../kernel/context/measure.ts'
import { WHOLE } from '../kernel/context/plan.ts'
import type { Window } from '../kernel/context/window.ts'
import type { SessionBase } from '../ports/memory.ts'
import { kernelOf } from './kernel-of.ts'

/**
 * Tokens that the session holds, by the memory's counter: system text, memory section, and all that
 * the window shows with what came since. What a call adds is not counted: tools, tail, and the
 * “Continue.” after the assistant's own words. Before the first context that is the whole log after
 * the app's own instructions. Nothing is written, and no context is built.
 *
 * @throws ERR_INVALID_ARGUMENT, and what the store throws
 * @example
 * ```ts
 * import { tokens } from 'plimsoll'
 *
 * console.log(await tokens(session)) // 26
 * ```
 */
export async function tokens(session: SessionBase): Promise<number> {
  const { call, window } = await sizeOf('tokens', session)
  const { system, memory } = call.head.tokens
  return system + memory + window.tokens
}

/**
 * How many messages these are: system text and memory section are one each, where there are any.
 *
 * @throws ERR_INVALID_ARGUMENT, and what the store throws
 * @example
 * ```ts
 * import { count } from 'plimsoll'
 *
 * console.log(await count(session)) // 3
 * ```
 */
export async function count(session: SessionBase): Promise<number> {
  const { call, window } = await sizeOf('count', session)
  return call.head.blocks.length + window.blocks.length + window.waiting.length
}

/**
 * Whether these are above the budget, margin included, with the tools of the newest context: then
 * the next context cuts the window back, and summarises what leaves it.
 *
 * @throws ERR_INVALID_ARGUMENT, and what the store throws
 * @example
 * ```ts
 * import { overBudget } from 'plimsoll'
 *
 * if (await overBudget(session)) console.log('The next context begins an epoch.')
 * ```
 */
export async function overBudget(session: SessionBase): Promise<boolean> {
  const { call, window } = await sizeOf('overBudget', session)
  return window.tokens > call.room
}

/** What the epoch that holds shows by now; before the first one, all of the log. */
async function sizeOf(
  operation: string,
  session: SessionBase,
): Promise<{ readonly call: Call; readonly window: Window }> {
  const kernel = kernelOf(operation, session)
  return kernel.run(async () => {
    const { lane } = kernel
    const held = await heldBy(lane)
    if (held?.judged.epoch) return { call: held.call, window: held.judged.window }
    const { view, calls } = lane
    while (!view.whole) await view.extend()
    const call = calls.make(1, 0, { parts: {}, covering: undefined })
    return { call, window: call.measure.layout(view.conversation).show(WHOLE, view.rows) }
  })
}
