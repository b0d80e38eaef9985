import type { AgentEvent } from './events.ts'
import type { AgentResult, AgentRun } from './options.ts'
import { isThenable } from './within.ts'

/**
 * The events of one run: kept, handed to the listener as they come, and to each iterator, from
 * the first one on.
 */
export class EventLog {
  readonly #listener: ((event: AgentEvent) => unknown) | undefined
  readonly #events: AgentEvent[] = []
  #waiting: (() => void)[] = []
  #ended = false
  #failed = false

  constructor(listener: ((event: AgentEvent) => unknown) | undefined) {
    this.#listener = listener
  }

  readonly emit = (event: AgentEvent): void => {
    this.#keep(event)
    if (!this.#listener) return
    try {
      const heard = this.#listener(event)
      if (isThenable(heard)) heard.then(undefined, (error: unknown) => this.#fail(error))
    } catch (error) {
      this.#fail(error)
    }
  }

  end(): void {
    this.#ended = true
    this.#wake()
  }

  async *read(): AsyncGenerator<AgentEvent, void, undefined> {
    for (let index = 0; ; index++) {
      while (index >= this.#events.length) {
        if (this.#ended) return
        await new Promise<void>((resolve) => this.#waiting.push(resolve))
      }
      yield this.#events[index] as AgentEvent
    }
  }

  /** A failing listener is reported once, and not to itself. */
  #fail(error: unknown): void {
    if (this.#failed || this.#ended) return
    this.#failed = true
    this.#keep({ type: 'middleware-failure', by: 'onEvent', kind: 'enricher', hook: 'onEvent', error })
  }

  #keep(event: AgentEvent): void {
    this.#events.push(event)
    this.#wake()
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }
}

/** What a run is to its caller: its result to wait for, its events to read. */
export function runOf(events: EventLog, result: Promise<AgentResult>): AgentRun {
  // A reader of the events alone learns of a failure there; one who waits gets a rejection of
  // their own.
  result.catch(() => {})
  return {
    // biome-ignore lint/suspicious/noThenProperty: a run is meant to be awaited.
    then: (onResult, onError) => result.then(onResult, onError),
    [Symbol.asyncIterator]: () => events.read(),
  }
}
