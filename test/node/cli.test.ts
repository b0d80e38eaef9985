import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { loadCounter } from '../../src/cli/counters.ts'
import { drawBars, sparkline } from '../../src/cli/draw.ts'
import { type Io, nodeIo } from '../../src/cli/io.ts'
import { startProgress } from '../../src/cli/progress.ts'
import { PlimsollError } from '../../src/ports/errors.ts'
import { shorten } from '../../src/replay/words.ts'
import { jsonl, plimsoll } from '../unit/support/command.ts'
import { assistant, calculator, user } from '../unit/support/recordings.ts'

async function replayJson(conversation: unknown, ...options: readonly string[]) {
  const { out } = await plimsoll(['replay', 'a.jsonl', '--counter', 'chars', '--json', ...options], {
    'a.jsonl': jsonl(conversation),
  })
  return JSON.parse(out)
}

describe('arguments', () => {
  test('--help and --version answer on standard output', async () => {
    expect(await plimsoll(['--help'])).toMatchObject({ status: 0, out: expect.stringContaining('replay') })
    expect(await plimsoll(['lint', '-h'])).toMatchObject({ status: 0, out: expect.stringContaining('usage') })
    expect(await plimsoll(['diff', '--call', '5,4', '-h'])).toMatchObject({ status: 0, err: '' })
    expect(await plimsoll(['--version'])).toMatchObject({ status: 0, out: `${manifest.version}\n` })
  })

  test.each([
    [['replay', 'a.jsonl', '--bugdet', '8000'], '--bugdet'],
    [['replay', 'a.jsonl', '--budget', '8k'], '--budget takes a whole number from 1 on, not "8k"'],
    [['replay', 'a.jsonl', '--budget', '0'], '--budget'],
    [
      ['replay', 'a.jsonl', '--counter', 'words'],
      '--counter is one of o200k, default, chars, bytes, not "words"',
    ],
    [['replay', 'a.jsonl', '--rounds', '5', '--keep', '6'], '--keep 6 is more than --rounds 5'],
    [['replay', 'missing.jsonl'], 'cannot read missing.jsonl'],
    [['replay', 'a.jsonl', '--requests', 'sealed/out'], 'cannot write sealed/out: permission denied'],
    [['replay', 'a.jsonl', '--requests', './a.jsonl'], './a.jsonl is named twice'],
    [['replay', 'a.jsonl', '--conversation', 'three'], 'no conversation "three" in a.jsonl'],
    [['replay'], 'name at least one file'],
    [
      ['rewind'],
      'unknown command "rewind": say replay, explain, diff, lint, start, history, export, import or admin',
    ],
    [['--bugdet'], 'unknown command "--bugdet"'],
    [['lint'], 'lint: name at least one file of requests'],
    [['lint', 'a.jsonl', '--budget', '8000'], "Unknown option '--budget'"],
    [[], 'no command'],
  ])('%j is refused with status 2 and a reason', async (argv, reason) => {
    const { status, out, err } = await plimsoll(argv, { 'a.jsonl': '' })
    expect(status).toBe(2)
    expect(err).toContain(reason)
    expect(out).toBe('')
  })

  test('without its tokenizer the default counter becomes the estimate, with a warning; a named one is refused', async () => {
    const missing = () => Promise.reject(new PlimsollError('ERR_COUNTER_UNAVAILABLE', 'gone'))
    const warnings: string[] = []
    const counter = await loadCounter(undefined, (message) => warnings.push(message), missing)
    expect(counter.kind).toBe('estimate')
    expect(warnings).toEqual([expect.stringContaining('gpt-tokenizer')])
    await expect(loadCounter('o200k', () => {}, missing)).rejects.toThrow('gpt-tokenizer')
  })
})

