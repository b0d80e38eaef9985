import { BlockShelf } from '../kernel/context/blocks.ts'
import { cutBack, exceededBy } from '../kernel/context/cut.ts'
import { WHOLE } from '../kernel/context/plan.ts'
import { type Band, Layout } from '../kernel/context/window.ts'
import { countMessage } from '../kernel/count.ts'
import { fold } from '../kernel/log/fold.ts'
import { createPolicy } from '../kernel/policy.ts'
import type { Block, Omitted } from '../ports/context.ts'
import type { Counter } from '../ports/counter.ts'
import type { Message } from '../ports/message.ts'
import type { Limits } from '../ports/session.ts'
import type { LogRow } from '../ports/store.ts'
import { checkOptions } from '../text/json.ts'

/** What shows of a conversation that is kept nowhere. */
export interface PlainShown {
  readonly blocks: readonly Block[]
  /** Errors in the place of results that never came. */
  readonly waiting: readonly Block[]
  readonly omitted: readonly Omitted[]
}

/** Limits a conversation without a memory, by the rules of a memory's window; there is no line. */
export class PlainWindow {
  readonly #counter: Counter
  /** Where the window of each set of limits begins. */
  readonly #bands = new Map<string, Band>()

  constructor(counter: Counter) {
    this.#counter = counter
  }

  /** @throws ERR_INVALID_ARGUMENT */
  show(messages: readonly Message[], limits: Limits): PlainShown {
    checkOptions('context', 'limits', limits, ['window', 'toolOutput'])
    const budget = Number.MAX_SAFE_INTEGER
    const policy = createPolicy({ ...limits, budget }, this.#counter, () => ({}), 'context')
    const rows = rowsOf(messages)
    const { units, unshown } = fold(rows, ({ ordinal }) => messages[ordinal - 1])
    const shelf = new BlockShelf(policy, (_, message) => countMessage(this.#counter, message))
    const layout = new Layout(units, shelf)
    const known = this.#bands.get(policy.lane)
    const holds = known && rows.some(({ id }) => id === known.windowFrom)
    let band = holds ? known : WHOLE
    let window = layout.show(band, rows)
    // The newest unit always shows, whatever the limits.
    if (window.from < units.length - 1 && exceededBy(policy, units, window)) {
      const { from: start } = window
      const { keep } = policy
      const room = Number.POSITIVE_INFINITY
      const task = { start, oldBefore: 0, room, keep: keep.tokens ?? room, limits: keep }
      band = cutBack(layout, policy, task) ?? band
      window = layout.show(band, rows)
      this.#bands.set(policy.lane, band)
    }
    const left = units.slice(0, window.from).filter((unit) => unit !== window.opener)
    const gone = left.flatMap(({ row, results }) => [row, ...results.map((result) => result.row)])
    const [first, last] = [gone[0], gone.at(-1)]
    return {
      blocks: window.blocks,
      waiting: window.waiting,
      omitted: [
        ...(first && last
          ? [{ from: first.id, to: last.id, count: gone.length, reason: 'window' as const }]
          : []),
        ...unshown.map(({ row: { id }, reason }): Omitted => ({ from: id, to: id, count: 1, reason })),
      ],
    }
  }
}

/** Rows as a log would have them: with each user message a round begins. */
function rowsOf(messages: readonly Message[]): readonly LogRow[] {
  let round = messages[0]?.id ?? ''
  return messages.map(({ id, role }, index) => {
    if (role === 'user') round = id
    return { seq: index + 1, place: 0, kind: 'message', id, opId: id, ordinal: index + 1, round, body: '' }
  })
}
