import { describe, expect, it } from 'vitest'
import {
  type Context,
  charsPerToken,
  forget,
  lintRequest,
  type MessageInput,
  type Model,
  type ModelEvent,
  mapStore,
  runAgent,
  type Store,
  toAnthropic,
  toOpenAI,
} from '../../src/index.ts'
import { type FullSession, memoryWith } from '../contract/full-memory.ts'
import {
  content,
  eventsOf,
  memoryOf,
  type Options,
  open,
  round,
  type Summariser,
  scope,
  summariesIn,
  summariser,
  textOf,
} from './support/compacting.ts'

const tools = [{ name: 'find', inputSchema: { type: 'object' } }]
const ask = 'continuation'
const when = 'always'

/** Rounds with a context each, until the model was asked so often; all contexts that were given. */
async function talk(session: FullSession, model: Summariser, calls: number): Promise<readonly Context[]> {
  const contexts: Context[] = []
  for (let index = 0; model.requests.length < calls && index < 90; index++) {
    const [question = question0, answer = question0] = round(index, `Say ${'go '.repeat(index % 7)}`)
    await session.append(question)
    contexts.push(await session.context({ tools }))
    await session.append(answer)
  }
  return contexts
}
const question0: MessageInput = { role: 'user', content: 'Go on.' }

describe('a summary that is asked for by one more turn', () => {
  it('goes on with a request that was sent: the same head, tools and messages, and a question', async () => {
    const model = content()
    const contexts = await talk(open({ model, ask, when }, { system: 'You are a travel agent.' }), model, 3)
    for (const asked of model.contexts) {
      const sent = contexts.find(
        ({ head, blocks }) => head === asked.head && blocks.length === asked.blocks.length - 1,
      )
      expect(asked.blocks.slice(0, -1)).toEqual(sent?.blocks)
      expect([asked.tools, asked.head, asked.fence]).toEqual([sent?.tools, sent?.head, sent?.fence])
      expect(lintRequest(toOpenAI(asked), 'openai')).toEqual([])
      expect(lintRequest(toAnthropic(asked), 'anthropic')).toEqual([])
      const before = toOpenAI(sent as Context)
      const after = toOpenAI(asked)
      expect(after.messages.slice(0, -1)).toEqual(before.messages)
      expect(after.messages.at(-1)?.role).toBe('user')
    }
    expect(model.contexts.at(-1)?.blocks.some(({ section }) => section === 'memory')).toBe(true)
  })

  it('never passes the line, its answer included, where the calls before it were as large as they may be', async () => {
    const model = content()
    const contexts = await talk(open({ model, ask, when, summaryTokens: 90 }), model, 4)
    for (const { receipt, blocks } of model.contexts) {
      expect(receipt.used + 90).toBeLessThanOrEqual(1_000)
      expect(receipt.used).toBe(blocks.reduce((sum, { tokens }) => sum + tokens, toolTokens(contexts)))
    }
    // The room for it is kept free of messages.
    for (const { receipt } of contexts) expect(receipt.used).toBeLessThanOrEqual(1_000)
  })

  it('says which message stays, and covers what stands before it', async () => {
    const model = content()
    const store = mapStore()
    const session = open({ model, ask, when }, {}, store)
    await talk(session, model, 2)
    const marks = await summariesIn(store)
    for (const [index, { upto }] of marks.entries()) {
      const asked = model.contexts[index] as Context
      const [, stays = 'nothing'] = / stays>\n([\s\S]*?)\n<\//.exec(model.requests[index] ?? '') ?? []
      const border = asked.blocks.findIndex(({ from }) => from[0] === upto)
      const shown = textOf({ blocks: asked.blocks.slice(border, border + 1) })
      expect(border < 0 ? stays === 'nothing' : shown.startsWith(stays)).toBe(true)
    }
    expect(marks).toHaveLength(2)
  })

  it('refuses a call as an answer, and asks apart then', async () => {
    const model = summariser(() => 'They planned a trip.')
    let calls = 0
    const calling: Model = {
      id: 'caller',
      async *complete(request): AsyncGenerator<ModelEvent> {
        calls++
        if (!request.context.tools) return yield* model.complete(request)
        const call = { type: 'tool-call', id: 'c', name: 'find', input: {} } as const
        const message = {
          role: 'assistant',
          content: [{ type: 'text', text: 'They planned.' }, call],
        } as const
        yield { type: 'finish', message, reason: 'tool-calls' }
      },
    }
    const session = open({ model: calling, ask, when })
    const events = eventsOf(session)
    const contexts = await talk(session, model, 1)
    const context = await session.context({ tools })
    expect(calls).toBe(2)
    expect(memoryOf(contexts.at(-1) as Context) + memoryOf(context)).toContain('They planned a trip.')
    expect(events[0]).toMatchObject({ status: 'summarised', by: 'caller', reasons: ['it called a tool'] })
  })

  /** Short messages, until the model was asked; the index of the first of them that stays. */
  async function chat(
    session: FullSession,
    model: Summariser,
    store: Store,
    web = Infinity,
  ): Promise<number> {
    for (let index = 0; model.requests.length === 0; index++) {
      const role = index % 2 ? ('assistant' as const) : ('user' as const)
      const trust = index < web ? ('assistant' as const) : ('web' as const)
      await session.append({ role, content: `Message ${index}. Go on.`, trust })
      await session.context()
    }
    const [mark] = await summariesIn(store)
    return model.contexts[0]?.blocks.findIndex(({ from }) => from[0] === mark?.upto) ?? -1
  }

  it('is of the lowest trust of all that the model read', async () => {
    const model = content()
    const store = mapStore()
    const border = await chat(open({ model, ask, when }, {}, store), model, store, 90)
    expect(model.contexts[0]?.blocks[border]?.trust).toBe('assistant')
    expect((await summariesIn(store))[0]?.trust).toBe('web')
  })

  it('goes with any message that the model read, also one that stayed', async () => {
    const model = content('They planned a secret trip.')
    const store = mapStore()
    const session = open({ model, ask, when }, {}, store)
    const border = await chat(session, model, store)
    expect(border).toBeGreaterThan(0)
    await forget(session, model.contexts[0]?.blocks[border + 1]?.from[0] as string)
    expect(JSON.stringify(await summariesIn(store))).not.toContain('secret')
  })

  it('goes with a fact that the head showed', async () => {
    const model = content('They planned a secret trip.')
    const store = mapStore()
    const memory = memoryWith(['compaction', 'facts'], {
      budget: { contextWindow: 1_000, maxOutputTokens: 0, margin: 0 },
      counter: charsPerToken(4),
      clock: () => 0,
      compaction: { ahead: false, model, ask, when },
      store,
    })
    const session = memory.session(scope) as FullSession
    const { fact } = await session.facts.remember({ kind: 'preference', text: 'A secret seat.' })
    await talk(session, model, 1)
    expect(textOf(model.contexts[0] as Context)).toContain('A secret seat.')
    await forget(session, fact.id)
    expect(JSON.stringify(await summariesIn(store))).not.toContain('secret')
  })

  it('asks apart for what an epoch had to do without', async () => {
    const model = content()
    let isFailing = false
    const pins = () => {
      if (isFailing) throw new Error('not now')
      return []
    }
    const session = open({ model, ask, when, pins })
    const events = eventsOf(session)
    for (let index = 0; model.requests.length < 3; index++) {
      await session.append(round(index))
      await session.context()
      isFailing = events.length === 1
    }
    expect(events.map(({ status }) => status).slice(0, 3)).toEqual(['summarised', 'refused', 'summarised'])
    expect(model.contexts.map(({ blocks }) => blocks.length === 1)).toEqual([false, true, false])
  })

  it('asks apart where nothing was sent', async () => {
    const model = content()
    const session = open({ model, ask, when })
    await session.append(round(0))
    await session.context()
    await session.append(Array.from({ length: 18 }, (_, index) => round(index + 1)).flat())
    await session.context({ tools })
    expect(model.contexts.map(({ tools, blocks }) => [tools, blocks.length])).toEqual([[undefined, 1]])
  })
})