describe('reading recordings', () => {
  test('a malformed line is named by its number and skipped, and the status is 1', async () => {
    const file = `${jsonl(calculator)}{"id": oops\n\n${jsonl({ id: 'no messages' }, calculator)}`
    const { status, out, err } = await plimsoll(['replay', 'a.jsonl', '--counter', 'chars', '--json'], {
      'a.jsonl': file,
    })
    expect(status).toBe(1)
    expect(err).toMatch(/a\.jsonl line 2: .+\n.*a\.jsonl line 4: no "messages" array/)
    const { figures, malformed } = JSON.parse(out)
    expect(figures.plimsoll.calls).toBe(4)
    expect(malformed.map(({ line }: { line: number }) => line)).toEqual([2, 4])
  })

  test('a message that the memory does not take ends its conversation and is reported by line', async () => {
    const broken = { id: 'broken', messages: [user('Hi'), assistant('\ud800'), user('?'), assistant('!')] }
    const { status, err, out } = await plimsoll(['replay', 'a.jsonl', '--counter', 'chars', '--json'], {
      'a.jsonl': jsonl(broken, calculator),
    })
    expect(status).toBe(1)
    expect(err).toContain('line 1')
    expect(JSON.parse(out).figures.full.calls).toBe(3)
  })

  test('a bare list of messages is named after its line, and its format is seen from its blocks', async () => {
    const blocks = {
      messages: [
        user('Weather?'),
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'get_weather', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'Sunny' }] },
        { role: 'assistant', content: [{ type: 'text', text: 'Sunny.' }] },
      ],
    }
    const { written } = await plimsoll(
      ['replay', 'a.jsonl', '--counter', 'chars', '--json', '--requests', 'out.jsonl'],
      { 'a.jsonl': jsonl(calculator, blocks) },
    )
    const requests = (written['out.jsonl'] ?? []).map((line) => JSON.parse(line))
    expect(requests.map(({ conversation, call, provider }) => [conversation, call, provider])).toEqual([
      ['calculator', 0, 'openai'],
      ['calculator', 1, 'openai'],
      ['line-2', 0, 'anthropic'],
      ['line-2', 1, 'anthropic'],
    ])
  })

  test('an assistant message before any user message is no model call', async () => {
    const greeting = { id: 'greeting', messages: [assistant('Welcome!'), user('Hi'), assistant('Hello')] }
    expect((await replayJson(greeting)).figures.full.calls).toBe(1)
  })

  test('lines end at line feeds only, since JSON allows other separators inside strings', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'plimsoll-'))
    try {
      const path = join(folder, 'lines.jsonl')
      await writeFile(path, 'one\u2028still one\ntwo\n\nfour')
      const lines: string[] = []
      for await (const line of nodeIo.lines(path)) lines.push(line)
      expect(lines).toEqual(['one\u2028still one', 'two', '', 'four'])
      const writer = await nodeIo.create(join(folder, 'out.jsonl'))
      await writer.write('x'.repeat(100_000))
      await writer.write('y')
      await writer.close()
      expect(await readFile(join(folder, 'out.jsonl'), 'utf8')).toBe(`${'x'.repeat(100_000)}\ny\n`)
      await expect(nodeIo.create(join(folder, 'no', 'such', 'folder'))).rejects.toThrow()
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  test('a byte order mark is no part of the first line', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'plimsoll-'))
    try {
      const path = join(folder, 'lines.jsonl')
      await writeFile(path, '\ufeffone\n\ufefftwo')
      const lines: string[] = []
      for await (const line of nodeIo.lines(path)) lines.push(line)
      expect(lines).toEqual(['one', '\ufefftwo'])
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})

