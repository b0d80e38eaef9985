import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Block,
  type Context,
  charsPerToken,
  isPlimsollError,
  type LogRow,
  lintRequest,
  type Message,
  type MessageInput,
  mapStore,
  toAnthropic,
  toOpenAI,
  utf8Bound,
} from '../../src/index.ts'
import { type FullMemoryOptions, type FullSession, fullMemory } from '../contract/full-memory.ts'
import { expectAllAccounted } from './support/coverage.ts'
import { type Action, calling, histories } from './support/histories.ts'
import { runs } from './support/runs.ts'
import { rewindAt, TOOLS, undoIfAny } from './support/scene.ts'

type Options = Omit<FullMemoryOptions, 'store'>

/** Policies of different lanes. */
const policies: readonly Options[] = [
  { budget: 900, counter: utf8Bound, toolOutput: { first: 60, old: 30 } },
  { budget: 500, counter: charsPerToken(4), toolOutput: { first: 60, old: 30 } },
  { budget: 2_000, counter: utf8Bound, window: { max: { rounds: 3 } } },
  { budget: 2_500, counter: utf8Bound, window: { max: { messages: 9 }, keep: { messages: 4 } } },
]

/** Which tab acts, and, now and then, which of the newest rounds it names. */
interface Turn {
  readonly who: number
  readonly round: number | undefined
}
const turn: fc.Arbitrary<Turn> = fc.record({
  who: fc.nat(2),
  round: fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.nat(2) }),
})
const turns = fc.array(turn, { minLength: 60, maxLength: 60 })

interface Tab {
  readonly options: Options
  session: FullSession
  /** The last context that this tab sent. */
  last: Context | undefined
}
/**
 * One call, after it was made: its context, what a cold start foretold, and the messages that were
 * in the log.
 */
interface Call {
  readonly tab: Tab
  readonly tail: string
  readonly context: Context
  readonly foretold: Context | undefined
  readonly ids: readonly string[]
}

const scope = { userId: 'ada', sessionId: 'trip' }
const body = ({ blocks }: Context): readonly Block[] => blocks.filter(({ section }) => section !== 'tail')

/** Three tabs of one session, in as many lanes as there are policies. */
class Tabs {
  readonly tabs: readonly Tab[]
  readonly #store = mapStore()
  readonly #log = this.#store.open(scope)
  #ids = 0

  constructor(lanes: readonly Options[]) {
    this.tabs = [0, 1, 2].flatMap((index) => {
      const options = lanes[index % lanes.length]
      return options ? { options, session: this.open(options), last: undefined } : []
    })
  }