describe('how it is asked, where the app does not say', () => {
  const usage = { inputTokens: 100, outputTokens: 5 }
  const agent = (id: string): Model => ({
    id,
    async *complete(): AsyncGenerator<ModelEvent> {
      const message = { role: 'assistant', content: 'It comes back at night. '.repeat(8) } as const
      yield { type: 'finish', message, reason: 'stop', usage }
    },
  })
  const asked = async (id: string, compaction: Options['compaction'] = {}): Promise<readonly Context[]> => {
    const model = content('They planned a trip.', 'a')
    const session = open({ model, ...compaction })
    for (let index = 0; model.requests.length === 0 && index < 90; index++)
      await runAgent({ session, model: agent(id), input: { ...(round(index)[0] as MessageInput) } })
    return model.contexts
  }

  it('is by one more turn of the model that wrote the newest reply, else apart', async () => {
    expect((await asked('a', { when }))[0]?.blocks.length).toBeGreaterThan(2)
    expect((await asked('b'))[0]?.blocks).toHaveLength(1)
    expect((await asked('a', { ask: 'apart' }))[0]?.blocks).toHaveLength(1)
  })

  it('is where that pays, of the model that wrote the newest reply, and always of another', async () => {
    expect(await asked('a')).toEqual([])
    expect(await asked('b', { when: 'pays' })).toEqual([])
    expect(await asked('b')).toHaveLength(1)
  })

  it('is where that pays, before the first request and the first reply', async () => {
    const first = async (compaction: Options['compaction'], replies: number): Promise<number> => {
      const model = content()
      const session = open({ model, ...compaction })
      const messages = [0, 1, 2, 3].flatMap((index) => round(index, 'go '.repeat(400)).slice(0, 1 + replies))
      await session.append(messages)
      await session.context()
      return model.requests.length
    }
    expect(await first({}, 0)).toBe(0)
    expect(await first({}, 1)).toBe(1)
    expect(await first({ when }, 0)).toBe(1)
    expect(await first({ ask: 'apart' }, 0)).toBe(1)
  })

  it('is apart where no reply says which model wrote it', async () => {
    const model = content()
    await talk(open({ model }), model, 1)
    expect(model.contexts[0]?.blocks).toHaveLength(1)
  })
})

