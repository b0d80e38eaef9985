import { describe, expect, test } from 'vitest'
import { type Message, mapStore } from '../../../src/index.ts'
import { listSessions } from '../../../src/operations/sessions.ts'
import { exportFrom } from '../../../src/operations/transfer/export.ts'
import { importInto } from '../../../src/operations/transfer/import.ts'
import { fullMemory } from '../../contract/full-memory.ts'
import { chatGPT } from '../support/chatgpt.ts'
import { jsonl, plimsoll } from '../support/command.ts'

const ADA = { userId: 'ada' }

/** What a memory holds after it imported what the command gave, twice. */
async function imported(out: string): Promise<{ readonly [sessionId: string]: readonly Message[] }> {
  const memory = fullMemory({ store: mapStore(), budget: 4_000 })
  const { skipped, conflicts } = await importInto(memory, ADA, [out])
  expect([skipped.count, conflicts.count]).toEqual([0, 0])
  const again = await importInto(memory, ADA, [out])
  expect(Object.values(again.parts).map(({ written }) => written)).toEqual([0, 0, 0, 0])
  const sessions = await listSessions(memory, ADA)
  const histories = sessions.map(async ({ sessionId }) => [
    sessionId,
    await memory.session({ ...ADA, sessionId }).history(),
  ])
  return Object.fromEntries(await Promise.all(histories))
}

function shown(messages: readonly Message[] | undefined): unknown {
  return messages?.map(({ role, content, createdAt, trust }) => [role, content, createdAt, trust])
}

