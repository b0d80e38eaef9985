import { describe, expect, it } from 'vitest'
import { type Context, type ModelEvent, type ScriptedModel, scriptedModel } from '../../../src/index.ts'
import { open } from './support.ts'

const contextOf = async (...texts: readonly string[]): Promise<Context> => {
  const session = open()
  for (const content of texts) await session.append({ role: 'user', content })
  return session.context({ tools: [{ name: 'find', inputSchema: { type: 'object' } }] })
}
const eventsOf = async (
  model: ScriptedModel,
  context: Context,
  signal?: AbortSignal,
): Promise<readonly ModelEvent[]> => {
  const events: ModelEvent[] = []
  for await (const event of model.complete({ context, ...(signal && { signal }) })) events.push(event)
  return events
}

describe('scriptedModel', () => {
  it('streams reasoning, text and calls, and ends with the whole reply', async () => {
    const model = scriptedModel([
      {
        reasoning: 'Hm.',
        text: 'I look it up.',
        deltas: ['I look', ' it up.'],
        calls: [
          { name: 'find', input: { q: 1 } },
          { name: 'find', input: {}, id: 'mine' },
        ],
        usage: { inputTokens: 5 },
      },
      ' two  words ',
    ])
    const context = await contextOf('Hello')
    const calls = [
      { type: 'tool-call', id: 'call_1', name: 'find', input: { q: 1 } },
      { type: 'tool-call', id: 'mine', name: 'find', input: {} },
    ]
    expect(await eventsOf(model, context)).toEqual([
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'I look' },
      { type: 'text', text: ' it up.' },
      ...calls.map((call) => ({ type: 'tool-call', call })),
      {
        type: 'finish',
        message: {
          role: 'assistant',
          content: [{ type: 'reasoning', text: 'Hm.' }, { type: 'text', text: 'I look it up.' }, ...calls],
        },
        usage: { inputTokens: 5 },
        reason: 'tool-calls',
      },
    ])
    expect(await eventsOf(model, context)).toEqual([
      { type: 'text', text: ' two' },
      { type: 'text', text: '  words' },
      { type: 'text', text: ' ' },
      { type: 'finish', message: { role: 'assistant', content: ' two  words ' }, reason: 'stop' },
    ])
    expect(model.requests).toEqual([context, context])
    expect(model.id).toBe('scripted')
  })

  it('says so when its script has come to its end', async () => {
    await expect(eventsOf(scriptedModel([], { id: 'mine' }), await contextOf('Hello'))).rejects.toThrow(
      'scriptedModel: mine was called 1 times, but its script has only 0 replies',
    )
  })

  it('asks a function for each reply', async () => {
    const model = scriptedModel(
      ({ call, tools, settings, context }) =>
        `${call} ${tools[0]?.name} ${settings.seed} ${context.blocks.length}`,
    )
    const context = await contextOf('Hello')
    await eventsOf(model, context)
    expect((await eventsOf(model, context)).at(-1)).toMatchObject({
      message: { content: '2 find undefined 1' },
    })
  })

  it('answers what asks for a summary by a script of its own', async () => {
    const model = scriptedModel(['One.', 'Two.'], { summaries: ['A summary.'] })
    const texts: unknown[] = []
    for (const asked of [
      ['Hello'],
      ['Hello', 'Summarize the following:\nabc'],
      ['Summarize the following', 'And?'],
    ]) {
      const [last] = (await eventsOf(model, await contextOf(...asked))).slice(-1)
      texts.push(last?.type === 'finish' && last.message.content)
    }
    expect(texts).toEqual(['One.', 'A summary.', 'Two.'])
    expect(model.requests).toHaveLength(3)
  })

  it('stops when it is aborted, at any point', async () => {
    const context = await contextOf('Hello')
    const reason = new Error('stop')
    await expect(eventsOf(scriptedModel(['x']), context, AbortSignal.abort(reason))).rejects.toBe(reason)
    const controller = new AbortController()
    const hanging = eventsOf(
      scriptedModel(() => new Promise<string>(() => {})),
      context,
      controller.signal,
    )
    controller.abort(reason)
    await expect(hanging).rejects.toBe(reason)
    const halfway = new AbortController()
    const heard: ModelEvent[] = []
    const reading = async (): Promise<void> => {
      for await (const event of scriptedModel(['a b c']).complete({ context, signal: halfway.signal })) {
        heard.push(event)
        halfway.abort(reason)
      }
    }
    await expect(reading()).rejects.toBe(reason)
    expect(heard).toHaveLength(1)
  })

  it('fails after what came before', async () => {
    const error = new Error('overloaded')
    const heard: ModelEvent[] = []
    const reading = async (): Promise<void> => {
      for await (const event of scriptedModel([{ text: 'Half', error }]).complete({
        context: await contextOf('x'),
      }))
        heard.push(event)
    }
    await expect(reading()).rejects.toBe(error)
    expect(heard).toEqual([{ type: 'text', text: 'Half' }])
  })
})