describe('figures', () => {
  test('tokens, prefix share and cost of the full history are those computed by hand', async () => {
    const { figures } = await replayJson(calculator)
    const first =
      '[null,null]' +
      '{"role":"system","content":"You are a careful calculator."}' +
      '{"role":"user","content":"What is 1+2?"}'
    const second =
      first +
      '{"role":"assistant","content":"The answer is 3."}' +
      '{"role":"user","content":"And what is 10 plus 20 plus 30?"}'
    const hit = (first.length / second.length) * 37
    expect(figures.full).toMatchObject({
      calls: 2,
      refused: 0,
      meanTokens: 28,
      maxTokens: 37,
      overCap: 0,
      lintErrors: 0,
      prefixShare: Math.round((hit / 55) * 10_000) / 10_000,
      costPerCall: Math.round((0.1 * hit + 1.25 * (55 - hit)) / 2),
      omitted: 0,
    })
  })

  test('the token window takes the longest end under the line, which the full history crosses', async () => {
    const { figures } = await replayJson(calculator, '--budget', '30')
    expect(figures.full).toMatchObject({ maxTokens: 37, overCap: 1 })
    expect(figures.tokens).toMatchObject({ maxTokens: 30, overCap: 0, omitted: 1 })
    expect((await replayJson(calculator, '--budget', '29')).figures.tokens).toMatchObject({
      maxTokens: 22,
      omitted: 2,
    })
  })

  test('what a window leaves out is counted, and so is what the reply would have quoted from there', async () => {
    const rounds = Array.from({ length: 25 }, (_, round) => [
      user(round === 0 ? 'My ticket is ticket_90210.' : 'And then?'),
      assistant(round === 24 ? 'You hold ticket_90210.' : 'I see.'),
    ])
    const { figures } = await replayJson({ id: 'long', messages: rounds.flat() })
    expect(figures.full).toMatchObject({ omitted: 0, retainedShare: 1 })
    // 21 to 25 rounds and 41 to 49 messages are there before the last five calls.
    expect(figures.rounds).toMatchObject({ omitted: 2 + 4 + 6 + 8 + 10, retainedShare: 0 })
    expect(figures.messages).toMatchObject({ omitted: 1 + 3 + 5 + 7 + 9, retainedShare: 0 })
  })

  test('windows over messages part calls from their results, and the linter sees it', async () => {
    const call = { id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }
    const steps = Array.from({ length: 20 }, () => [
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'a', content: 'nothing' },
    ])
    const messages = [user('Look'), ...steps.flat(), assistant('Odd.'), user('Again'), assistant('No.')]
    const { figures } = await replayJson({ id: 'steps', messages })
    expect(figures.messages.lintErrors).toBeGreaterThan(0)
    expect(figures.plimsoll.lintErrors).toBe(0)
  })

  test('a refused call is counted, numbered and listed with its floor', async () => {
    const { figures, refusals } = await replayJson(calculator, '--budget', '22')
    expect(figures.plimsoll).toMatchObject({ calls: 2, refused: 1, maxTokens: 18 })
    expect(refusals).toEqual([
      { conversation: 'calculator', call: 1, floor: 25, reason: expect.stringContaining('user 11') },
    ])
    const { out, status } = await plimsoll(['replay', 'a.jsonl', '--counter', 'chars', '--budget', '22'], {
      'a.jsonl': jsonl(calculator),
    })
    expect(status).toBe(0)
    expect(out).toContain('calculator#1 floor 25 > 22')
  })

  test('a tail of some length is in every request, changes at every call and is the same at every run', async () => {
    const replayed = () =>
      plimsoll(['replay', 'a.jsonl', '--counter', 'chars', '--tail', '50', '--requests', 'out.jsonl'], {
        'a.jsonl': jsonl(calculator),
      })
    const { written } = await replayed()
    const [first, second] = (written['out.jsonl'] ?? []).map((line) => JSON.parse(line))
    const tails = [first, second].map(({ request }) => JSON.stringify(request.messages.at(-1)))
    expect(tails[0]).not.toBe(tails[1])
    expect(first.used).toBeGreaterThan(18 + 45)
    expect(first.used).toBeLessThan(18 + 70)
    expect((await replayed()).written).toEqual(written)
  })
})

