import { checkMessage } from '../kernel/log/check-message.ts'
import type { Context } from '../ports/context.ts'
import type { AbortSignalLike } from '../ports/host.ts'
import type { Message, MessageInput } from '../ports/message.ts'
import type { Limits, TailSection } from '../ports/session.ts'
import { checkFunction, checkList, checkOneOf } from '../text/check-value.ts'
import { checkOptions, checkText, invalid, isPlainObject } from '../text/json.ts'
import type {
  Denial,
  Hooks,
  Middleware,
  ModelCall,
  ModelCallEnd,
  Proposal,
  RunInfo,
  Stop,
  ToolCall,
  ToolCallEnd,
} from './middleware.ts'
import { Aborted, type Bounds, within } from './within.ts'

const HOOK_TIMEOUT_MS = 5_000
/** What a section of the tail may be called. */
const SECTION_NAME = /^[\w-]{1,64}$/

const PROPOSAL = ['tail', 'nudge', 'limits', 'messages', 'last', 'stop']

/** Middleware in the order in which it runs. */
export interface Composed {
  /** Begins a run: with every middleware at its start. */
  start(run: ComposedRun): ComposedHooks
}

export interface ComposedRun extends RunInfo, Bounds {
  /** Milliseconds for each hook. Default 5 000. */
  readonly hookTimeoutMs?: number | undefined
  /** Contract: told of each failure; throws nothing. */
  onFailure(failure: {
    readonly by: string
    readonly kind: Middleware['kind']
    readonly hook: string
    readonly error: unknown
  }): void
}

/** What all proposals of one call come to. */
export interface Proposed {
  readonly tail: readonly TailSection[]
  readonly nudges: readonly { readonly by: string; readonly text: string }[]
  readonly limits?: Limits
  readonly messages?: readonly Message[]
  /** Why no tool may be called any more. */
  readonly last?: Stop
  readonly stop?: Stop
}

/** A model call that is about to be made. */
export interface PreviewedCall extends Omit<ModelCall, 'preview'> {
  /** The context with other limits than the run's. */
  readonly preview?: (limits: Limits | undefined) => Promise<Context>
}

/** Contract: none of them throws, but to say that the run was aborted. */
export interface ComposedHooks {
  beforeModelCall(call: PreviewedCall): Promise<Proposed>
  afterModelCall(end: ModelCallEnd): Promise<Stop | undefined>
  beforeTool(call: ToolCall): Promise<{ readonly deny?: string; readonly stop?: Stop } | undefined>
  afterTool(end: ToolCallEnd): Promise<Stop | undefined>
}

/**
 * Makes one of several middlewares: by `order`, equal ones by their place in the list, after-hooks
 * in reverse. A hook that fails or hangs is reported; that of an enricher is passed over, that of a
 * guard stops the run.
 *
 * @throws ERR_INVALID_ARGUMENT
 */
export function compose(middleware: readonly Middleware[]): Composed {
  checkList('compose', 'middleware', middleware)
  middleware.forEach((one: Middleware, index) => {
    const argument = `middleware[${index}]`
    checkFunction('compose', `${argument}.start`, one?.start)
    if (!SECTION_NAME.test(one.name))
      throw invalid('compose', `${argument}.name`, 'must be 1 to 64 letters, digits, dashes or underscores')
    if (!Number.isFinite(one.order)) throw invalid('compose', `${argument}.order`, 'must be a number')
    checkOneOf('compose', `${argument}.kind`, one.kind, ['enricher', 'guard'])
  })
  const ordered = middleware.toSorted((a, b) => a.order - b.order)
  return { start: (run) => new Running(ordered, run) }
}

interface Started {
  readonly middleware: Middleware
  readonly hooks: Hooks
}

class Running implements ComposedHooks {
  readonly #run: ComposedRun
  readonly #started: readonly Started[]
  readonly #reversed: readonly Started[]
  /** Set by a guard that did not even start. */
  #broken: Stop | undefined

