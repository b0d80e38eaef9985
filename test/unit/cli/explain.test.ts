import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Span } from '../../../src/ports/explanation.ts'
import { jsonl, plimsoll } from '../support/command.ts'
import { assistant, calculator, documented, TRIP_CALLS, trip, user } from '../support/recordings.ts'
import { runs } from '../support/runs.ts'

const file = { 'a.jsonl': jsonl(calculator) }
const explain = (...options: readonly string[]) =>
  plimsoll(['explain', 'a.jsonl', '--counter', 'chars', ...options], file)

/** What stands in the columns of the rows, without where they begin and end. */
function rowsOf(out: string): readonly string[] {
  const lines = out.split('\n').filter((line) => /^ *\d+-\d+ /.test(line))
  return lines.map((line) =>
    line
      .trim()
      .replace(/^\S+ +/, '')
      .replaceAll(/ {2,}/g, ' | '),
  )
}

describe('explain', () => {
  test('says of every token of a call where it comes from', async () => {
    const { status, out, err } = await explain('--call', '1')
    expect([status, err]).toEqual([0, ''])
    expect(out).toBe(`\
calculator#1 for openai: 37 of 16,000 tokens (0%), counted by chars/4
epoch 1 (epoch/f61c3713), start: the first one, filled from the newest message back
omitted: 0 messages; shown short: 0 outputs, 0 tokens of them missing

characters  tokens  section  rule      record         trust      text
       0-1       0  request  request                  system     {
      1-72      11  system   system    head/1d2c4c0c  system     "You are a careful calculator."}
    72-113       7  window   verbatim  m1             user       "What is 1+2?"}
   113-163       8  window   verbatim  m3             assistant  "The answer is 3."}
   163-225      11  window   verbatim  m4             user       "And what is 10 plus 20 plus 30?"}]}

5 spans hold 37 tokens, 0 more are counted but not rendered: 37 used
`)
  })

  test('names the epoch, what is omitted and what is shown short', async () => {
    const command = 'node dist/src/cli/main.js explain trip.jsonl --budget 3000 --call 15'
    const { out } = await plimsoll(command.split(' ').slice(2), trip)
    expect(out).toContain('epoch 2 (epoch/c162bd7b), window: the window passed its room')
    expect(out).toContain('omitted: 19 messages (window 19); shown short: 4 outputs, 905 tokens')
    expect(out).toContain('19 spans hold 1,342 tokens, 0 more are counted but not rendered: 1,342 used')
  })

  test('prints what docs/cli.md shows', async () => {
    const command = 'node dist/src/cli/main.js explain examples/trip.jsonl --budget 3000 --call 15'
    const { out } = await plimsoll(command.split(' ').slice(2), {
      'examples/trip.jsonl': trip['trip.jsonl'],
    })
    expect(out).toBe(documented(command))
  })

  test('the spans of any call are the request that replay writes, byte for byte, with its tokens', async () => {
    const call = fc.nat({ max: TRIP_CALLS - 1 })
    const provider = fc.constantFrom('openai', 'anthropic')
    const more = fc.constantFrom([], ['--tail', '80'], ['--rounds', '6', '--keep', '2'])
    const requests = new Map<string, readonly string[]>()
    await fc.assert(
      fc.asyncProperty(call, provider, more, async (number, name, extra) => {
        const options = ['--budget', '3000', '--provider', name, ...extra]
        const key = options.join(' ')
        if (!requests.has(key)) {
          const { written } = await plimsoll(['replay', 'trip.jsonl', ...options, '--requests', 'r'], trip)
          requests.set(key, written.r ?? [])
        }
        const { request, used, epoch } = JSON.parse(requests.get(key)?.[number] ?? '')
        const { out } = await plimsoll(
          ['explain', 'trip.jsonl', '--call', `${number}`, '--json', ...options],
          trip,
        )
        const { text, spans, unrendered, receipt, ...named } = JSON.parse(out)
        expect(named).toEqual({ conversation: 'trip', call: number, provider: name })
        expect(spans.map(({ from, to }: Span) => text.slice(from, to)).join('')).toBe(JSON.stringify(request))
        const tokens = [...spans, ...unrendered].map((source) => source.tokens)
        expect(tokens.reduce((sum, one) => sum + one)).toBe(used)
        expect(receipt).toMatchObject({ used, epoch })
      }),
      runs(20),
    )
  })

  test('gives a row to the tools, to the tail and to what stands for a result that is missing', async () => {
    const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }
    const recorded = {
      tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }],
      messages: [
        user('Look.'),
        { role: 'assistant', content: null, tool_calls: [call] },
        user('And?'),
        assistant('!'),
      ],
    }
    const { out } = await plimsoll(
      ['explain', 'a.jsonl', '--counter', 'chars', '--call', '1', '--tail', '5'],
      { 'a.jsonl': jsonl(recorded) },
    )
    expect(rowsOf(out).map((row) => row.split(' | ').slice(1, 3).join(' '))).toEqual([
      'request request',
      'tools tools',
      'window verbatim',
      'window verbatim',
      'window abandoned',
      'window verbatim',
      'tail tail',
    ])
    expect(out).toContain('"look","parameters":{"type":"object"}')
  })

  test('says what is counted although this provider is not given it', async () => {
    const recorded = {
      id: 'search',
      format: 'anthropic',
      messages: [
        user('Search.'),
        {
          role: 'assistant',
          content: [{ type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'trains' } }],
        },
        user('And?'),
        assistant('!'),
      ],
    }
    const explained = (provider: string) =>
      plimsoll(['explain', 'a.jsonl', '--counter', 'chars', '--call', '1', '--provider', provider], {
        'a.jsonl': jsonl(recorded),
      })
    expect((await explained('anthropic')).out).toContain(', 0 more are counted but not rendered: ')
    expect((await explained('openai')).out).toMatch(
      /spans hold (\d+) tokens, (\d+) more are counted but not rendered \(m\d+ window verbatim \2\): \d+ used\n$/,
    )
  })

  test('shows what a terminal would obey or hide, on one line of its width', async () => {
    const recorded = {
      id: 'hi\u001b[2J',
      messages: [user('a\u009b31m\u202eb\u{e0041} 👩‍👩‍👧\n\tc'), assistant('!')],
    }
    const { out } = await plimsoll(['explain', 'a.jsonl', '--counter', 'chars', '--call', '0'], {
      'a.jsonl': jsonl(recorded),
    })
    expect(out).toContain('hi\\u001b[2J#0')
    expect(out).toContain('"a\\u009b31m\\u202eb\\u{e0041} 👩‍👩‍👧\\n\\tc"}]}')
    expect(out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u)

    const narrow = await plimsoll(['explain', 'trip.jsonl', '--call', '9', '--counter', 'chars'], trip, 90)
    const rows = narrow.out.split('\n').filter((line) => /^ *\d+-\d+ /.test(line))
    expect(Math.max(...rows.map((row) => row.length))).toBe(90)
    const tiny = await plimsoll(['explain', 'trip.jsonl', '--call', '9', '--counter', 'chars'], trip, 10)
    expect(tiny.out).toMatch(/ {2}"Looks good"\}/)
  })
})