describe('a scripted reply', () => {
  it('is what it says and nothing else: no reasoning, usage, calls or error that was not given', async () => {
    const context = await contextOf('Hello')
    const model = scriptedModel([
      { reasoning: '', text: 'Hi' },
      { text: '', calls: [] },
      { text: 'Half', error: null },
    ])
    expect(await eventsOf(model, context)).toEqual([
      { type: 'reasoning', text: '' },
      { type: 'text', text: 'Hi' },
      {
        type: 'finish',
        message: {
          role: 'assistant',
          content: [
            { type: 'reasoning', text: '' },
            { type: 'text', text: 'Hi' },
          ],
        },
        reason: 'stop',
      },
    ])
    const [finish, ...more] = await eventsOf(model, context)
    expect(more).toEqual([])
    expect(finish).toStrictEqual({
      type: 'finish',
      message: { role: 'assistant', content: '' },
      reason: 'stop',
    })
    await expect(eventsOf(model, context)).rejects.toBe(null)
  })

  it('holds no empty text beside what it calls', async () => {
    const model = scriptedModel([{ text: '', calls: [{ name: 'find', input: {}, id: 'a' }] }])
    const finish = (await eventsOf(model, await contextOf('Hello'))).at(-1)
    expect(finish).toMatchObject({ message: { content: [{ type: 'tool-call', id: 'a' }] } })
  })

  it('stops at each of its calls when it is aborted', async () => {
    const controller = new AbortController()
    const calls = ['a', 'b'].map((id) => ({ name: 'find', input: {}, id }))
    const heard: ModelEvent[] = []
    const reading = async (): Promise<void> => {
      const context = await contextOf('Hello')
      for await (const event of scriptedModel([{ calls }]).complete({ context, signal: controller.signal })) {
        heard.push(event)
        controller.abort('enough')
      }
    }
    await expect(reading()).rejects.toBe('enough')
    expect(heard).toHaveLength(1)
  })

  it('is not asked for where it was stopped before', async () => {
    let asked = 0
    const model = scriptedModel(() => `${++asked}`)
    await expect(eventsOf(model, await contextOf('Hello'), AbortSignal.abort('no'))).rejects.toBe('no')
    expect(asked).toBe(0)
  })

  it('answers what asks for a summary in the tail, where nothing else is said', async () => {
    const session = open()
    const context = await session.context({ tail: 'Summarize the following: nothing' })
    const plain = {
      ...context,
      blocks: context.blocks.map((block) => ({
        ...block,
        parts: [{ type: 'text' as const, text: 'Summarize the following: nothing' }],
      })),
    }
    const model = scriptedModel(['Script.'], { summaries: ['Summary.'] })
    expect((await eventsOf(model, plain)).at(-1)).toMatchObject({ message: { content: 'Summary.' } })
  })
})