  constructor(ordered: readonly Middleware[], run: ComposedRun) {
    this.#run = run
    const { session, past, message } = run
    this.#started = ordered.flatMap((middleware): Started[] => {
      try {
        const hooks = middleware.start({
          ...(session && { session }),
          now: () => run.now(),
          newId: () => run.newId(),
          ...(past && { past }),
          ...(message !== undefined && { message }),
        })
        return [{ middleware, hooks }]
      } catch (error) {
        this.#broken ??= this.#failed(middleware, 'start', error)
        return []
      }
    })
    this.#reversed = this.#started.toReversed()
  }

  async beforeModelCall({ preview, ...call }: PreviewedCall): Promise<Proposed> {
    const tail: TailSection[] = []
    const nudges: { by: string; text: string }[] = []
    let limits: Limits | undefined
    let messages: readonly Message[] | undefined
    let last: Stop | undefined
    let stop = this.#broken
    for (const { middleware, hooks } of this.#started) {
      if (stop) break
      const { name } = middleware
      const outcome = await this.#call(
        middleware,
        'beforeModelCall',
        (signal) =>
          hooks.beforeModelCall?.({
            ...call,
            ...(preview && { preview: () => preview(limits) }),
            ...(messages && { messages }),
            signal,
          }),
        (given) => checkProposal(given, this.#run),
      )
      const proposal = outcome.value
      stop = outcome.stop ?? (proposal?.stop && { by: name, reason: proposal.stop.reason })
      if (!proposal) continue
      tail.push(...(proposal.tail ?? []))
      if (proposal.nudge !== undefined) {
        tail.push({ name, text: proposal.nudge })
        nudges.push({ by: name, text: proposal.nudge })
      }
      if (proposal.last) last ??= { by: name, reason: proposal.last.reason }
      if (proposal.limits) limits = { ...limits, ...proposal.limits }
      messages = proposal.messages ?? messages
    }
    return {
      tail,
      nudges,
      ...(limits && { limits }),
      ...(messages && { messages }),
      ...(last && { last }),
      ...(stop && { stop }),
    }
  }

  async afterModelCall(end: ModelCallEnd): Promise<Stop | undefined> {
    return this.#after('afterModelCall', (hooks, signal) => hooks.afterModelCall?.({ ...end, signal }))
  }

  async beforeTool(call: ToolCall): Promise<{ deny?: string; stop?: Stop } | undefined> {
    if (this.#broken) return { stop: this.#broken }
    for (const { middleware, hooks } of this.#started) {
      const { value, stop } = await this.#call(
        middleware,
        'beforeTool',
        (signal) => hooks.beforeTool?.({ ...call, signal }),
        checkDenial,
      )
      if (stop) return { stop }
      if (value) return { deny: value.deny }
    }
    return undefined
  }

  async afterTool(end: ToolCallEnd): Promise<Stop | undefined> {
    return this.#after('afterTool', (hooks, signal) => hooks.afterTool?.({ ...end, signal }))
  }

  /** All of them look, even where one failed. */
  async #after(
    hook: keyof Hooks,
    look: (hooks: Hooks, signal: AbortSignalLike) => Promise<void> | void,
  ): Promise<Stop | undefined> {
    let first: Stop | undefined
    for (const { middleware, hooks } of this.#reversed) {
      const { stop } = await this.#call(
        middleware,
        hook,
        (signal) => look(hooks, signal),
        () => undefined,
      )
      first ??= stop
    }
    return first
  }

  async #call<Given, Value>(
    middleware: Middleware,
    hook: keyof Hooks,
    work: (signal: AbortSignalLike) => Given | PromiseLike<Given>,
    check: (given: Given) => Value | undefined,
  ): Promise<{ readonly value?: Value; readonly stop?: Stop }> {
    const ms = this.#run.hookTimeoutMs ?? HOOK_TIMEOUT_MS
    try {
      const value = check(await within(this.#run, { ms, subject: `${hook} of ${middleware.name}` }, work))
      return value === undefined ? {} : { value }
    } catch (error) {
      if (error instanceof Aborted) throw error
      const stop = this.#failed(middleware, hook, error)
      return stop ? { stop } : {}
    }
  }

  #failed({ name, kind }: Middleware, hook: string, error: unknown): Stop | undefined {
    this.#run.onFailure({ by: name, kind, hook, error })
    return kind === 'guard' ? { by: name, reason: `${name} failed in ${hook}`, error } : undefined
  }
}

/** What the core would refuse is this middleware's failure and nobody else's. */
function checkProposal(
  proposal: Proposal | undefined,
  run: ComposedRun,
): (Proposal & { readonly messages?: readonly Message[] }) | undefined {
  if (!proposal) return undefined
  if (!isPlainObject(proposal as unknown))
    throw invalid('beforeModelCall', 'the proposal', 'must be an object')
  checkOptions('beforeModelCall', 'the proposal', proposal, PROPOSAL)
  const { tail = [], nudge, limits, messages, last, stop } = proposal
  for (const section of tail) {
    if (!SECTION_NAME.test(section.name))
      throw invalid('beforeModelCall', 'tail.name', 'must be 1 to 64 letters, digits, dashes or underscores')
    checkText('beforeModelCall', 'tail.text', section.text)
  }
  if (nudge !== undefined) checkText('beforeModelCall', 'nudge', nudge)
  if (limits !== undefined && !isPlainObject(limits))
    throw invalid('beforeModelCall', 'limits', 'must be an object')
  if (last !== undefined) checkText('beforeModelCall', 'last.reason', last.reason)
  if (stop !== undefined) checkText('beforeModelCall', 'stop.reason', stop.reason)
  if (messages === undefined) return proposal as Omit<Proposal, 'messages'>
  return { ...proposal, messages: checkMessages(messages, run) }
}

function checkMessages(messages: readonly MessageInput[], run: ComposedRun): readonly Message[] {
  if (run.session)
    throw invalid('beforeModelCall', 'messages', 'needs a run without a session, whose log is what shows')
  checkList('beforeModelCall', 'messages', messages)
  return messages.map((message, index) => checkMessage('beforeModelCall', `messages[${index}]`, message, run))
}

function checkDenial(denial: Denial | undefined): Denial | undefined {
  if (!denial) return undefined
  checkText('beforeTool', 'deny', denial.deny)
  return denial
}