describe('a summary that would not pay', () => {
  it('is not written, the model not asked, and the window cut as without compaction', async () => {
    const model = content()
    const session = open({ model, ask })
    const plain = memoryWith([], {
      budget: { contextWindow: 1_000, maxOutputTokens: 0, margin: 0 },
      counter: charsPerToken(4),
      clock: () => 0,
      store: mapStore(),
    }).session(scope)
    const events = eventsOf(session)
    for (let index = 0; index < 30; index++) {
      const shown = []
      for (const one of [session, plain]) {
        await one.append(round(index))
        shown.push((await one.context()).blocks.map(({ parts }) => parts))
      }
      expect(shown[0]).toEqual(shown[1])
    }
    expect(model.requests).toEqual([])
    expect(events[0]?.status).toBe('refused')
    expect(events[0]?.reasons[0]).toMatch(/^it would cost \d+ tokens, and save \d+ at most$/)
  })

  it('is not written ahead of need either', async () => {
    const model = content()
    const session = open({ model, ask, ahead: 0.5 })
    for (let index = 0; index < 30; index++) {
      await session.append(round(index))
      await session.context()
      expect(await session.compaction.run()).toEqual({ status: 'none' })
    }
    expect(model.requests).toEqual([])
  })

  it('is written where calls are many and short, and promise twelve times its price', async () => {
    /** Messages of that many words until one is written, of 500 at most. */
    const messages = async (words: number): Promise<number> => {
      const model = content()
      const session = open(
        { model, ask },
        { budget: { contextWindow: 8_000, maxOutputTokens: 0, margin: 0 } },
      )
      for (let index = 0; index < 500; index++) {
        await session.append({
          role: index % 2 ? 'assistant' : 'user',
          content: `Say ${index}. ${'go '.repeat(words)}`,
        })
        await session.context()
        if (model.requests.length > 0) return index
      }
      return Number.POSITIVE_INFINITY
    }
    expect(await messages(30)).toBeLessThan(500)
    // The cut at message 148 promises eight times its price.
    expect(await messages(60)).toBe(157)
  })
})

describe('compaction() with ask', () => {
  it.each([
    [{ ask: 'continuation' }, /ask needs a model/],
    [{ model: content(), ask: 'later' }, /ask must be one of continuation, apart/],
    [{ model: content(), when: 'never' }, /when must be one of pays, always/],
    [{ model: content(), toolChoice: 'required' }, /toolChoice must be one of auto, none/],
    [{ model: content(), ask: 'apart', toolChoice: 'none' }, /toolChoice needs a model that is asked by/],
    [{ toolChoice: 'none' }, /toolChoice needs a model that is asked by/],
  ])('refuses %j', (compaction, message) => {
    expect(() => open(compaction as never)).toThrow(message)
  })

  it('gives the tool choice of the agent', async () => {
    const seen: unknown[] = []
    const model = content()
    const choosing: Model = {
      id: 'choosing',
      complete: (request) => {
        seen.push(request.settings?.toolChoice)
        return model.complete(request)
      },
    }
    await talk(open({ model: choosing, ask, when, toolChoice: 'none' }), model, 1)
    expect(seen).toEqual(['none'])
  })

  it('counts the price of a summary before it cuts early', async () => {
    const cuts = async (compaction: Options['compaction']): Promise<number> => {
      const session = open(compaction ?? {}, {
        budget: { contextWindow: 4_000, maxOutputTokens: 0, margin: 0 },
        window: { keep: { tokens: 500 } },
      })
      for (let index = 0; ; index++) {
        await session.append(round(index))
        const { receipt } = await session.context()
        if (typeof receipt.epoch === 'object' && receipt.epoch.place > 1) return index
      }
    }
    const extract = await cuts({})
    const apart = await cuts({ model: content(), ask: 'apart' })
    const continued = await cuts({ model: content(), ask })
    expect(apart).toBeGreaterThan(continued)
    expect(continued).toBeGreaterThan(extract)
  })
})

/** What tools take in a context. */
function toolTokens([context]: readonly Context[]): number {
  return context?.receipt.sections.find(({ name }) => name === 'tools')?.tokens ?? 0
}