  /** A session with nothing in memory. */
  open(options: Options): FullSession {
    const newId = (): string => `id-${++this.#ids}`
    return fullMemory({ clock: () => 0, newId, ...options, store: this.#store }).session(scope)
  }

  /** The tabs of one lane. */
  of({ options }: Tab): readonly Tab[] {
    return this.tabs.filter((tab) => tab.options === options)
  }

  async play(
    actions: readonly Action[],
    turns: readonly Turn[],
    onCall: (call: Call) => Promise<void>,
  ): Promise<void> {
    for (const [index, action] of actions.entries()) {
      const turn = turns[index]
      const tab = turn && this.tabs[turn.who]
      if (tab) await this.#act(tab, action, turn.round, onCall)
    }
  }

  /** The context, unless the law allows a refusal. */
  async context(session: FullSession, tail: string, preview: boolean): Promise<Context | undefined> {
    try {
      return await session.context({
        ...(tail !== '' && { tail }),
        tools: TOOLS.slice(0, 1),
        onPending: 'abandon',
        preview,
      })
    } catch (error) {
      if (
        isPlimsollError(error, 'ERR_BUDGET_TOO_SMALL') &&
        error.breakdown &&
        error.breakdown.floor > error.breakdown.cap
      )
        return undefined
      throw error
    }
  }

  async #act(
    tab: Tab,
    action: Action,
    round: number | undefined,
    onCall: (call: Call) => Promise<void>,
  ): Promise<void> {
    const { session } = tab
    switch (action.type) {
      case 'say':
        await session.append({ role: 'user', content: action.text })
        return
      case 'answer':
        await this.#join(tab, { role: 'assistant', content: action.text }, round)
        return
      case 'note':
        await this.#join(tab, { role: 'system', content: action.text }, round)
        return
      case 'call':
        await this.#join(tab, calling(action), round)
        return
      case 'result':
      case 'late':
      case 'orphan': {
        const callId = await this.#callOf(action)
        if (callId === undefined) return
        const content = [{ type: 'tool-result', callId, output: action.output } as const]
        await this.#join(tab, { role: 'tool', content }, round)
        return
      }
      case 'rewind':
        await rewindAt(session, action.place)
        return
      case 'undo':
        await undoIfAny(session)
        return
      case 'reopen':
        tab.session = this.open(tab.options)
        return
      case 'context':
        await this.#call(tab, action.tail, onCall)
    }
  }

  /** Builds a context, after a cold start has said what it would be. */
  async #call(tab: Tab, tail: string, onCall: (call: Call) => Promise<void>): Promise<void> {
    const ids = (await this.#rows()).map(({ id }) => id)
    const foretold = await this.context(this.open(tab.options), tail, true)
    const context = await this.context(tab.session, tail, false)
    expect(context === undefined).toBe(foretold === undefined)
    if (!context) return
    await onCall({ tab, tail, context, foretold, ids })
    tab.last = context
  }

  /** Appends to the round that the tab is in, or to one of the newest three in the log. */
  async #join({ session }: Tab, message: MessageInput, back: number | undefined): Promise<void> {
    const rounds = [...new Set((await this.#rows()).flatMap(({ round }) => round ?? []))]
    const round = back === undefined ? undefined : rounds.at(-1 - (back % Math.min(3, rounds.length)))
    await session.append(message, round === undefined ? {} : { round })
  }

  async #callOf(action: Extract<Action, { output: string }>): Promise<string | undefined> {
    if (action.type === 'orphan') return 'nobody'
    const calls = (await this.#rows()).flatMap(({ body }) => {
      const { content } = JSON.parse(body ?? '{"content":""}') as Pick<Message, 'content'>
      if (typeof content === 'string') return []
      return content.flatMap((part) => (part.type === 'tool-call' ? part.id : []))
    })
    return calls.at(action.type === 'late' ? Math.floor(action.place * calls.length) : -1)
  }

  /** The messages in the log. */
  async #rows(): Promise<readonly LogRow[]> {
    return (await this.#log.entries({ kinds: ['message'] })).rows
  }
}

function keepsTheLine({ context: { receipt } }: Call): void {
  expect(receipt.used + receipt.margin).toBeLessThanOrEqual(receipt.cap ?? Infinity)
  expect(receipt.epoch).not.toBe('unsaved')
}

function isValid({ context }: Call): void {
  expect(lintRequest(toOpenAI(context), 'openai')).toEqual([])
  expect(lintRequest(toAnthropic(context), 'anthropic')).toEqual([])
}

function onlyGrows({ context }: Call, lane: readonly Tab[]): void {
  for (const { last } of lane)
    if (last?.epoch === context.epoch) expect(body(context).slice(0, body(last).length)).toEqual(body(last))
}

function agrees(other: Context | undefined, context: Context): void {
  expect(other?.hash).toBe(context.hash)
  expect(other?.receipt.omitted).toEqual(context.receipt.omitted)
}

function forAll(lanes: number): Promise<void> {
  const chosen = fc.shuffledSubarray([...policies], { minLength: lanes, maxLength: lanes })
  return fc.assert(
    fc.asyncProperty(chosen, histories, turns, async (options, actions, turns) => {
      const scene = new Tabs(options)
      await scene.play(actions, turns, async (call) => {
        const { tab, tail, context, foretold } = call
        const lane = scene.of(tab)
        keepsTheLine(call)
        isValid(call)
        expectAllAccounted(call.context, call.ids)
        onlyGrows(call, lane)
        agrees(foretold, context)
        for (const { session } of lane) agrees(await scene.context(session, tail, true), context)
        agrees(await scene.context(scene.open(tab.options), tail, true), context)
      })
    }),
    runs(60),
  )
}

describe('several tabs keep the laws over any history, and agree with each other and with a cold start', () => {
  it('in one lane', async () => {
    await forAll(1)
  })

  it('in two lanes', async () => {
    await forAll(2)
  })
})
