import type { Counter } from '../../ports/counter.ts'
import type { Message } from '../../ports/message.ts'
import type { LogRow } from '../../ports/store.ts'
import { BlockShelf } from './blocks.ts'
import { countMessage, perRequest } from './count.ts'
import type { Conversation } from '../log/fold.ts'
import { createHead, type Head, type HeadParts, type HeadTexts } from './head.ts'
import type { Policy } from '../policy.ts'
import { Layout } from './window.ts'

/** Counts in the tokens of one epoch: what the policy's counter says, times the epoch's calibration. */
export class Measure {
  readonly calibration: number
  /** The policy, with the counter of this epoch. */
  readonly policy: Policy
  readonly shelf: BlockShelf
  #head: Head | undefined
  #laid: { readonly conversation: Conversation; readonly layout: Layout } | undefined

  /** @param stored tokens of a whole message by the policy's counter. */
  constructor(policy: Policy, calibration: number, stored: (row: LogRow, message: Message) => number) {
    this.calibration = calibration
    this.policy = { ...policy, counter: scaled(policy.counter, calibration) }
    this.shelf = new BlockShelf(this.policy, (row, message) => Math.ceil(stored(row, message) * calibration))
  }

  /** The head of these texts. The last one is kept. */
  head(texts: HeadTexts): Head {
    const head = this.#head
    // The memory text names its summary's place, so that it tells one summary from another.
    if (
      !head ||
      head.system !== texts.system ||
      head.memory !== texts.memory ||
      head.tools !== texts.tools ||
      !isSame(head.parts, texts.parts)
    )
      this.#head = createHead(this.policy, texts)
    return this.#head as Head
  }

  /** Tokens for window and tail together. */
  room({ tokens }: Head): number {
    const { cap, margin } = this.policy
    return cap - margin - tokens.system - tokens.memory - tokens.tools - tokens.framing
  }

  layout(conversation: Conversation): Layout {
    const laid = this.#laid
    if (laid?.conversation === conversation) return laid.layout
    const { units, origin } = conversation
    const layout =
      laid?.conversation.origin === origin ? laid.layout.grown(units) : new Layout(units, this.shelf)
    this.#laid = { conversation, layout }
    return layout
  }
}

function scaled(counter: Counter, calibration: number): Counter {
  if (calibration === 1) return counter
  const times = (tokens: number): number => Math.ceil(tokens * calibration)
  return {
    id: counter.id,
    kind: counter.kind,
    count: (text) => times(counter.count(text)),
    message: (message) => times(countMessage(counter, message)),
    perRequest: times(perRequest(counter)),
  }
}

/** Whether features show the very same. */
function isSame(one: HeadParts = {}, other: HeadParts = {}): boolean {
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name])
}
