import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mapStore } from '../../../src/index.ts'
import { exportFrom } from '../../../src/operations/transfer/export.ts'
import { elementsOf } from '../../../src/replay/json-elements.ts'
import { faultyLine } from '../../../src/replay/json-fault.ts'
import { type LogItem, readLog } from '../../../src/replay/read-log.ts'
import { fullMemory } from '../../contract/full-memory.ts'
import { chatGPT } from '../support/chatgpt.ts'
import { claude } from '../support/claude.ts'
import { jsonl, plimsoll } from '../support/command.ts'
import { assistant, calculator, trip, user } from '../support/recordings.ts'
import { runs } from '../support/runs.ts'

async function read(text: string, size = text.length || 1) {
  const chunks = Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
    text.slice(at * size, (at + 1) * size),
  )
  const items: LogItem[] = []
  const unreadable: string[] = []
  for await (const item of readLog(chunks, 'log', (line, reason) => unreadable.push(`${line}: ${reason}`)))
    items.push(item)
  return { items, unreadable }
}

/** Ids and what was said. */
async function said(text: string) {
  const { items, unreadable } = await read(text)
  const conversations = items.flatMap((item) => (item.type === 'conversation' ? [item] : []))
  return {
    unreadable,
    conversations: conversations.map(({ conversation: { id, messages }, title, line }) => ({
      id,
      title,
      line,
      messages: messages.map(({ role, content }) => `${role}: ${JSON.stringify(content)}`),
    })),
  }
}

