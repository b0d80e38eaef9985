import { generateText, isStepCount, jsonSchema, streamText, tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { memoryLoop, memoryToolSet, toToolSpecs } from '../../src/bridges/ai-sdk/index.ts'
import { lintRequest, mapStore, memoryToolSpecs, toOpenAI } from '../../src/index.ts'
import { type FullSession, fullMemory } from '../contract/full-memory.ts'
import { called, said, scripted } from './scripted.ts'

const open = (): FullSession =>
  fullMemory({ store: mapStore(), budget: 16_000 }).session({ userId: 'ada', sessionId: 'trip' })

describe('the memory tools in the loop of the SDK', () => {
  it('remember on the session, and the budget counts them as the model sees them', async () => {
    const session = open()
    await session.append({ role: 'user', content: 'When does it leave?' })
    const tools = memoryToolSet(session)
    const model = scripted([
      [called('c1', 'memory_finding', { text: 'The train leaves at 9:40.' })],
      [said('At 9:40.')],
    ])
    const loop = await memoryLoop(session, { tools })
    await streamText({ model, tools, stopWhen: isStepCount(3), ...loop }).consumeStream()
    await loop.settled()
    expect(await session.facts.list()).toMatchObject([
      { kind: 'finding', text: 'The train leaves at 9:40.', trust: 'assistant', pinned: false },
    ])
    expect(JSON.stringify(model.requests[1]?.prompt)).toContain('Remembered: finding f')
    expect(await toToolSpecs(tools)).toEqual(memoryToolSpecs(session))
    const context = await session.context({ tools: await toToolSpecs(tools), preview: true })
    expect(lintRequest(toOpenAI(context), 'openai')).toEqual([])
  })

  it('label what is remembered by what the steps before read', async () => {
    const session = open()
    await session.append({ role: 'user', content: 'Look it up.' })
    const tools = {
      ...memoryToolSet(session, ['finding', 'read_source']),
      browse: tool({ inputSchema: jsonSchema({ type: 'object' }), execute: async () => 'a page' }),
    }
    const model = scripted([
      [called('c1', 'browse', {})],
      [called('c2', 'memory_finding', { text: 'The page says 9:40.' })],
      [called('c3', 'memory_read_source', { reference: '#1' })],
      [called('c4', 'memory_finding', { text: 'The hotel is full.' })],
      [said('Done.')],
    ])
    const loop = await memoryLoop(session, { tools })
    await generateText({ model, tools, stopWhen: isStepCount(6), ...loop })
    expect((await session.facts.list()).map(({ text, trust }) => [text, trust])).toEqual([
      ['The hotel is full.', 'web'],
      ['The page says 9:40.', 'tool'],
    ])
  })

  it('give the model errors to read, for arguments too that nobody checked', async () => {
    const session = open()
    await session.append({ role: 'user', content: 'Forget it.' })
    const tools = memoryToolSet(session)
    const model = scripted([
      [
        called('c1', 'memory_forget', { fact: 'm-0' }),
        called('c2', 'memory_finding', { text: 'x', pinned: true }),
      ],
      [said('Done.')],
    ])
    const loop = await memoryLoop(session, { tools })
    await generateText({ model, tools, stopWhen: isStepCount(3), ...loop })
    const results = model.requests[1]?.prompt.at(-1)?.content
    expect(results).toMatchObject([
      { output: { type: 'error-text', value: expect.stringContaining('no fact m-0') } },
      {
        output: {
          type: 'error-text',
          value: expect.stringContaining('the arguments of memory_finding are invalid'),
        },
      },
    ])
    expect(await session.facts.list()).toEqual([])
  })
})
