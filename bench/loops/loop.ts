import type { Counter } from '../../src/ports/counter.ts'
import type { Recorded, Reply, Request } from '../../test/ai-sdk/replay.ts'

/** What a loop works under: which of its means keeps its requests short. */
export interface Means {
  readonly name: string
  /** Plays a conversation; gives each request as the model received it. */
  play(recorded: Recorded): Promise<Request[]>
}

/** The means of one library: ours in its loop, and its own. */
export interface Loop {
  readonly packages: readonly string[]
  means(counter: Counter, budget: number): { readonly ours: Means; readonly theirs: readonly Means[] }
}

export const SYSTEM = 'You are a coding agent. Read before you write, and say what you did.'

/** As many messages, or items, as the libraries' own means leave: none of them counts tokens. */
export const LAST = 40

/** Gives the recorded replies one after the other, and what their calls gave. */
export class Script {
  #replies: Reply[] = []
  #calls = 0
  readonly #results = new Map<string, string>()

  begin(replies: readonly Reply[]): void {
    this.#replies = [...replies]
  }

  /** The next reply. Recordings use ids again: those of its calls are made new. */
  next(): Pick<Reply, 'text' | 'calls'> {
    const { text, calls, results } = this.#replies.shift() ?? {
      text: 'Done.',
      calls: [],
      results: new Map<string, string>(),
    }
    return {
      text,
      calls: calls.map((call) => {
        const id = `call_${this.#calls++}`
        this.#results.set(id, results.get(call.id) ?? '(no result was recorded)')
        return { ...call, id }
      }),
    }
  }

  resultOf(callId: string): string {
    return this.#results.get(callId) ?? ''
  }
}
