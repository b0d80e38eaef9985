import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { jsonl, plimsoll } from '../support/command.ts'
import { assistant, calculator, documented, TRIP_CALLS, trip, user } from '../support/recordings.ts'
import { runs } from '../support/runs.ts'

const file = { 'a.jsonl': jsonl(calculator) }

/** The JSON that `diff` prints about two calls of the calculator, or of a file of requests. */
async function diffJson(options: readonly string[], files: { readonly [path: string]: string } = file) {
  const { out, err } = await plimsoll(['diff', 'a.jsonl', '--json', '--counter', 'chars', ...options], files)
  expect(err).toBe('')
  return JSON.parse(out)
}

const replays = new Map<string, Promise<string>>()

/** What `replay --requests` writes about the sample conversation, worked out once. */
function written(...options: readonly string[]): Promise<string> {
  const key = options.join(' ')
  const replay = async () => {
    const argv = ['replay', 'trip.jsonl', '--budget', '3000', '--requests', 'r', ...options]
    return ((await plimsoll(argv, trip)).written.r ?? []).join('\n')
  }
  const requests = replays.get(key) ?? replay()
  replays.set(key, requests)
  return requests
}

describe('diff of two calls', () => {
  test('prints where they part, why, both sides, and what is paid', async () => {
    const { status, out, err } = await plimsoll(
      ['diff', 'a.jsonl', '--counter', 'chars', '--call', '0,1', '--budget', '33'],
      file,
    )
    expect([status, err]).toEqual([0, ''])
    expect(out).toBe(`\
calculator#0 -> #1 for openai
epoch 1 (start) -> 2 (window)
they part at byte 99, character 99
window: a new epoch: the window passed its room, or a limit, and was cut back

  #0  window  verbatim  m1  …"},{"role":"user","content":"▸What is 1+2?"}]}
  #1  window  verbatim  m4  …"},{"role":"user","content":"▸And what is 10 plus 20 plus 30?"}]}

           tokens   share  cost
shared         15   68.2%     2
re-billed       0    0.0%     0
added           7   31.8%     9
sum            22  100.0%    10
`)
  })

  test('says so where the second begins with the first', async () => {
    const { out } = await plimsoll(['diff', 'a.jsonl', '--counter', 'chars', '--call', '0,1'], file)
    expect(out).toBe(`\
calculator#0 -> #1 for openai
epoch 1 (start) -> 1 (start)
same: the second begins with all of the first and only goes on

           tokens   share  cost
shared         18   48.6%     2
re-billed       0    0.0%     0
added          19   51.4%    24
sum            37  100.0%    26
`)
    expect(await diffJson(['--call', '0,1'])).toEqual({
      conversation: 'calculator',
      calls: [0, 1],
      provider: 'openai',
      cause: 'none',
      epochs: [expect.objectContaining({ place: 1 }), expect.objectContaining({ place: 1 })],
      tokens: { shared: 18, rebilled: 0, added: 19 },
      cost: { shared: 1.8, rebilled: 0, added: 23.75 },
    })
  })

  test('prints what docs/cli.md shows', async () => {
    const files = { 'examples/trip.jsonl': trip['trip.jsonl'] }
    const command = 'node dist/src/cli/main.js diff examples/trip.jsonl --budget 3000 --call 14,15'
    expect((await plimsoll(command.split(' ').slice(2), files)).out).toBe(documented(command))
  })

  test('gives both sides as spans in JSON, with the texts there', async () => {
    const { cause, divergence, tokens } = await diffJson(['--call', '0,1', '--budget', '33'])
    expect(cause).toBe('window')
    expect(divergence).toEqual({
      byte: 99,
      index: 99,
      before: expect.objectContaining({ section: 'window', rule: 'verbatim', records: ['m1'], from: 72 }),
      after: expect.objectContaining({ section: 'window', rule: 'verbatim', records: ['m4'], from: 72 }),
      around: {
        shared: 'careful calculator."},{"role":"user","content":"'.slice(-40),
        before: 'What is 1+2?"}]}',
        after: 'And what is 10 plus 20 plus 30?"}]}',
      },
    })
    expect(tokens).toEqual({ shared: 15, rebilled: 0, added: 7 })
  })

  test('says tail where only that changed, and shows all sides in the width of the terminal', async () => {
    const argv = ['diff', 'a.jsonl', '--counter', 'chars', '--call', '0,1', '--tail', '30']
    const { out } = await plimsoll(argv, file, 100)
    expect(out).toContain('\ntail: the last block changed, as it may at every call')
    const sides = out.split('\n').filter((line) => line.includes('▸'))
    expect(sides.map((line) => line.length)).toEqual([100, 100])
    expect(sides[0]?.indexOf('▸')).toBe(sides[1]?.indexOf('▸'))
    expect(sides.every((line) => line.endsWith('…'))).toBe(true)
  })

  test('escapes what a terminal would obey, and parts no character', async () => {
    const conversation = (word: string) => [user(`${'🚆'.repeat(30)}\u202e${word}${'🚇'.repeat(90)}`)]
    const requests = jsonl({ messages: conversation('a\u202c') }, { messages: conversation('b\u202c') })
    for (const columns of [95, 96]) {
      const { out } = await plimsoll(['diff', 'a', '--lines', '1,2'], { a: requests }, columns)
      expect(out).toMatch(/…(🚆)+\\u202e▸a\\u202c(🚇)+…\n.*…(🚆)+\\u202e▸b\\u202c(🚇)+…\n/u)
    }
  })

  test('names the whole character where its last half differs, in bytes too', async () => {
    const { divergence } = await diffJson(['--lines', '1,2'], {
      'a.jsonl': jsonl({ messages: [user('🚆')] }, { messages: [user('🚇')] }),
    })
    expect(divergence.byte).toBe('{"messages":[{"role":"user","content":"'.length)
    expect(divergence.around).toMatchObject({ before: '🚆"}]}', after: '🚇"}]}' })
    const accents = jsonl({ messages: [user('éa')] }, { messages: [user('éb')] })
    const { byte, index } = (await diffJson(['--lines', '1,2'], { 'a.jsonl': accents })).divergence
    expect(byte).toBe(index + 1)
  })

  test('escapes the name of the conversation, too', async () => {
    const files = { 'a.jsonl': jsonl({ ...calculator, id: 'hi\u001b[2J' }) }
    const { out } = await plimsoll(['diff', 'a.jsonl', '--counter', 'chars', '--call', '0,1'], files)
    expect(out).toContain('hi\\u001b[2J#0 -> #1')
  })

  test.each([
    [['--call', '1,0'], '--call takes two whole numbers from 0 on, the smaller one first, not "1,0"'],
    [['--call', '1,1'], 'not "1,1"'],
    [['--call', '1'], 'not "1"'],
    [['--call', '0,1,2'], 'not "0,1,2"'],
    [['--lines', '0,1'], '--lines takes two whole numbers from 1 on'],
    [['--lines', '1,2', '--call', '0,1'], '--lines picks by itself'],
    [['--lines', '1,2', '--conversation', 'calculator'], '--lines picks by itself'],
    [[], 'diff: name two calls with --call <a>,<b>, or two requests with --lines <a>,<b>'],
    [['--call', '0,1', 'b.jsonl'], 'diff: name one file'],
    [['--call', '0,7'], 'no call 7 in conversation "calculator", which has model calls 0 to 1'],
  ])('%j is refused with status 2 and a reason', async (options, reason) => {
    const { status, out, err } = await plimsoll(['diff', 'a.jsonl', '--counter', 'chars', ...options], file)
    expect([status, out]).toEqual([2, ''])
    expect(err).toContain(reason)
  })

  test('a file that is not there is refused with status 2', async () => {
    for (const how of ['--call', '--lines'])
      expect(await plimsoll(['diff', 'b.jsonl', how, '1,2'], file)).toMatchObject({
        status: 2,
        err: expect.stringContaining('cannot read b.jsonl'),
      })
  })

  test('refused calls print their floors, and the status is 1', async () => {
    const argv = ['diff', 'a.jsonl', '--counter', 'bytes', '--call', '0,1', '--budget']
    const second = '(ERR_BUDGET_TOO_SMALL: user 35 + system 33 + framing 3)\n'
    expect(await plimsoll([...argv, '30'], file)).toMatchObject({
      status: 1,
      out:
        'refused: calculator#0 floor 52 > 30 (ERR_BUDGET_TOO_SMALL: system 33 + user 16 + framing 3)\n' +
        `refused: calculator#1 floor 71 > 30 ${second}`,
    })
    expect((await plimsoll([...argv, '60'], file)).out).toBe(`refused: calculator#1 floor 71 > 60 ${second}`)
  })

  test('a line that cannot be read is reported, the rest compared, and the status is 1', async () => {
    const { status, out, err } = await plimsoll(['diff', 'a.jsonl', '--counter', 'chars', '--call', '0,1'], {
      'a.jsonl': `${jsonl(calculator)}nonsense\n`,
    })
    expect([status, err]).toEqual([1, expect.stringContaining('a.jsonl line 2: ')])
    expect(out).toContain('same: ')
  })
})