describe('output', () => {
  test('requests are written with the figures of the chosen policy', async () => {
    const { written } = await plimsoll(
      ['replay', 'a.jsonl', '--counter', 'chars', '--policy', 'full', '--requests', 'out.jsonl'],
      { 'a.jsonl': jsonl(calculator) },
    )
    const [first, second] = (written['out.jsonl'] ?? []).map((line) => JSON.parse(line))
    expect(first).toEqual({
      conversation: 'calculator',
      call: 0,
      provider: 'openai',
      cap: 16_000,
      used: 18,
      request: { messages: calculator.messages.slice(0, 2) },
    })
    expect(second).toMatchObject({
      call: 1,
      used: 37,
      request: { messages: calculator.messages.slice(0, 4) },
    })
  })

  test('requests have no line for what the chosen policy refused', async () => {
    const argv = ['replay', 'a.jsonl', '--counter', 'chars', '--budget', '22', '--requests', 'out.jsonl']
    const { written } = await plimsoll(argv, { 'a.jsonl': jsonl(calculator) })
    expect(written['out.jsonl']?.map((line) => JSON.parse(line).call)).toEqual([0])
  })

  test('--conversation replays that one only', async () => {
    const other = { ...calculator, id: 'other' }
    const argv = ['replay', 'a.jsonl', '--counter', 'chars', '--json', '--conversation', 'other']
    const { out } = await plimsoll(argv, { 'a.jsonl': jsonl(calculator, other) })
    expect(JSON.parse(out)).toMatchObject({ conversations: 1, figures: { full: { calls: 2 } } })
  })

  test('requests of a policy that has epochs say which one they are in', async () => {
    const { written } = await plimsoll(
      ['replay', 'a.jsonl', '--counter', 'chars', '--budget', '30', '--requests', 'out.jsonl'],
      { 'a.jsonl': jsonl(calculator) },
    )
    const requests = (written['out.jsonl'] ?? []).map((line) => JSON.parse(line))
    const id = expect.stringMatching(/^epoch\/[0-9a-f]{64}$/)
    expect(requests.map(({ epoch }) => epoch)).toEqual([
      { id, cause: 'start', place: 1 },
      { id, cause: 'window', place: 2 },
    ])
  })

  test('--provider renders a recording of one provider for another', async () => {
    const { written } = await plimsoll(
      ['replay', 'a.jsonl', '--counter', 'chars', '--provider', 'anthropic', '--requests', 'out.jsonl'],
      { 'a.jsonl': jsonl(calculator) },
    )
    const { request, provider } = JSON.parse(written['out.jsonl']?.[0] ?? '')
    expect(provider).toBe('anthropic')
    expect(request.system).toMatchObject([{ type: 'text', text: 'You are a careful calculator.' }])
  })

  test('the sample conversation stays under the line through several epochs, and agreeing costs little', async () => {
    const path = fileURLToPath(new URL('../../examples/trip.jsonl', import.meta.url))
    const { status, out, written } = await plimsoll(
      ['replay', 'trip.jsonl', '--budget', '3000', '--requests', 'out.jsonl'],
      { 'trip.jsonl': await readFile(path, 'utf8') },
    )
    expect(status).toBe(0)
    const bars = out.split('\n').filter((line) => /^ {2,}\d+ .*\|/.test(line))
    expect(bars).toHaveLength(35)
    expect(bars.filter((bar) => bar.includes('◆')).length).toBeGreaterThan(2)
    const costs = bars.map((bar) => Number(/cost +([\d,]+)/.exec(bar)?.[1]?.replace(',', '')))
    const agreed = bars.findIndex((bar) => bar.includes('Looks good'))
    expect(costs[agreed]).toBeLessThan(Math.max(costs[agreed - 1] ?? 0, costs[agreed + 1] ?? 0))
    expect(out).not.toContain('\u001b')

    const linted = await plimsoll(['lint', 'out.jsonl'], {
      'out.jsonl': (written['out.jsonl'] ?? []).join('\n'),
    })
    expect(linted).toMatchObject({ status: 0, out: '35 requests, 0 problems\n' })
  })

  test('a bar fills up to the mark of the line and says what went over it', () => {
    const drawn = (tokens: number) => ({
      call: 7,
      answers: '“Looks good”',
      outcome: {
        tokens,
        hit: tokens / 2,
        sections: [
          { name: 'system' as const, tokens: tokens / 4 },
          { name: 'window' as const, tokens: (tokens * 3) / 4 },
        ],
      },
    })
    const canvas = { columns: 100, colour: false }
    expect(drawBars([drawn(50)], 100, canvas)).toMatch(
      /^ {3}7 ▓+█+ +\| +50 +50% {2}hit +50% .* “Looks good”\n$/,
    )
    expect(drawBars([drawn(900)], 100, canvas)).toMatch(/^ {3}7 ▓+\|▓+› /)
    const many = drawBars(Array(500).fill(drawn(50)), 100, canvas)
    expect(many.split('\n')).toHaveLength(62)
    expect(many).toContain('440 calls between')
  })

  test('a sparkline marks refused calls and calls over the line', () => {
    const outcomes = [{ tokens: 10 }, { tokens: 100 }, { tokens: 120 }, { reason: 'too small' }]
    const calls = outcomes.map((outcome, call) => ({
      call,
      answers: '',
      outcome: 'tokens' in outcome ? { ...outcome, hit: 0, sections: [] } : outcome,
    }))
    expect(sparkline(calls, 100, 60)).toBe('▁█!×')
    expect(sparkline(calls, 100, 2)).toBe('█×')
  })

  test('shortening keeps what belongs together', () => {
    expect(shorten('one\n  two', 10)).toBe('one two')
    expect(shorten('family 👩‍👩‍👧 trip', 10)).toBe('family …')
  })

  test('progress is drawn for a terminal only', () => {
    const drawn: string[] = []
    const io = (columns: number | undefined): Io => ({
      ...nodeIo,
      columns: { out: undefined, err: columns },
      err: (text) => drawn.push(text),
    })
    let now = 0
    const clock = () => (now += 1_000)
    const silent = startProgress(io(undefined), 100, clock)
    silent.show(50, 'trip')
    silent.clear()
    expect(drawn).toEqual([])
    startProgress(io(80), 100, clock).show(50, 'trip')
    expect(drawn.join('')).toMatch(/━{15}─{15} trip/)
  })
})

