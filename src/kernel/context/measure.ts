import type { Counter } from '../../ports/counter.ts'
import type { Message } from '../../ports/message.ts'
import type { LogRow } from '../../ports/store.ts'
import { countMessage, perRequest } from '../count.ts'
import type { Section } from '../feature.ts'
import type { Conversation } from '../log/fold.ts'
import type { Policy } from '../policy.ts'
import { BlockShelf } from './blocks.ts'
import { createHead, type Head, type HeadTexts, sum } from './head.ts'
import { keeper } from './keeper.ts'
import type { Secret } from './secret.ts'
import { Layout } from './window.ts'

/** What one call asks for, in the tokens of one epoch. */
export interface Call {
  readonly measure: Measure
  readonly head: Head
  readonly tail: readonly Pick<Section, 'name' | 'text' | 'trust' | 'use' | 'version'>[]
  /** Of its epoch in the lane's chain. */
  readonly place: number
  /** Tokens for window and tail together; without a line, `Infinity`. */
  readonly room: number
}

/** Counts in the tokens of one epoch: what the policy's counter says, times its calibration. */
export class Measure {
  readonly calibration: number
  /** The policy, with the counter of this epoch. */
  readonly policy: Policy
  readonly shelf: BlockShelf
  readonly #secret: Secret
  readonly #heads = keeper<Head>(1)
  #laid: { readonly conversation: Conversation; readonly layout: Layout } | undefined

  /** @param stored tokens of a whole message by the policy's counter. */
  constructor(
    policy: Policy,
    secret: Secret,
    calibration: number,
    stored: (row: LogRow, message: Message) => number,
  ) {
    this.#secret = secret
    this.calibration = calibration
    this.policy = { ...policy, counter: scaled(policy.counter, calibration) }
    this.shelf = new BlockShelf(this.policy, (row, message) => Math.ceil(stored(row, message) * calibration))
  }

  /** What a call asks for whose head has these texts. */
  call(texts: HeadTexts, place: number, tail: Call['tail'] = []): Call {
    const { system, memory, tools, trust, summary, parts = {} } = texts
    const { key } = this.#secret
    const by = [key, system, memory, tools, trust, summary, ...Object.entries(parts).flat()]
    const head = this.#heads(by, () => createHead(this.policy, texts, key))
    const { cap, margin, isOpen } = this.policy
    const room = isOpen ? Infinity : cap - margin - sum(head.tokens)
    return { measure: this, head, tail, place, room }
  }

  layout(conversation: Conversation): Layout {
    const laid = this.#laid
    if (laid?.conversation === conversation) return laid.layout
    const { origin, units } = conversation
    const isGrown = laid?.conversation.origin === origin
    const layout = isGrown ? laid.layout.grown(units) : new Layout(units, this.shelf)
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
