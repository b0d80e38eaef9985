import type { UIMessage } from 'ai'
import type { AgentSession } from '../../agent/agent-session.ts'
import type { AgentEvent } from '../../agent/events.ts'
import type { AgentResult, AgentTool, RunOptions } from '../../agent/options.ts'
import { startRun } from '../../agent/run.ts'
import type { ErrorCode } from '../../ports/errors.ts'
import type { Controller, Host } from '../../ports/host.ts'
import type { Model } from '../../ports/model.ts'
import { type Applied, applyChatRequest } from './apply-request.ts'
import type { ChatRequest, RequestKey } from './chat-request.ts'
import { hookedModel, type ModelHooks } from './hooked-model.ts'
import { codeOf } from './run-error.ts'
import type { RunEnd } from './run-tables.ts'
import type { RunTape } from './run-tape.ts'
import { SSE_DONE, sse, UIMessageChunks } from './ui-message-stream.ts'
import { chunksOfMessage } from './ui-part-chunks.ts'

/** What a run does its work with. */
export interface RunWork extends ModelHooks {
  readonly session: AgentSession
  readonly model: Model
  readonly tools: readonly AgentTool[]
  readonly run: Pick<RunOptions, 'maxSteps' | 'settings' | 'limits' | 'middleware' | 'timeouts' | 'parallel'>
}

export interface LiveRunParts {
  readonly id: string
  readonly request: RequestKey
  readonly tape: RunTape
  readonly host: Host
  /**
   * Contract: told once, before anybody else, how it ended; undefined: it did not even begin. Throws nothing.
   */
  readonly onEnd: (outcome: RunOutcome | undefined) => void
}

/** How a run ended. */
export interface RunOutcome {
  readonly status: RunEnd['status']
  readonly code?: ErrorCode
  readonly result?: AgentResult
}

/** One run while it goes on: asks the model, runs tools, and puts chunks on its tape, whoever reads them. */
export class LiveRun {
  readonly id: string
  readonly request: RequestKey
  readonly tape: RunTape
  /** Resolves once the first context is built and the first call of the model may be made; rejects with what prevented that. */
  readonly begun: Promise<void>
  /** Resolves once nothing will be added to the tape. */
  readonly ended: Promise<void>
  readonly #host: Host
  readonly #onEnd: LiveRunParts['onEnd']
  readonly #controller: Controller
  #messageId = ''
  #begin = 0
  #hasBegun = false
  #markBegun = (): void => {}
  #refuse: (error: unknown) => void = () => {}
  #markEnded = (): void => {}
  #failure: unknown

  constructor({ id, request, tape, host, onEnd }: LiveRunParts) {
    this.id = id
    this.request = request
    this.tape = tape
    this.#host = host
    this.#onEnd = onEnd
    this.#controller = host.controller()
    this.begun = new Promise((resolve, reject) => {
      this.#markBegun = resolve
      this.#refuse = reject
    })
    // Whoever waits is told; nobody may.
    this.begun.catch(() => {})
    this.ended = new Promise((resolve) => {
      this.#markEnded = resolve
    })
  }

  /** Id of the UI message that it writes; known once it has begun. */
  get messageId(): string {
    return this.#messageId
  }

  /** Byte of the tape with which its own chunks begin. */
  get begin(): number {
    return this.#begin
  }

  stop(): void {
    this.#controller.abort(new Error('the run was stopped'))
  }

  /** Ends the run with an error, since what it says cannot be kept. */
  fail(error: unknown): void {
    this.#failure = error
    this.#controller.abort(error)
  }

  /** Does all of it. Never rejects. */
  async work(request: ChatRequest, open: () => Promise<RunWork>): Promise<void> {
    let outcome: RunOutcome
    let last = ''
    try {
      const work = await open()
      const applied = await applyChatRequest(work.session, request, () => this.#host.newId())
      if (applied.type === 'answered') {
        last = this.#repeat(applied.answer)
        outcome = { status: 'done' }
      } else {
        const tell = (event: AgentEvent): void => {
          // The last chunk is written together with how the run ended.
          if (event.type === 'finish' || event.type === 'error') last = this.#chunks(event)
          else this.tape.write(this.#chunks(event))
          if (event.type === 'run-start') this.#begin = this.tape.size
        }
        const result = await this.#agent(work, applied, tell)
        outcome = { status: result.reason === 'aborted' ? 'stopped' : 'done', result }
        if (this.#failure !== undefined) throw this.#failure
      }
    } catch (error) {
      if (!this.#hasBegun) {
        this.tape.drop()
        this.#onEnd(undefined)
        this.#refuse(error)
        this.#markEnded()
        return
      }
      const code = codeOf(error)
      if (error === this.#failure) last = this.#chunks({ type: 'error', error })
      outcome = { status: 'failed', code }
    }
    const { status } = outcome
    this.tape.end(`${last}${SSE_DONE}`, {
      status,
      messageId: this.#messageId,
      begin: this.#begin,
      endedAt: this.#host.now(),
    })
    this.#onEnd(outcome)
    this.#start()
    this.#markEnded()
  }

  #chunks: (event: AgentEvent) => string = () => ''

  #agent(
    { session, model, tools, run, beforeModel, afterModel }: RunWork,
    { messageId, input, before }: Applied & { type: 'run' },
    tell: (event: AgentEvent) => void,
  ): PromiseLike<AgentResult> {
    this.#messageId = messageId
    const mapping = new UIMessageChunks({ messageId, ...(before && { before }) })
    this.#chunks = (event) => mapping.next(event).map(sse).join('')
    return startRun(
      {
        ...run,
        session,
        tools,
        model: hookedModel(model, {
          onCall: () => this.#start(),
          ...(!before && { messageId }),
          ...(beforeModel && { beforeModel }),
          ...(afterModel && { afterModel }),
        }),
        ...(input && { input }),
        resume: true,
        signal: this.#controller.signal,
        onEvent: tell,
      },
      this.#host,
    )
  }

  /** The stream of a reply that was given before. */
  #repeat(answer: UIMessage): string {
    this.#messageId = answer.id
    this.tape.write(sse({ type: 'start', messageId: answer.id }))
    this.#begin = this.tape.size
    return [...chunksOfMessage(answer), { type: 'finish' as const }].map(sse).join('')
  }

  #start(): void {
    this.#hasBegun = true
    this.#markBegun()
  }
}