describe('a log', () => {
  it('of recordings is read as the command reads it', async () => {
    const { items } = await read(trip['trip.jsonl'])
    expect(items).toHaveLength(1)
    expect(items[0]).toMatchObject({
      type: 'conversation',
      line: 1,
      conversation: { id: 'trip', format: 'openai' },
    })
  })

  it('of plain messages is one conversation, named by the file; a broken line is reported by its number', async () => {
    const text = `${jsonl(user('One'), assistant('Two'))}{"role":"user"}\n\nnot json\n${jsonl({ role: 'user', text: 'Three' })}`
    const { conversations, unreadable } = await said(text)
    expect(conversations).toEqual([
      { id: 'log', title: '', line: 1, messages: ['user: "One"', 'assistant: "Two"', 'user: "Three"'] },
    ])
    expect(unreadable).toHaveLength(2)
    expect(unreadable[0]).toMatch(/^3: no "content"/)
    expect(unreadable[1]).toMatch(/^5: .*JSON/)
  })

  it('whose first line is broken is still read as lines', async () => {
    const { conversations, unreadable } = await said(
      `{"role":"user","content":"cut\n${jsonl(user('One'), assistant('Two'))}`,
    )
    expect(conversations[0]?.messages).toEqual(['user: "One"', 'assistant: "Two"'])
    expect(unreadable).toHaveLength(1)
    expect(unreadable[0]).toMatch(/^1: /)
  })

  it('of plain messages leaves out what no memory takes', async () => {
    const lone = '{"role":"user","content":"half \\ud83d a smile"}\n'
    const { conversations, unreadable } = await said(
      `${jsonl(user('One'))}${lone}${jsonl({ role: 'alien', content: 'Hi' }, assistant('Two'))}`,
    )
    expect(conversations[0]?.messages).toEqual(['user: "One"', 'assistant: "Two"'])
    expect(unreadable.map((text) => text.slice(0, 2))).toEqual(['2:', '3:'])
  })

  it('of ChatGPT is its current branch, with reasoning, calls and results', async () => {
    const { conversations, unreadable } = await said(JSON.stringify([chatGPT], null, 1))
    expect(unreadable).toEqual([])
    expect(conversations).toEqual([
      {
        id: 'c-1',
        title: 'Tea',
        line: 2,
        messages: [
          'user: "Hi"',
          'assistant: [{"type":"tool-call","id":"m-lookup()","name":"browser","input":"lookup()"}]',
          'tool: [{"type":"tool-result","callId":"m-lookup()","output":"Found tea"}]',
          'assistant: [{"type":"reasoning","text":"Tea\\nWhich tea?"}]',
          'assistant: "Green tea."',
        ],
      },
    ])
  })

  it('of Claude is its current branch, what it says of itself beside what the list says', async () => {
    const { conversations, unreadable } = await said(JSON.stringify([claude], null, 1))
    expect(unreadable).toEqual([])
    expect(conversations).toMatchObject([{ id: 'c-9', title: 'Trains', line: 2 }])
    expect(conversations[0]?.messages).toEqual([
      'user: [{"type":"text","text":"When does it leave?"},{"type":"text","text":"[plan.txt]\\nBy train."},{"type":"text","text":"[map.png]"}]',
      'assistant: [{"type":"reasoning","text":"Look it up."},{"type":"tool-call","id":"t1","name":"timetable","input":{"to":"Turin"}}]',
      'tool: [{"type":"tool-result","callId":"t1","output":"9:40"}]',
      'assistant: "At 9:40."',
    ])
  })

  it('of ChatGPT whose tree goes in a circle, or has no current node, ends', async () => {
    const { current_node: _, ...without } = chatGPT
    const circle = {
      ...chatGPT,
      mapping: { ...chatGPT.mapping, a: { ...chatGPT.mapping.a, parent: 'e' } },
    }
    const { conversations } = await said(JSON.stringify([without, circle]))
    expect(conversations[0]?.messages).toEqual(['user: "Hi"', 'assistant: "Another branch"'])
    expect(conversations[1]?.messages).toEqual(
      (await said(JSON.stringify([chatGPT]))).conversations[0]?.messages,
    )
  })

  it('of ChatGPT that was cut off keeps what is whole, and says where it ends', async () => {
    const text = JSON.stringify([chatGPT, chatGPT], null, 1)
    const { conversations, unreadable } = await said(text.slice(0, -40))
    expect(conversations).toHaveLength(1)
    const lines = text.slice(0, -40).split('\n').length
    expect(unreadable).toEqual([`${lines}: the file ends inside of its list`])
  })

  it('that is a list of messages and was cut off keeps what is whole', async () => {
    const { conversations, unreadable } = await said(
      '[{"role":"user","content":"One"},\n{"role":"assistant","content":"Two"},\n{"role"',
    )
    expect(conversations[0]?.messages).toEqual(['user: "One"', 'assistant: "Two"'])
    expect(unreadable).toEqual(['3: the file ends inside of its list'])
  })

  it('that is an export of this library has its sessions, and what was not whole is reported', async () => {
    const memory = fullMemory({ store: mapStore(), budget: 4_000 })
    for (const sessionId of ['one', 'two']) {
      const session = memory.session({ userId: 'ada', sessionId })
      await session.append({ role: 'user', content: `I am in ${sessionId}` })
      const call = { type: 'tool-call', id: 'c', name: 'look', input: {} } as const
      await session.append({ role: 'assistant', content: [call] })
      await session.append({
        role: 'tool',
        content: [{ type: 'tool-result', callId: 'c', output: 'A tree' }],
      })
      await session.append({ role: 'assistant', content: 'I see a tree.' })
    }
    const lines: string[] = []
    for await (const line of exportFrom(memory, { userId: 'ada' })) lines.push(line)
    const whole = await said(lines.join(''))
    expect(whole.unreadable).toEqual([])
    expect(whole.conversations.map(({ id, messages }) => [id, messages.length])).toEqual([
      ['one', 4],
      ['two', 4],
    ])
    expect(whole.conversations[0]?.messages[1]).toContain('tool-call')
    const cut = await said(lines.slice(0, -1).join(''))
    expect(cut.conversations).toHaveLength(2)
    expect(cut.unreadable[0]).toMatch(/the export has no last line/)
  })

  it('of requests gives them as they are', async () => {
    const argv = ['replay', 'trip.jsonl', '--budget', '3000', '--counter', 'default', '--requests', 'out']
    const { written } = await plimsoll(argv, trip)
    const { items } = await read((written.out ?? []).join('\n'))
    expect(items).toHaveLength(35)
    expect(items[3]).toMatchObject({
      type: 'request',
      request: { conversation: 'trip', call: 3, cap: 3_000 },
    })
  })

  it('over several lines is read whole, and where it breaks is reported', async () => {
    const file = { conversations: [{ id: 'x', title: 'X', messages: [user('One'), assistant('Two')] }] }
    const text = JSON.stringify(file, null, 2)
    expect((await said(text)).conversations).toMatchObject([{ id: 'x', title: 'X' }])
    expect((await said(text.replace('"One"', 'One'))).unreadable[0]).toMatch(/^9: /)
  })

  it.each([
    ['', /^1: nothing is in it$/],
    ['Dear diary', /^1: begins with neither/],
    ['[1, 2]', /^1: not a JSON object$/],
    ['[{"role":"user","content":"x"}] more', /^1: goes on after the end/],
    ['{"id":"a","messages":[{"role":"alien","content":"x"}]}', /alien|role/],
  ])('that is %j is refused in words', async (text, reason) => {
    expect((await said(text)).unreadable[0]).toMatch(reason)
  })

  it('that is a list is read piece by piece, also where all of it is one line', async () => {
    let given = 0
    const chunks = function* () {
      yield '['
      for (let at = 0; at < 100; at++) {
        given++
        yield `${at > 0 ? ',' : ''}${JSON.stringify(chatGPT)}`
      }
      yield ']'
    }
    const ahead: number[] = []
    let read = 0
    for await (const _ of readLog(chunks(), 'log', () => {})) ahead.push(given - ++read)
    expect(read).toBe(100)
    expect(Math.max(...ahead)).toBeLessThanOrEqual(1)
  })

  it('is the same however its text is cut into chunks', async () => {
    const text = JSON.stringify([chatGPT, { ...chatGPT, conversation_id: 'c-2' }], null, 1)
    const whole = await read(text)
    for (const size of [1, 7, 64]) expect(await read(text, size)).toEqual(whole)
    const lines = jsonl(calculator, calculator)
    expect(await read(lines, 5)).toEqual(await read(lines))
  })
})

