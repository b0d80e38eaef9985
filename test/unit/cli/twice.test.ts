import { describe, expect, test } from 'vitest'
import type { TwiceOptions } from '../../../src/cli/arguments.ts'
import { type Build, twiceCommand } from '../../../src/cli/twice.ts'
import { remember } from '../../../src/replay/plimsoll.ts'
import { isRefusal } from '../../../src/replay/policy.ts'
import { filesIo, jsonl, plimsoll } from '../support/command.ts'
import { assistant, calculator, documented, trip, user } from '../support/recordings.ts'

const look = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }
const looking = {
  id: 'looking',
  messages: [
    user('Look.'),
    { role: 'assistant', content: null, tool_calls: [look] },
    { role: 'tool', tool_call_id: 'c1', content: 'A tree.' },
    assistant('I see a tree.'),
  ],
}
const options: TwiceOptions = {
  command: 'twice',
  files: ['a.jsonl'],
  budget: 1_000,
  counter: 'chars',
  tail: 0,
  compact: false,
}

/** `lint --twice` with a builder of one's own. */
async function twice(build: Build, more: Partial<TwiceOptions> = {}, file = jsonl(calculator, looking)) {
  const { io, said } = filesIo({ 'a.jsonl': file })
  const status = await twiceCommand({ ...options, ...more }, io, build)
  return { status, ...said() }
}

