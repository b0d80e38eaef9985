import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { jsonl, plimsoll } from '../support/command.ts'

const file = jsonl(
  { type: 'message', id: 'm1', role: 'user', content: 'A window seat, please.' },
  { type: 'fact', id: 'nuts', kind: 'constraint', text: 'Never book a table where nuts are served.' },
  {
    type: 'fact',
    kind: 'finding',
    text: 'The fair is in Alba.',
    trust: 'web',
    confidence: 0.2,
    project: 'alba',
  },
  { type: 'skill', name: 'book-trains', description: 'Books trains.', text: '# Trains\n' },
  { type: 'profile', name: 'SOUL.md', text: 'Be brief.' },
)
const files = { 'memory.jsonl': file }

describe('plimsoll start', () => {
  test('prints the start of a session as one line of JSON', async () => {
    const { status, out, err } = await plimsoll(['start', 'memory.jsonl', '--query', 'window'], files)
    expect({ status, err }).toEqual({ status: 0, err: '' })
    const start = JSON.parse(out)
    expect(out).toBe(`${JSON.stringify(start)}\n`)
    expect(start).toMatchObject({
      memory_count: 2,
      pinned: [{ id: 'nuts', content: 'Never book a table where nuts are served.' }],
      skills_index: [{ name: 'book-trains', description: 'Books trains.' }],
      context_recall: [{ id: 'm1', role: 'user', text: 'A window seat, please.', trust: 'user' }],
      low_confidence_alerts: [],
      budget: { cap: 3_000 },
    })
  })

  test('reads standard input, a project and a day', async () => {
    const options = ['--project', 'alba', '--now', '2100-01-01', '--counter', 'chars']
    const { out } = await plimsoll(['start', '-', ...options], { '-': file })
    expect(JSON.parse(out).low_confidence_alerts).toEqual([
      { id: 'line-3', title: 'The fair is in Alba.', confidence: 0.2 },
    ])
    expect(JSON.parse(out).due_for_review).toBe(0)
  })

  test('gives the same bytes whenever it runs, and nothing to who holds them', async () => {
    const argv = ['start', 'memory.jsonl', '--now', '2026-11-22T23:59+00:00']
    const { out } = await plimsoll(argv, files)
    expect((await plimsoll([...argv.slice(0, 3), '2026-11-22'], files)).out).toBe(out)
    const again = await plimsoll([...argv, '--if-none-match', JSON.parse(out).etag], files)
    expect(again).toMatchObject({ status: 0, out: '', err: '' })
    expect((await plimsoll([...argv, '--if-none-match', 'old'], files)).out).toBe(out)
  })

  test('keeps to its budget, and says the least that is enough', async () => {
    const { out } = await plimsoll(['start', 'memory.jsonl', '--budget', '300'], files)
    expect(JSON.parse(out).budget.used).toBeLessThanOrEqual(300)
    const refused = await plimsoll(['start', 'memory.jsonl', '--budget', '20'], files)
    expect(refused).toMatchObject({ status: 1, out: '' })
    expect(refused.err).toMatch(
      /^plimsoll: start: working_memory_budget_tokens is 20, but .* takes \d+ tokens\n$/,
    )
  })

  test('names each line that it cannot read, leaves it out, and ends with status 1', async () => {
    const broken = [
      '{"type": oops',
      '[]',
      '{"type":"note","text":"?"}',
      '{"type":"fact","kind":"hunch","text":"?"}',
      '{"type":"message","role":"user","content":7}',
      '{"type":"skill","name":"Not a name","description":"?","text":""}',
      '{"type":"profile","name":"SOUL.md"}',
      '{"type":"fact","kind":"constraint","text":"Pinned.","pinned":true,"trust":"web"}',
      '',
    ]
    const { status, out, err } = await plimsoll(['start', 'memory.jsonl'], {
      'memory.jsonl': `${broken.join('\n')}\n${file}`,
    })
    expect(status).toBe(1)
    expect(err.match(/memory\.jsonl line \d+/g)).toEqual(
      [1, 2, 3, 4, 5, 6, 7, 8].map((line) => `memory.jsonl line ${line}`),
    )
    expect(JSON.parse(out).memory_count).toBe(2)
    expect((await plimsoll(['start', '-'], { '-': '[]' })).err).toContain('standard input line 1: not a JSON')
  })

  test('takes hundreds of facts of one file at once', async () => {
    const facts = Array.from({ length: 300 }, (_, index) => ({
      type: 'fact',
      kind: 'finding',
      text: `Room ${index} has ${index * 7} chairs.`,
    }))
    const { out, err } = await plimsoll(['start', '-'], { '-': jsonl(...facts) })
    expect(err).toBe('')
    expect(JSON.parse(out).memory_count).toBe(300)
  })

  test.each([
    [['start'], 'start: name a database with --db, or one file'],
    [['start', 'memory.jsonl', 'b'], 'start: name a database with --db, or one file'],
    [['start', 'missing.jsonl'], 'cannot read missing.jsonl'],
    [['start', 'memory.jsonl', '--budget', '0'], '--budget takes a whole number from 1 on'],
    [['start', 'memory.jsonl', '--now', 'today'], '--now takes an ISO 8601 time from 1970 on, not "today"'],
    [['start', 'memory.jsonl', '--now', '2026-13-01'], '--now takes an ISO 8601 time'],
    [['start', 'memory.jsonl', '--rounds', '3'], "Unknown option '--rounds'"],
    [['start', 'memory.jsonl', '--project', ''], 'start: project must not be empty'],
  ])('%j is refused with status 2 and a reason', async (argv, reason) => {
    const { status, out, err } = await plimsoll(argv, files)
    expect({ status, out }).toEqual({ status: 2, out: '' })
    expect(err).toContain(reason)
  })

  test('shows the example as somebody who plans a trip would need it', async () => {
    const path = fileURLToPath(new URL('../../../examples/memory.jsonl', import.meta.url))
    const { status, out } = await plimsoll(
      ['start', 'memory.jsonl', '--project', 'turin', '--query', 'Which platform?', '--now', '2026-12-05'],
      { 'memory.jsonl': await readFile(path, 'utf8') },
    )
    expect(status).toBe(0)
    const start = JSON.parse(out)
    const ids = (items: readonly { readonly id: string }[]) => items.map(({ id }) => id)
    expect(ids(start.pinned)).toEqual([
      'no-nuts',
      'lift',
      'allergy-fixed',
      'hotel',
      'not-before-eight',
      'seat',
    ])
    expect(ids(start.context_recall)).toContain('m4')
    expect(ids(start.due)).toEqual(['hotel', 'train', 'tram'])
    expect(ids(start.low_confidence_alerts)).toEqual(['tram'])
  })
})