it('elements of a list, parsed, are the list', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.jsonValue()),
      fc.integer({ min: 1, max: 9 }),
      fc.constantFrom(0, 2),
      async (list, size, indent) => {
        const text = JSON.stringify(list, null, indent)
        const chunks = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
        const found: unknown[] = []
        for await (const { text: element, line } of elementsOf(chunks)) {
          found.push(JSON.parse(element))
          expect(
            text
              .split('\n')
              .slice(line - 1)
              .join('\n')
              .trimStart()
              .startsWith(element.trim().split('\n')[0] ?? ''),
          ).toBe(indent > 0)
        }
        expect(found).toEqual(JSON.parse(text))
      },
    ),
    runs(100),
  )
})

it('a text that is no JSON is faulty where a parser stops, whatever engine says it', () => {
  const lines = (text: string) => text.split('\n').length
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(), (value, cut) => {
      const text = JSON.stringify(value, null, 1)
      expect(faultyLine(text)).toBe(lines(text))
      const short = text.slice(0, cut % text.length)
      // A number that is cut may still be one.
      if (!/^-?[\d.e+]+$/i.test(text)) expect(faultyLine(short)).toBeLessThanOrEqual(lines(short))
    }),
    runs(100),
  )
  expect(faultyLine('{\n "a": [1,\n 2,,\n 3]}')).toBe(3)
  expect(faultyLine('{"a": 1,\n}')).toBe(2)
  expect(faultyLine('{"a": 1}\n\n{')).toBe(3)
  expect(faultyLine('{\n"a" 1}')).toBe(2)
})
