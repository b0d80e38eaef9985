import type { Controller, Host } from '../../ports/host.ts'
import { deferred } from './deferred.ts'
import type { ChatRequest, RequestKey, TurnEvent, TurnOutcome, TurnWork } from './protocol.ts'
import { codeOf } from './run-error.ts'
import type { RunTape } from './tape.ts'

export interface TurnParts {
  readonly id: string
  readonly key: RequestKey | undefined
  readonly tape: RunTape
  readonly host: Host
  /**
   * Contract: told once, before anybody else, how it ended; undefined: it did not even begin.
   * Throws nothing.
   */
  readonly onEnd: (outcome: TurnOutcome | undefined) => void
}

/**
 * One turn while it goes on: what is new of a request is written, somebody answers, and what they
 * say is put on a tape as the request's protocol has it, with or without readers.
 */
export class Turn {
  readonly id: string
  readonly key: RequestKey | undefined
  readonly tape: RunTape
  readonly #host: Host
  readonly #onEnd: TurnParts['onEnd']
  readonly #controller: Controller
  readonly #begun = deferred()
  readonly #ended = deferred()
  #messageId = ''
  #begin = 0
  #isOpen = false
  #hasBegun = false
  #failure: unknown

  constructor({ id, key, tape, host, onEnd }: TurnParts) {
    this.id = id
    this.key = key
    this.tape = tape
    this.#host = host
    this.#onEnd = onEnd
    this.#controller = host.controller()
    // Callers that wait get the error; there may be none.
    this.#begun.promise.catch(() => {})
  }

  /** Resolves once errors go onto the tape; rejects with what prevented that. */
  get begun(): Promise<void> {
    return this.#begun.promise
  }

  /** Resolves once nothing will be added to the tape. */
  get ended(): Promise<void> {
    return this.#ended.promise
  }

  /** Id of the message that it writes; known once it has begun. */
  get messageId(): string {
    return this.#messageId
  }

  /** Byte of the tape with which its own part begins. */
  get begin(): number {
    return this.#begin
  }

  /** Whether it has what it needs, its session before all, and may write. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  stop(): void {
    this.#controller.abort(new Error('the run was stopped'))
  }

  /** Ends the turn with an error, since what it says cannot be kept. */
  fail(error: unknown): void {
    this.#failure = error
    this.#controller.abort(error)
  }

  /** Does all of it. Never rejects. */
  async work(request: ChatRequest, open: () => Promise<TurnWork>): Promise<void> {
    let encode: (event: TurnEvent) => string = () => ''
    // It is written together with how the turn ended.
    let last = ''
    let outcome: TurnOutcome
    try {
      const work = await open()
      this.#isOpen = true
      const admitted = await request.admit(work, this.#host)
      this.#messageId = admitted.messageId
      if (admitted.type === 'answered') {
        this.tape.write(admitted.opening)
        this.#begin = this.tape.size
        last = admitted.text
        outcome = { status: 'done', steps: 0 }
      } else {
        encode = (event) => admitted.encoder.next(event)
        const tell = (event: TurnEvent): void => {
          if (event.type === 'finish' || event.type === 'reply') last = encode(event)
          else if (event.type !== 'error') this.tape.write(encode(event))
          if (event.type === 'run-start') this.#begin = this.tape.size
        }
        const { signal } = this.#controller
        const begin = (): void => this.#start()
        outcome = await admitted.run({ ...work, host: this.#host, signal, begin }, tell)
        if (this.#failure !== undefined) throw this.#failure
      }
    } catch (error) {
      if (!this.#hasBegun) {
        this.tape.drop()
        this.#onEnd(undefined)
        this.#begun.reject(error)
        this.#ended.resolve()
        return
      }
      last = encode({ type: 'error', error })
      outcome = { status: 'failed', code: codeOf(error), steps: 0 }
    }
    const { status } = outcome
    this.tape.end(last, {
      status,
      messageId: this.#messageId,
      begin: this.#begin,
      endedAt: this.#host.now(),
    })
    this.#onEnd(outcome)
    this.#start()
    this.#ended.resolve()
  }

  #start(): void {
    this.#hasBegun = true
    this.#begun.resolve()
  }
}