describe('lint --twice', () => {
  test('finds nothing in what Plimsoll builds, through epochs and refusals', async () => {
    for (const more of [[], ['--tail', '80'], ['--rounds', '4', '--keep', '2'], ['--provider', 'anthropic']])
      expect(await plimsoll(['lint', '--twice', 'trip.jsonl', '--budget', '3000', ...more], trip)).toEqual({
        status: 0,
        out: '35 contexts built twice, 0 calls refused twice, 0 problems\n',
        err: '',
        written: {},
      })
    const small = ['lint', '--twice', 'trip.jsonl', '--budget', '230', '--counter', 'chars']
    const { status, out } = await plimsoll(small, trip)
    const [built = 0, refused = 0, problems] = (out.match(/\d+/g) ?? []).map(Number)
    expect([status, built + refused, problems]).toEqual([0, 35, 0])
    expect(Math.min(built, refused)).toBeGreaterThan(0)
  })

  test('prints what docs/cli.md shows', async () => {
    const command = 'node dist/src/cli/main.js lint --twice examples/trip.jsonl --budget 3000'
    const { out } = await plimsoll(command.split(' ').slice(2), {
      'examples/trip.jsonl': trip['trip.jsonl'],
    })
    expect(out).toBe(documented(command))
  })

  test('finds a system text with the clock in it, at every call', async () => {
    const { status, out } = await twice((conversation, settings, host, cold) =>
      remember({ ...conversation, system: `It is ${host.now()}.` }, settings, host, cold),
    )
    expect(status).toBe(1)
    expect(out.split('\n')).toEqual([
      expect.stringMatching(
        /^a\.jsonl:1 calculator#0 unstable-prefix at system: two builds .+ byte \d+, in system \(head\/\w+\)$/,
      ),
      expect.stringMatching(/^a\.jsonl:1 calculator#1 unstable-prefix at system: /),
      expect.stringMatching(/^a\.jsonl:2 looking#0 unstable-prefix at system: /),
      expect.stringMatching(/^a\.jsonl:2 looking#1 unstable-prefix at system: /),
      '4 contexts built twice, 0 calls refused twice, 4 problems',
      '',
    ])
  })

  test("looks at the requests of the conversation's own provider, or of the one that is named", async () => {
    const build: Build = (conversation, settings, host, cold) =>
      remember({ ...conversation, system: `It is ${host.now()}.` }, settings, host, cold)
    const byteOf = async (format: string, more: Partial<TwiceOptions> = {}) => {
      const messages = calculator.messages.slice(1)
      const { out } = await twice(build, more, jsonl({ id: 'calculator', format, messages }))
      return /byte (\d+)/.exec(out)?.[1]
    }
    expect(await byteOf('openai')).not.toBe(await byteOf('anthropic'))
    expect(await byteOf('openai', { provider: 'anthropic' })).toBe(await byteOf('anthropic'))
  })

  test('opens a new session for each call on one side, and one for all on the other', async () => {
    const texts = { warm: 0, cold: 0 }
    await twice(
      (conversation, settings, host, cold) => {
        const count = (text: string): number => {
          if (text === conversation.system) texts[cold ? 'cold' : 'warm']++
          return settings.counter.count(text)
        }
        return remember(conversation, { ...settings, counter: { ...settings.counter, count } }, host, cold)
      },
      { counter: 'bytes' },
      jsonl(calculator),
    )
    expect(texts.warm).toBeGreaterThan(0)
    expect(texts.cold).toBeGreaterThan(texts.warm)
  })

  test('finds a fresh id in a tool output, from the call on that shows it', async () => {
    const { status, out } = await twice((conversation, settings, host, cold) => {
      const chooser = remember(conversation, settings, host, cold)
      return {
        ...chooser,
        append: (message) => {
          if (message.role !== 'tool' || typeof message.content === 'string') return chooser.append(message)
          const content = message.content.map((part) =>
            part.type === 'tool-result' ? { ...part, output: `[cut, see ${host.newId()}]` } : part,
          )
          return chooser.append({ ...message, content })
        },
      }
    })
    expect(status).toBe(1)
    expect(out).toMatch(
      /^a\.jsonl:2 looking#1 unstable-prefix at window: two builds .+, in window \(m3\)\n4 contexts .+ 1 problems\n$/,
    )
  })

  test('finds what only a cold session builds otherwise', async () => {
    const { out } = await twice((conversation, settings, host, cold) =>
      remember({ ...conversation, ...(cold && { system: 'Be cold.' }) }, settings, host, cold),
    )
    expect(out).toContain('4 problems')
  })

  test('finds hashes and counts that differ where no byte does', async () => {
    const { status, out } = await twice(
      (conversation, settings, host, cold) => {
        const chooser = remember(conversation, settings, host, cold)
        return {
          ...chooser,
          choose: async (tail) => {
            const choice = await chooser.choose(tail)
            if (isRefusal(choice) || !cold) return choice
            return { ...choice, tokens: choice.tokens + 1, context: { ...choice.context, hash: 'other' } }
          },
        }
      },
      {},
      jsonl({ ...calculator, messages: calculator.messages.slice(0, 3) }),
    )
    expect(status).toBe(1)
    expect(out).toMatch(
      /^a\.jsonl:1 calculator#0 unstable-hash at hash: two builds of one context give \w{64} and other\n/,
    )
    expect(out).toContain(
      'calculator#0 unstable-count at receipt.used: two builds of one context give 18 tokens and 19 tokens\n',
    )
  })

  test('finds a call that only one of them refuses, or each for another reason', async () => {
    const under =
      (difference: number): Build =>
      (conversation, settings, host, cold) =>
        remember(conversation, { ...settings, budget: settings.budget - (cold ? difference : 0) }, host, cold)
    const { status, out } = await twice(under(1), { counter: 'bytes', budget: 71 }, jsonl(calculator))
    expect(status).toBe(1)
    expect(out).toBe(
      'a.jsonl:1 calculator#1 unstable-refusal at context: two builds of one context give a context and ' +
        'a refusal with floor 71 (ERR_BUDGET_TOO_SMALL: user 35 + system 33 + framing 3)\n' +
        '1 contexts built twice, 0 calls refused twice, 1 problems\n',
    )
    const floors = await twice(
      (conversation, settings, host, cold) => {
        const system = `${conversation.system}${cold ? ' Be very quick.' : ''}`
        return remember({ ...conversation, system }, settings, host, cold)
      },
      { counter: 'bytes', budget: 5 },
      jsonl(calculator),
    )
    expect(floors.out).toContain('give a refusal with floor 52 (')
    expect(floors.out).toContain('0 contexts built twice, 2 calls refused twice, 2 problems\n')
  })

  test('gives both builds the same messages, and other clocks and ids', async () => {
    const seen = { cold: [] as unknown[], warm: [] as unknown[] }
    const hosts: [number, string][] = []
    await twice((conversation, settings, host, cold) => {
      const chooser = remember(conversation, settings, host, cold)
      hosts.push([host.now(), host.newId()])
      return {
        ...chooser,
        append: async (message) => {
          seen[cold ? 'cold' : 'warm'].push(message)
          await chooser.append(message)
        },
      }
    })
    expect(seen.warm).toEqual(seen.cold)
    expect(seen.warm[1]).toMatchObject({ id: 'm2', createdAt: 1, role: 'assistant' })
    const [one, other] = hosts
    expect(one?.[0]).not.toBe(other?.[0])
    expect(one?.[1]).not.toBe(other?.[1])
  })

  test('reports a line that cannot be read, and what the memory does not take, and goes on', async () => {
    const broken = { id: 'broken', messages: [user('Hi'), assistant('\ud800'), user('?'), assistant('!')] }
    const files = { 'a.jsonl': `nonsense\n${jsonl(broken, calculator)}` }
    const { status, out, err } = await plimsoll(['lint', '--twice', 'a.jsonl', '--counter', 'chars'], files)
    expect(status).toBe(1)
    expect(err).toMatch(/^plimsoll: a\.jsonl line 1: .+\nplimsoll: a\.jsonl line 2: .+\n$/)
    expect(out).toBe('3 contexts built twice, 0 calls refused twice, 0 problems\n')
  })

  test('does not take a fault of the program for a line that cannot be read', async () => {
    const broken: Build = () => {
      throw new TypeError('no such thing')
    }
    await expect(twice(broken)).rejects.toThrow('no such thing')
  })

  test.each([
    [['lint', '--twice'], 'lint --twice: name at least one file'],
    [['lint', '--twice', 'b.jsonl'], 'cannot read b.jsonl'],
    [['lint', '--twice', 'a.jsonl', '--json'], "Unknown option '--json'"],
    [['lint', '--twice', 'a.jsonl', '--budget', 'x'], '--budget takes a whole number from 1 on, not "x"'],
  ])('%j is refused with status 2 and a reason', async (argv, reason) => {
    const { status, err } = await plimsoll(argv, { 'a.jsonl': jsonl(calculator) })
    expect([status, err]).toEqual([2, expect.stringContaining(reason)])
  })
})
