import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { charsPerToken, mapStore, memoryTools, runAgent, scriptedModel } from '../../src/index.ts'
import { rewind } from '../../src/operations/rewind.ts'
import { readSource } from '../../src/operations/source.ts'
import { type FullSession, fullMemory } from '../contract/full-memory.ts'
import { changedStore } from '../everywhere/changed-store.ts'
import { runs } from './support/runs.ts'

function open(store = mapStore()): FullSession {
  return fullMemory({ store, budget: 2_000, counter: charsPerToken(4) }).session({ userId: 'ada' })
}

describe('reading originals back', () => {
  it('finds each message by its number, wherever marks and registers stand between them', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 30 }),
        async (batches) => {
          const store = mapStore()
          const session = open(store)
          let count = 0
          for (const size of batches) {
            await session.append(
              Array.from({ length: size }, () => ({ role: 'user' as const, content: `said ${++count}.` })),
            )
            await session.context({ newEpoch: true })
          }
          for (const number of new Set([1, 2, Math.ceil(count / 2), count - 1, count]))
            if (number >= 1 && number <= count)
              expect((await readSource(session, `#${number}`)).text).toBe(`User: said ${number}.`)
          await expect(readSource(session, `#${count + 1}`)).rejects.toMatchObject({ code: 'ERR_NOT_FOUND' })
        },
      ),
      runs(20),
    )
  })

  it('reads few pages of a long log', async () => {
    const store = mapStore()
    const session = open(store)
    for (let batch = 0; batch < 50; batch++)
      await session.append(
        Array.from({ length: 200 }, (_, index) => ({ role: 'user' as const, content: `${batch}/${index}` })),
      )
    let pages = 0
    const reading = open(
      changedStore(store, (scope) => ({
        changesSince: (seq) => {
          pages++
          return scope.changesSince(seq)
        },
      })),
    )
    expect((await readSource(reading, '#7777')).text).toBe('User: 38/176')
    expect(pages).toBeLessThanOrEqual(6)
  })

  it('gives one result whole, page by page, and a range of messages', async () => {
    const session = open()
    const long = Array.from({ length: 900 }, (_, line) => `line ${line}`).join('\n')
    await session.append([
      { role: 'user', content: 'Look.' },
      { role: 'assistant', content: [{ type: 'tool-call', id: 'c', name: 'read', input: { path: 'a.ts' } }] },
      { role: 'tool', content: [{ type: 'tool-result', callId: 'c', output: long }] },
    ])
    let text = ''
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const page = await readSource(session, '#3.1', { offset })
      text += page.text
      expect(page.total).toBe(long.length)
      offset = page.next
    }
    expect(text).toBe(long)
    expect(await readSource(session, '#1-#2')).toMatchObject({
      text: 'User: Look.\nCall of read: {"path":"a.ts"}',
      trust: 'assistant',
    })
  })

  it('does not give back what was rewound or forgotten, nor take a reference that is none', async () => {
    const store = mapStore()
    const session = open(store)
    const { messages } = await session.append([
      { role: 'user', content: 'first' },
      { role: 'assistant', content: 'second' },
    ])
    await rewind(session, messages[1]?.id ?? '')
    await expect(readSource(session, '#2')).rejects.toMatchObject({ code: 'ERR_NOT_FOUND' })
    for (const wrong of ['', 'x', '#0', '#3-#1', '#1.x'])
      await expect(readSource(session, wrong)).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
    await expect(readSource(session, '#1', { offset: -1 })).rejects.toMatchObject({ argument: 'offset' })
    await expect(readSource(session, '#1', { length: 0 })).rejects.toMatchObject({ argument: 'length' })
  })

  it('is a tool of the model, whose pages are shown whole and have the lowest trust', async () => {
    const session = open()
    const long = Array.from({ length: 900 }, (_, line) => `line ${line}`).join('\n')
    await session.append([
      { role: 'user', content: 'Look.' },
      { role: 'assistant', content: [{ type: 'tool-call', id: 'c', name: 'read', input: {} }] },
      { role: 'tool', content: [{ type: 'tool-result', callId: 'c', output: long }] },
    ])
    const model = scriptedModel([
      { calls: [{ name: 'memory_read_source', input: { reference: '#3.1' } }] },
      { calls: [{ name: 'memory_read_source', input: { reference: '#3.1', offset: 100 } }] },
      'Done.',
    ])
    await runAgent({ input: 'Go on.', model, session, tools: memoryTools(session) })
    const read =
      model.requests
        .at(-1)
        ?.blocks.filter(({ role }) => role === 'tool')
        .slice(1) ?? []
    expect(read.map(({ rule, trust }) => [rule, trust])).toEqual([
      ['verbatim', 'web'],
      ['verbatim', 'web'],
    ])
    expect(JSON.stringify(read[1]?.parts)).toContain('[from memory: #3.1, characters 100 to ')
  })
})
