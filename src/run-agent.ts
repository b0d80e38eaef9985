import type { AgentRun, RunOptions } from './agent/options.ts'
import { startRun } from './agent/start-run.ts'
import { webHost } from './platform/web.ts'

export interface RunAgentOptions extends RunOptions {
  /** Unix milliseconds, for display and measurements only. Default `Date.now`. */
  readonly clock?: () => number
  /** Fresh ids of messages, where no session makes them. Default UUIDv7. */
  readonly newId?: () => string
}

/**
 * Runs an agent: asks the model, runs the tools that it calls, and asks again, until it calls none.
 * It begins at once; await it for its result, iterate it for its events.
 *
 * With a session, everything is recorded as soon as it is whole: the input, each reply, each result
 * of a tool. However the run ends, what it leaves is a valid conversation, and a run with `resume`
 * goes on with it. Without one, each request holds the whole conversation, byte for byte what a
 * plain loop would send.
 *
 * Rejects with what the model threw, with what `session.append` and `session.context` throw, and
 * with:
 *
 * @throws ERR_INVALID_ARGUMENT (before anything is written), ERR_TIMEOUT (`timeouts.model`,
 * `timeouts.run`)
 * @example
 * ```ts
 * import { createMemory, mapStore, runAgent, scriptedModel } from 'plimsoll'
 *
 * const session = createMemory({ store: mapStore(), budget: 16_000 }).session({ userId: 'ada' })
 * const model = scriptedModel(['The 9:40 to Turin is booked.'])
 * const { answer } = await runAgent({ input: 'Book the 9:40 to Turin.', model, session })
 * ```
 */
export function runAgent(options: RunAgentOptions): AgentRun {
  const { clock = webHost.now, newId = webHost.newId, ...run }: RunAgentOptions = { ...options }
  return startRun(run, { ...webHost, now: clock, newId })
}