describe('diff of two requests', () => {
  const requests = {
    'a.jsonl': jsonl(
      { conversation: 'c', call: 0, provider: 'openai', used: 10, request: { messages: [user('Hi.')] } },
      { conversation: 'c', call: 2, provider: 'openai', used: 30, request: { messages: [user('Ho.')] } },
      { conversation: 'c', call: 3, request: { messages: [user('Ho.'), assistant('Hm.'), user('Ha.')] } },
    ),
  }
  /** The diff of two bare requests. */
  const bare = (one: unknown, other: unknown) =>
    diffJson(['--lines', '1,2'], { 'a.jsonl': jsonl(one, other) })

  test('finds the byte that the diff of the calls finds, for both providers', async () => {
    const pair = fc.uniqueArray(fc.nat({ max: TRIP_CALLS - 1 }), { minLength: 2, maxLength: 2 })
    const provider = fc.constantFrom('openai', 'anthropic')
    const more = fc.constantFrom([], ['--tail', '80'])
    await fc.assert(
      fc.asyncProperty(pair, provider, more, async (numbers, name, extra) => {
        const calls = numbers.sort((a, b) => a - b).join(',')
        const options = ['--provider', name, ...extra]
        const files = { ...trip, r: await written(...options) }
        const json = ['--json', '--call', calls]
        const { out } = await plimsoll(['diff', 'trip.jsonl', '--budget', '3000', ...json, ...options], files)
        const known = JSON.parse(out)
        const given = JSON.parse((await plimsoll(['diff', 'r', ...json], files)).out)
        expect(given).toMatchObject({ calls: known.calls, provider: name, epochs: known.epochs })
        expect(given.divergence?.byte).toBe(known.divergence?.byte)
        expect(given.divergence?.index).toBe(known.divergence?.index)
        expect(given.divergence?.around).toEqual(known.divergence?.around)
        if (extra.length === 0) expect(given.cause).toBe(known.cause)
        const { shared, rebilled, added } = given.tokens
        expect(shared + rebilled + added).toBe(JSON.parse(files.r.split('\n')[known.calls[1]] ?? '').used)
      }),
      runs(12),
    )
  })

  test('prints what docs/cli.md shows', async () => {
    const command = 'node dist/src/cli/main.js diff requests.jsonl --call 14,15'
    const { out } = await plimsoll(command.split(' ').slice(2), { 'requests.jsonl': await written() })
    expect(out).toBe(documented(command))
  })

  test('names the message and its role on both sides, and counts bytes where no tokens are known', async () => {
    expect((await plimsoll(['diff', 'a.jsonl', '--lines', '1,2'], requests)).out).toBe(`\
line 1 -> 2 for openai
they part at byte 40, character 40
message: a message changed; a tail does so at every call

  1  messages[0]  user  …s":[{"role":"user","content":"H▸i."}]}
  2  messages[0]  user  …s":[{"role":"user","content":"H▸o."}]}

           tokens   share  cost
shared         27   90.0%     3
re-billed       0    0.0%     0
added           3   10.0%     4
sum            30  100.0%     6
`)
    expect((await plimsoll(['diff', 'a.jsonl', '--lines', '2,3'], requests)).out).toBe(`\
line 2 -> 3 for openai
same: the second begins with all of the first and only goes on

           bytes   share
shared        42   38.5%
re-billed      0    0.0%
added         67   61.5%
sum          109  100.0%
`)
  })

  test('says which of tools, system text and messages changed, in whatever order they stand', async () => {
    const tools = (name: string) => [{ name, input_schema: { type: 'object' } }]
    const messages = [user('Hi.')]
    const told = (system: string) => ({ system, tools: tools('look'), messages })
    const one = { messages, tools: tools('look'), system: 'Be brief.' }
    expect(await bare(one, told('Be brief.'))).toMatchObject({ cause: 'none' })
    const ordered = JSON.stringify({ tools: one.tools, system: one.system, messages })
    expect(await bare(one, told('Be kind.'))).toMatchObject({
      cause: 'system',
      divergence: {
        byte: ordered.indexOf('brief'),
        around: { shared: expect.stringMatching(/\}\}\],"system":"Be $/) },
        before: { path: 'system' },
        after: { path: 'system', to: ordered.indexOf(',"messages"') - 1 },
      },
    })
    expect(await bare(one, { ...one, messages: [user('Ho.')] })).toMatchObject({
      cause: 'message',
      divergence: {
        byte: ordered.indexOf('i."}'),
        before: { to: ordered.length },
        around: { shared: expect.stringMatching(/^,"messages":\[\{"role"/) },
      },
    })
    expect(await bare(one, { ...told('Be brief.'), tools: tools('see') })).toMatchObject({
      cause: 'tools',
      divergence: { byte: 19, before: { path: 'tools' }, after: { path: 'tools' } },
    })
    expect(await bare(one, { messages, system: 'Be brief.' })).toMatchObject({
      cause: 'tools',
      divergence: { byte: 2, before: { path: 'tools' }, after: { path: 'system' } },
    })
    const { out } = await plimsoll(['diff', 'a', '--lines', '1,2'], { a: jsonl(one, { messages }) })
    expect(out).toMatch(/\n {2}1 +tools +\{"▸tools":.+\n {2}2 +messages\[0\] +user +\{"▸messages":/)
    expect(await bare({ messages, system: 'Be brief.' }, one)).toMatchObject({ cause: 'tools' })
    expect(await bare({ messages }, { messages, system: 'Be brief.' })).toMatchObject({ cause: 'system' })
    for (const role of ['system', 'developer'])
      expect(
        await bare(
          { messages: [{ role, content: 'Be brief.' }, ...messages] },
          { messages: [{ role, content: 'Be kind.' }, ...messages] },
        ),
      ).toMatchObject({ cause: 'system', divergence: { before: { path: 'messages[0]', role } } })
    expect(await bare({ messages }, { messages: [...messages, assistant('A')] })).toMatchObject({
      cause: 'none',
    })
  })

  test('says so where the second one ends within the first', async () => {
    const messages = [user('Hi.'), assistant('Hello.'), user('Bye.')]
    const { divergence } = await bare({ messages }, { messages: messages.slice(0, 2) })
    expect(divergence.before).toMatchObject({ path: 'messages[2]', role: 'user' })
    expect(divergence.after).toMatchObject({ path: 'messages[1]', role: 'assistant' })
  })

  test('takes no cache mark for a difference, wherever it stands', async () => {
    const mark = { cache_control: { type: 'ephemeral', ttl: '1h' } }
    const message = (first: object, last: object) => ({
      role: 'user',
      content: [{ ...first, type: 'text', text: 'Hi.', ...last }],
    })
    for (const marked of [message(mark, {}), message({}, mark)])
      expect(await bare({ messages: [message({}, {})] }, { messages: [marked] })).toMatchObject({
        cause: 'none',
        bytes: { added: 0 },
      })
  })

  test('bills again what stood behind the difference and stands there still', async () => {
    const [cut, kept, fresh] = [user('Cut.'), assistant('This was there before.'), user('This is new.')]
    const one = { used: 50, request: { messages: [user('Hi.'), cut, kept] } }
    const other = { used: 60, request: { messages: [user('Hi.'), kept, fresh] } }
    const { bytes, tokens, cost } = await bare(one, other)
    const size = (value: unknown) => JSON.stringify(value).length
    const common = '{"role":"'.length
    expect(bytes).toEqual({
      shared: '[null,null]'.length + size(user('Hi.')) + common,
      rebilled: size(kept) - common,
      added: size(fresh),
    })
    expect(tokens.shared + tokens.rebilled + tokens.added).toBe(60)
    expect(cost.rebilled).toBe(1.25 * tokens.rebilled)
    expect(cost.shared).toBeCloseTo(0.1 * tokens.shared)
  })

  test('gives the cause of the epoch where both lines of a conversation carry one and it changed', async () => {
    const epoch = (id: string, cause: string) => ({ id, cause, place: 2 })
    const line = (text: string, more: object) => ({
      conversation: 'c',
      request: { messages: [user(text)] },
      ...more,
    })
    const cause = async (one: object, other: object, text = 'Ho.') =>
      (await bare(line('Hi.', one), line(text, other))).cause
    const window = { epoch: epoch('b', 'window') }
    expect(await cause({ epoch: epoch('a', 'start') }, window)).toBe('window')
    expect(await cause(window, window)).toBe('message')
    expect(await cause({}, window)).toBe('message')
    expect(await cause(window, {})).toBe('message')
    expect(await cause({ epoch: epoch('a', 'start') }, { ...window, conversation: 'd' })).toBe('message')
    expect(await cause({ epoch: epoch('a', 'start') }, { epoch: epoch('b', 'boredom') })).toBe('message')
    expect(await cause({ epoch: { ...epoch('a', 'start'), id: 1 } }, window)).toBe('message')
    expect(await cause({ epoch: { ...epoch('a', 'start'), place: '1' } }, window)).toBe('message')
    expect(await cause({ epoch: epoch('a', 'start') }, window, 'Hi.')).toBe('none')
  })

  test.each([
    [['--call', '0,4'], 'no call 4 of "c" in a.jsonl, which has 0, 2-3'],
    [['--call', '0,1'], 'no call 1 of "c"'],
    [['--call', '0,2', '--conversation', 'd'], 'no conversation "d" in a.jsonl, which has c'],
    [['--lines', '2,9'], 'no line 9 in a.jsonl, which has 3'],
  ])('%j is refused with status 2, and what there is is named', async (options, reason) => {
    const { status, out, err } = await plimsoll(['diff', 'a.jsonl', ...options], {
      'a.jsonl': requests['a.jsonl'].trimEnd(),
    })
    expect([status, out]).toEqual([2, ''])
    expect(err).toContain(reason)
  })

  test('a conversation has to be named where there are several, and its own calls are taken', async () => {
    const other = { conversation: 'd', call: 0, request: { messages: [user('Other.')] } }
    const files = { 'a.jsonl': jsonl(other, { ...other, call: 2 }) + requests['a.jsonl'] }
    expect((await plimsoll(['diff', 'a.jsonl', '--call', '0,2'], files)).err).toContain(
      'a.jsonl has several conversations; name one with --conversation: d, c',
    )
    expect(await diffJson(['--call', '0,2', '--conversation', 'c'], files)).toMatchObject({
      conversation: 'c',
      tokens: { shared: 27 },
    })
  })

  test('of two lines of one call the first is meant, and lines that name no call are passed over', async () => {
    const again = { conversation: 'c', call: 2, used: 99, request: { messages: [user('Again.')] } }
    const nameless = { conversation: 'c', request: again.request }
    const homeless = { call: 2, request: again.request }
    const files = { 'a.jsonl': requests['a.jsonl'] + jsonl(again, nameless, homeless) }
    expect(await diffJson(['--call', '0,2'], files)).toMatchObject({ tokens: { shared: 27, added: 3 } })
    expect((await plimsoll(['diff', 'a.jsonl', '--call', '2,4'], files)).err).toContain('has 0, 2-3\n')
  })

  test('a request for which nothing was counted has no shares', async () => {
    const request = { messages: [user('Hi.')] }
    const files = { 'a.jsonl': jsonl({ request }, { used: 0, request }) }
    const { out } = await plimsoll(['diff', 'a.jsonl', '--lines', '1,2'], files)
    expect(out).toMatch(/^line 1 -> 2\n/)
    expect(out).toContain('\nsum             0   0.0%     0\n')
  })

  test('a line that is no request is refused if it is asked for, else reported', async () => {
    const more = jsonl({ request: { messages: [] } }, [], { messages: [user('Hi.')] }, { messages: {} })
    const files = { 'a.jsonl': `\n${requests['a.jsonl']}nonsense\n${more}` }
    const lines = (pair: string) => plimsoll(['diff', 'a.jsonl', '--lines', pair], files)
    expect(await lines('2,5')).toMatchObject({ status: 2, err: expect.stringContaining('a.jsonl line 5: ') })
    expect((await lines('2,6')).err).toContain('a.jsonl line 6: no request with "messages"')
    expect((await lines('2,9')).err).toContain('a.jsonl line 9: no request with "messages"')
    expect((await lines('2,7')).err).toContain('a.jsonl line 7: not a JSON object')
    expect((await lines('1,2')).err).toContain('a.jsonl line 1: ')
    expect(await lines('2,8')).toMatchObject({ status: 0, err: '' })
    const { status, out, err } = await plimsoll(['diff', 'a.jsonl', '--call', '0,2'], files)
    expect([status, out]).toEqual([1, expect.stringContaining('c#0 -> #2 for openai')])
    expect(err.match(/line \d/g)).toEqual(['line 5', 'line 6', 'line 7', 'line 9'])
  })

  test('the first line that holds anything tells requests from conversations', async () => {
    const mixed = { 'a.jsonl': `\n${jsonl(calculator)}${requests['a.jsonl']}` }
    const { err, out } = await plimsoll(['diff', 'a.jsonl', '--counter', 'chars', '--call', '0,1'], mixed)
    expect(out).toContain('calculator#0 -> #1')
    expect(err).toContain('line 3: no "messages" array')
    const nonsense = await plimsoll(['diff', 'a.jsonl', '--call', '0,2'], {
      'a.jsonl': `nonsense\n${requests['a.jsonl']}`,
    })
    expect(nonsense).toMatchObject({ status: 2, err: expect.stringContaining('no conversation in a.jsonl') })
    expect(await plimsoll(['diff', 'a.jsonl', '--call', '0,2'], { 'a.jsonl': '\n' })).toMatchObject({
      status: 2,
      err: expect.stringContaining('no conversation in a.jsonl'),
    })
  })
})