describe('which call is explained', () => {
  const two = { 'a.jsonl': jsonl(calculator, { ...calculator, id: 'other', messages: [user('Hi.')] }) }

  test.each([
    [['--call', '2'], file, 'no call 2 in conversation "calculator", which has model calls 0 to 1'],
    [['--call', '0', '--conversation', 'other'], two, 'conversation "other", which has no model calls'],
    [
      ['--call', '0'],
      two,
      'a.jsonl has several conversations; name one with --conversation: calculator, other',
    ],
    [
      ['--call', '0', '--conversation', 'x'],
      two,
      'no conversation "x" in a.jsonl, which has calculator, other',
    ],
    [['--call', '0'], { 'a.jsonl': '\n' }, 'no conversation in a.jsonl\n'],
    [['--call', '0'], {}, 'cannot read a.jsonl'],
    [[], file, 'explain: name the call with --call <n>'],
    [['--call', '1.5'], file, '--call takes a whole number from 0 on, not "1.5"'],
    [['--call', '1', 'b.jsonl'], file, 'explain: name one file'],
    [['--call', '1', '--policy', 'full'], file, "Unknown option '--policy'"],
  ])('%j is refused with status 2, and what there is is named', async (options, files, reason) => {
    const argv = ['explain', 'a.jsonl', '--counter', 'chars', ...options]
    const { status, out, err } = await plimsoll(argv, files)
    expect([status, out]).toEqual([2, ''])
    expect(err).toContain(reason)
  })

  test('of many conversations only the first ten are named', async () => {
    const many = Array.from({ length: 13 }, (_, index) => ({ ...calculator, id: `c${index}` }))
    const { err } = await plimsoll(['explain', 'a.jsonl', '--call', '0'], { 'a.jsonl': jsonl(...many) })
    expect(err).toContain('c8, c9, and 3 more\n')
  })

  test('a named conversation is found among others, and the first of two of one name is meant', async () => {
    const again = { ...calculator, messages: [user('Again.'), assistant('!')] }
    const files = { 'a.jsonl': jsonl({ ...calculator, id: 'other' }, calculator, again) }
    const argv = ['explain', 'a.jsonl', '--counter', 'chars', '--conversation', 'calculator', '--call', '0']
    expect((await plimsoll(argv, files)).out).toContain('"What is 1+2?"')
    const both = { 'a.jsonl': jsonl(calculator, again) }
    const nameless = argv.filter((word) => !['--conversation', 'calculator'].includes(word))
    expect((await plimsoll(nameless, both)).out).toContain('"What is 1+2?"')
  })

  test('a refused call prints its floor, and the status is 1', async () => {
    const refused = ['--call', '1', '--counter', 'bytes', '--budget', '60']
    const reason = 'ERR_BUDGET_TOO_SMALL: user 35 + system 33 + framing 3'
    expect(await explain(...refused)).toMatchObject({
      status: 1,
      out: `refused: calculator#1 floor 71 > 60 (${reason})\n`,
    })
    const { status, out } = await explain(...refused, '--json')
    expect(status).toBe(1)
    expect(JSON.parse(out)).toEqual({
      refusals: [{ conversation: 'calculator', call: 1, reason, floor: 71 }],
    })
  })

  test('a call after a refused one is explained all the same', async () => {
    const messages = [user('x'.repeat(400)), assistant('?'), user('Shorter.'), assistant('!')]
    const { status, out } = await plimsoll(
      ['explain', 'a.jsonl', '--counter', 'chars', '--budget', '60', '--call', '1'],
      { 'a.jsonl': jsonl({ messages }) },
    )
    expect([status, out]).toEqual([0, expect.stringContaining('"Shorter."')])
  })

  test('a line that cannot be read is reported, the rest explained, and the status is 1', async () => {
    const { status, out, err } = await plimsoll(['explain', 'a.jsonl', '--counter', 'chars', '--call', '0'], {
      'a.jsonl': `nonsense\n${jsonl(calculator)}`,
    })
    expect([status, err]).toEqual([1, expect.stringContaining('a.jsonl line 1: ')])
    expect(out).toContain('calculator#0 for openai')
  })

  test('a message that the memory does not take is reported by line, if a call comes after it', async () => {
    const broken = { id: 'broken', messages: [user('Hi'), assistant('\ud800'), user('?'), assistant('!')] }
    const files = { 'a.jsonl': `\n${jsonl(broken)}` }
    const explained = (call: string) =>
      plimsoll(['explain', 'a.jsonl', '--counter', 'chars', '--call', call], files)
    expect(await explained('0')).toMatchObject({ status: 0, err: '' })
    expect(await explained('1')).toMatchObject({
      status: 1,
      out: '',
      err: expect.stringContaining('a.jsonl line 2: '),
    })
  })
})