describe('lint', () => {
  const result = { role: 'tool', tool_call_id: 'a', content: 'x' }
  const good = { provider: 'openai', request: { messages: [user('Hi')] } }
  const bad = { conversation: 'c', call: 3, provider: 'openai', request: { messages: [user('Hi'), result] } }

  test('a file without problems gives status 0', async () => {
    const { status, out } = await plimsoll(['lint', 'a.jsonl'], { 'a.jsonl': jsonl(good, good) })
    expect([status, out]).toEqual([0, '2 requests, 0 problems\n'])
  })

  test('a problem is printed with its line, and the status is 1', async () => {
    const { status, out } = await plimsoll(['lint', 'a.jsonl'], { 'a.jsonl': jsonl(good, bad) })
    expect(status).toBe(1)
    expect(out).toMatch(/^a\.jsonl:2 c#3 /)
  })

  test('--provider speaks for lines that name none, which are unreadable without it', async () => {
    const files = { 'a.jsonl': jsonl(good.request) }
    expect(await plimsoll(['lint', 'a.jsonl'], files)).toMatchObject({
      status: 1,
      err: expect.stringContaining('line 1: no "provider"'),
    })
    expect((await plimsoll(['lint', 'a.jsonl', '--provider', 'openai'], files)).status).toBe(0)
  })

  test('a malformed line is named by its number, and the status is 1', async () => {
    const { status, err } = await plimsoll(['lint', 'a.jsonl'], { 'a.jsonl': `${jsonl(good)}nonsense\n` })
    expect(status).toBe(1)
    expect(err).toContain('line 2')
  })
})