describe('plimsoll import', () => {
  test('turns a log of a message a line into an export, in which nobody is more than an import', async () => {
    const file = jsonl(
      { role: 'human', content: 'Book the 9:40.', timestamp: '2026-10-01T08:00:00Z' },
      { role: 'ai', content: [{ type: 'text', text: 'Booked.' }], timestamp: 1_790_841_601 },
      { role: 'user', content: 'Thanks.' },
    )
    const { status, out, err } = await plimsoll(['import', 'logs/trip.jsonl'], { 'logs/trip.jsonl': file })
    expect({ status, err }).toEqual({ status: 0, err: 'plimsoll: 3 messages of 1 sessions, 0 left out\n' })
    expect(shown((await imported(out)).trip)).toEqual([
      ['user', 'Book the 9:40.', 1_790_841_600_000, 'import'],
      ['assistant', 'Booked.', 1_790_841_601_000, 'import'],
      ['user', 'Thanks.', 1_790_841_601_000, 'import'],
    ])
    expect((await plimsoll(['import', '-', '--session', 'trip'], { '-': file })).out).toBe(out)
  })

  test('takes a file of one user in the shapes of others, with calls and results', async () => {
    const openai = [
      { role: 'user', content: 'How is the weather?' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"in":"Turin"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'Rain.' },
      { role: 'assistant', content: 'It rains.' },
    ]
    const langchain = [
      { type: 'human', data: { content: 'Hi.' } },
      { lc: 1, id: ['langchain', 'schema', 'AIMessage'], kwargs: { content: 'Hello.' } },
    ]
    const file = {
      user: 'ada',
      conversations: [
        { id: 'weather', title: 'Rain', messages: openai },
        { id: 'weather', history: langchain },
        { messages: [{ role: 'user', content: 'Alone.' }] },
      ],
    }
    const { status, out } = await plimsoll(['import', 'ada.json'], {
      'ada.json': JSON.stringify(file, null, 2),
    })
    expect(status).toBe(0)
    const sessions = await imported(out)
    expect(Object.keys(sessions)).toEqual(['ada-2', 'ada-3', 'weather'])
    expect(shown(sessions['ada-2'])).toEqual([
      ['user', 'Hi.', 0, 'import'],
      ['assistant', 'Hello.', 0, 'import'],
    ])
    expect(sessions.weather?.map(({ role, trust }) => [role, trust])).toEqual([
      ['user', 'import'],
      ['assistant', 'import'],
      ['tool', 'tool'],
      ['assistant', 'import'],
    ])
    expect(JSON.stringify(sessions.weather?.[2]?.content)).toContain('Rain.')
    for (const one of [{ user: 'ada', history: langchain }, langchain]) {
      const { out } = await plimsoll(['import', 'x.json', '--from', 'json'], {
        'x.json': JSON.stringify(one),
      })
      expect(shown((await imported(out)).x)).toEqual(shown(sessions['ada-2']))
    }
  })

  test('takes what ChatGPT exports: the current branch of each conversation', async () => {
    const other = { ...chatGPT, conversation_id: 'c-2' }
    for (const indent of [0, 2]) {
      const file = JSON.stringify([chatGPT, other], null, indent)
      const { status, out } = await plimsoll(['import', 'conversations.json'], { 'conversations.json': file })
      expect(status).toBe(0)
      const sessions = await imported(out)
      expect(Object.keys(sessions).toSorted()).toEqual(['c-1', 'c-2'])
      expect(sessions['c-1']?.map(({ role, createdAt }) => [role, createdAt])).toEqual(
        ['user', 'assistant', 'tool', 'assistant'].map((role) => [role, 1_760_000_000_500]),
      )
    }
  })

  test('gives the same bytes again, and goes on with a log that grew', async () => {
    const lines = Array.from({ length: 5 }, (_, at) => ({
      role: at % 2 ? 'assistant' : 'user',
      content: `No ${at}.`,
    }))
    const [short, long] = await Promise.all(
      [3, 5].map(
        async (count) => (await plimsoll(['import', '-'], { '-': jsonl(...lines.slice(0, count)) })).out,
      ),
    )
    const memory = fullMemory({ store: mapStore(), budget: 4_000 })
    await importInto(memory, ADA, [short ?? ''])
    expect((await importInto(memory, ADA, [long ?? ''])).parts.log).toEqual({ written: 2, there: 3 })
    expect((await plimsoll(['import', '-'], { '-': jsonl(...lines) })).out).toBe(long)
  })

  test('names what it leaves out, and ends with status 1', async () => {
    const file = `${jsonl({ role: 'user', content: 'Hi.' }, { role: 'boss', content: '?' }, [], { role: 'user' })}{"ro`
    const { status, out, err } = await plimsoll(['import', 'x.jsonl'], { 'x.jsonl': file })
    expect(status).toBe(1)
    expect(err.match(/x\.jsonl line \d+/g)).toEqual([2, 3, 4, 5].map((line) => `x.jsonl line ${line}`))
    expect((await imported(out)).x?.length).toBe(1)
    for (const text of ['{"a":1}', 'oops', '"text"', '{"conversations":[{}]}'])
      expect(await plimsoll(['import', 'x.json'], { 'x.json': text })).toMatchObject({ status: 1, out: '' })
  })

  test('writes to a file, but never over its input', async () => {
    const file = { 'x.jsonl': jsonl({ role: 'user', content: 'Hi.' }) }
    const { status, out, written } = await plimsoll(['import', 'x.jsonl', '--to', 'y.jsonl'], file)
    expect({ status, out }).toEqual({ status: 0, out: '' })
    expect(Object.keys(await imported(`${written['y.jsonl']?.join('\n')}\n`))).toEqual(['x'])
    for (const argv of [
      ['x.jsonl', '--to', 'x.jsonl'],
      ['x.jsonl', '--to', 'sealed/y'],
      ['nowhere.jsonl'],
      ['x.jsonl', '--from', 'csv'],
      ['x.jsonl', 'y.jsonl'],
    ])
      expect(await plimsoll(['import', ...argv], file)).toMatchObject({ status: 2, out: '' })
  })

  test('says of an export whether it can be read', async () => {
    const { out } = await plimsoll(['import', '-'], { '-': jsonl({ role: 'user', content: 'Hi.' }) })
    const good = await plimsoll(['import', 'e.jsonl'], { 'e.jsonl': out })
    expect(good).toMatchObject({
      status: 0,
      out: 'e.jsonl: log 1, facts 0, profile 0, checkpoint 0; conflicts 0, skipped 0, lowered 0\n',
    })
    const bad = await plimsoll(['import', 'e.jsonl'], { 'e.jsonl': out.replace('"seq":1', '"seq":0') })
    expect(bad).toMatchObject({ status: 1, out: '', err: expect.stringMatching(/lines\[4\]: seq must be/) })
  })

  test('sends it to an edge, under the token of who gets it', async () => {
    const sent: { readonly url: string; readonly token: string | null; readonly body: unknown }[] = []
    const part = { written: 1, there: 0 }
    const answered = { parts: { log: part, facts: part, profile: part, checkpoint: part } }
    const none = { count: 0, first: [] }
    const fetch = async (url: string, init: RequestInit = {}) => {
      sent.push({ url, token: new Headers(init.headers).get('authorization'), body: init.body })
      return new Response(JSON.stringify({ ...answered, conflicts: none, skipped: none, lowered: none }))
    }
    const file = { '-': jsonl({ role: 'user', content: 'Hi.' }) }
    const { out } = await plimsoll(['import', '-'], file)
    const argv = ['import', '-', '--url', 'https://edge.test']
    const first = await plimsoll([...argv, '--token', 'secret'], file, undefined, { fetch })
    expect(first).toMatchObject({ status: 0, out: expect.stringContaining('log 1, facts 1') })
    const env = { PLIMSOLL_TOKEN: 'other' }
    await plimsoll([...argv, '--trust', 'user'], { '-': out }, undefined, { fetch, env })
    expect(sent.map(({ url, token }) => [url, token])).toEqual([
      ['https://edge.test/v1/me/import', 'Bearer secret'],
      ['https://edge.test/v1/me/import?trust=user', 'Bearer other'],
    ])
    expect(sent.map(({ body }) => String(body).trim())).toEqual([out.trim(), out.trim()])
    const refusing = async () => new Response('no', { status: 401 })
    const refused = await plimsoll([...argv, '--token', 'x'], file, undefined, { fetch: refusing })
    expect(refused).toMatchObject({ status: 1, err: expect.stringContaining('ERR_UNAUTHENTICATED') })
    for (const more of [
      [],
      ['--token', 'x', '--trust', 'keep'],
      ['--token', 'x', '--to', 'y'],
      ['--url', 'ftp://x', '--token', 'x'],
    ])
      expect(await plimsoll([...argv, ...more], file)).toMatchObject({ status: 2, out: '' })
    for (const [name, value] of [
      ['--token', 'x'],
      ['--trust', 'user'],
    ] as const)
      expect(await plimsoll(['import', '-', name, value], file)).toMatchObject({ status: 2 })
  })

  test('writes conversations as a file that people can read, of another program or of an export', async () => {
    const file = jsonl(
      { role: 'user', content: 'Book the 9:40.\n# Now', timestamp: '2026-10-01T08:00:00Z' },
      { role: 'assistant', content: 'Booked.', timestamp: '2026-10-01T08:01:00Z' },
    )
    const argv = ['import', 'trip.jsonl', '--format', 'markdown']
    const { status, out, err } = await plimsoll(argv, { 'trip.jsonl': file })
    expect({ status, err }).toEqual({ status: 0, err: 'plimsoll: 2 messages of 1 sessions, 0 left out\n' })
    expect(out).toBe(`# Memory

# Session trip

## user (2026-10-01 08:00 UTC, trust import)

> Book the 9:40.
> # Now

## assistant (2026-10-01 08:01 UTC, trust import)

> Booked.
`)
    const { written } = await plimsoll([...argv, '--to', 'trip.md'], { 'trip.jsonl': file })
    expect(`${written['trip.md']?.join('\n')}\n`).toBe(out)

    const memory = fullMemory({ store: mapStore(), budget: 4_000 })
    const session = memory.session({ ...ADA, sessionId: 'trip' })
    await session.commit({ messages: { role: 'user', content: 'Hi.' }, checkpoint: { step: 1 } })
    const lines: string[] = []
    for await (const line of exportFrom(memory, ADA)) lines.push(line)
    const read = await plimsoll(['import', '-', '--format', 'markdown'], { '-': lines.join('') })
    expect(read.out).toMatch(
      /## user \([^)]+\)\n\n> Hi\.\n[\s\S]*## Checkpoint\n\n> \{\n> {3}"step": 1\n> \}\n/,
    )
    const bad = await plimsoll(['import', '-', '--format', 'markdown'], { '-': lines[0] ?? '' })
    expect(bad).toMatchObject({ status: 1, err: expect.stringContaining('plimsoll: standard input: ') })
    for (const more of [
      ['--format', 'html'],
      ['--format', 'markdown', '--url', 'https://edge.test'],
    ])
      expect(await plimsoll(['import', '-', ...more], { '-': file })).toMatchObject({ status: 2, out: '' })
  })
})
