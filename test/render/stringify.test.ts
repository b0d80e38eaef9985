import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  createMemory,
  mapStore,
  type Part,
  stringifyAnthropic,
  stringifyOpenAI,
  stringifyOpenAIResponses,
} from '../../src/index.ts'
import { keptOf } from '../../src/kernel/context/kept.ts'
import type { Block, Context } from '../../src/ports/context.ts'
import { runs } from '../unit/support/runs.ts'
import {
  assistant,
  block,
  blockLists,
  call,
  contextOf,
  memory,
  result,
  searchTool,
  system,
  tail,
  toolLists,
  user,
} from './samples.ts'
import { expectTexts } from './texts.ts'

/** One thing that happens to what a context shows. */
type Change =
  | { readonly type: 'grow'; readonly by: number }
  /** Of the window, what is older than a place goes; where it began, another block may open it. */
  | { readonly type: 'cut'; readonly place: number; readonly opening: boolean }
  /** A block shows otherwise from now on. */
  | { readonly type: 'replace'; readonly place: number }
  /** The window shows so much less for one call. */
  | { readonly type: 'shrink'; readonly by: number }
  | { readonly type: 'head' }
  | { readonly type: 'tools' }
  | { readonly type: 'fence' }
  | { readonly type: 'tail'; readonly text: string }

const places = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })
const changes: fc.Arbitrary<readonly Change[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ type: fc.constant('grow' as const), by: fc.integer({ min: 1, max: 4 }) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ type: fc.constant('cut' as const), place: places, opening: fc.boolean() }),
    },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('replace' as const), place: places }) },
    {
      weight: 1,
      arbitrary: fc.record({ type: fc.constant('shrink' as const), by: fc.integer({ min: 1, max: 5 }) }),
    },
    { weight: 1, arbitrary: fc.constantFrom<Change>({ type: 'head' }, { type: 'tools' }, { type: 'fence' }) },
    {
      weight: 1,
      arbitrary: fc.record({ type: fc.constant('tail' as const), text: fc.constantFrom('', 'Now.', ' ') }),
    },
  ),
  { minLength: 5, maxLength: 20 },
)

const section = ({ section }: Block): boolean => section === 'system' || section === 'memory'
const atPlace = (place: number, list: readonly unknown[]): number => Math.floor(place * list.length)

function play(lists: readonly Block[][], all: readonly Change[], check: (context: Context) => void): void {
  let head = (lists[0] as Block[]).filter(section)
  const source = lists.flatMap((list) => list.filter((one) => !section(one) && one.section !== 'tail'))
  let from = 0
  let to = 0
  let fence = 'ctx-00000001'
  let said = ''
  let opening: Block | undefined
  let tools = [searchTool]
  const kept = { made: new Map() }
  for (const change of all) {
    let less = 0
    if (change.type === 'grow') to = Math.min(source.length, to + change.by)
    if (change.type === 'cut') {
      from += atPlace(change.place, source.slice(from, to))
      opening = change.opening ? user('(earlier messages are not shown)') : undefined
      fence = `ctx-${from}`.padEnd(12, '0')
    }
    if (change.type === 'replace' && to > from) {
      const index = from + atPlace(change.place, source.slice(from, to))
      const { role, parts, trust } = source[index] as Block
      source[index] = block(role, role === 'tool' ? parts : [...parts, { type: 'text', text: 'again' }], {
        trust,
      })
    }
    if (change.type === 'shrink') less = change.by
    if (change.type === 'head') head = head.length > 0 ? head.slice(1) : [system('You.'), memory('Ada.')]
    if (change.type === 'tools') tools = [{ ...searchTool, name: `${tools[0]?.name}x` }]
    if (change.type === 'fence') fence = `${fence.slice(0, -1)}f`
    if (change.type === 'tail') said = change.text
    const window = [...(opening ? [opening] : []), ...source.slice(from, Math.max(from, to - less))]
    const blocks = [...head, ...window, ...(said === '' ? [] : [tail(said)])]
    keptOf.set(blocks, kept)
    check({ ...contextOf(blocks, tools), fence })
  }
}

describe('a request as text', () => {
  it('is what JSON.stringify writes, whatever was written before', () => {
    fc.assert(
      fc.property(fc.array(blockLists, { minLength: 1, maxLength: 3 }), changes, (lists, all) => {
        play(lists, all, expectTexts)
      }),
      runs(150),
    )
  })

  it('has a mark where one moves to, if what was said before the newest reply can carry none', () => {
    const document = user([
      { type: 'opaque', provider: 'anthropic', value: { type: 'document', source: {} } },
    ])
    const blocks = [
      system('S'),
      user('1'),
      assistant('2'),
      document,
      assistant('3'),
      user('4'),
      assistant('5'),
    ]
    const kept = { made: new Map() }
    for (let end = 2; end <= blocks.length; end++) {
      const shown = blocks.slice(0, end)
      keptOf.set(shown, kept)
      expectTexts(contextOf(shown))
    }
  })

  it('is that for blocks in any order, with any tools', () => {
    expectTexts(contextOf([tail('T'), user('1'), assistant('2'), user('3'), assistant('4')]))
    fc.assert(
      fc.property(blockLists, toolLists, places, (blocks, tools, place) => {
        expectTexts(contextOf(blocks, tools))
        const from = atPlace(place, blocks)
        expectTexts(contextOf([...blocks.slice(from), ...blocks.slice(0, from)], tools))
      }),
      runs(100),
    )
  })

  it('has the fields of the body first, in their order, and none of those of the context', () => {
    const context = contextOf([system('S'), user('1')], [searchTool])
    expect(stringifyOpenAI(context, { model: 'm', stream: true, seed: undefined })).toMatch(
      /^\{"model":"m","stream":true,"tools":\[/,
    )
    for (const [field, write] of [
      ['messages', stringifyOpenAI],
      ['tools', stringifyOpenAI],
      ['input', stringifyOpenAIResponses],
      ['system', stringifyAnthropic],
    ] as const)
      expect(() => write(context, { model: 'm', [field]: [] })).toThrow(
        expect.objectContaining({
          code: 'ERR_INVALID_ARGUMENT',
          message: expect.stringContaining(`body.${field}`),
        }),
      )
    expect(stringifyOpenAI(contextOf([user('1')]), { tools: [] })).toMatch(/^\{"tools":\[\],/)
    expect(() => stringifyOpenAI(context, null as never)).toThrow('body must be an object')
    expect(() => stringifyOpenAI(context, {}, { ttl: '30m' } as never)).toThrow('ttl')
  })

  it('takes no body that says itself how it is written', () => {
    const toJSON = () => ({ messages: [] })
    const bodies = [
      { model: 'm', toJSON },
      Object.defineProperty({ model: 'm' }, 'toJSON', { value: toJSON, enumerable: false }),
      Object.assign(Object.create(Object.assign(Object.create(null), { toJSON })), { model: 'm' }),
    ]
    for (const write of [stringifyOpenAI, stringifyOpenAIResponses, stringifyAnthropic]) {
      for (const body of bodies)
        expect(() => write(contextOf([user('1')]), body)).toThrow(
          expect.objectContaining({
            code: 'ERR_INVALID_ARGUMENT',
            message: expect.stringContaining('body.toJSON'),
          }),
        )
      expect(write(contextOf([user('1')]), { toJSON: null })).toMatch(/^\{"toJSON":null,/)
    }
  })

  it('writes a copy with other blocks as it is, and leaves what is kept of the first alone', async () => {
    const session = createMemory({ store: mapStore(), system: 'S', budget: 8_000 }).session({ userId: 'ada' })
    for (const content of ['My code is 4711.', 'And now?']) {
      await session.append({ role: 'user', content })
      await session.append({ role: 'assistant', content: 'I see.' })
    }
    const masked = (part: Part): Part =>
      part.type === 'text' ? { ...part, text: part.text.replace('4711', '****') } : part
    for (const write of [stringifyOpenAI, stringifyOpenAIResponses, stringifyAnthropic]) {
      const context = await session.context()
      const before = write(context)
      expect(before).toContain('4711')
      const blocks = context.blocks.map((one) => ({ ...one, parts: one.parts.map(masked) }))
      const copy = { ...context, blocks }
      expect(write(copy)).toBe(before.replace('4711', '****'))
      expectTexts(copy)
      expect(write(await session.context())).toBe(before)
    }
  })

  it('renders and writes what is new, and where marks stand', () => {
    const read = new Map<Block, number>()
    const kept = { made: new Map() }
    const counted = (given: Block): Block => {
      const { parts } = given
      const made = { ...given }
      return Object.defineProperty(made, 'parts', {
        enumerable: true,
        get: () => {
          read.set(made, (read.get(made) ?? 0) + 1)
          return parts
        },
      })
    }
    const round = (id: string) => [
      ...[user(`Q ${id}`), assistant([call(id)]), result(id, 'found')],
      ...[assistant([call(`${id}b`)]), result(`${id}b`, 'found'), assistant('Done.')],
    ]
    const blocks = [system('S'), memory('M'), ...[1, 2, 3, 4, 5, 6].flatMap((id) => round(`c${id}`))].map(
      counted,
    )
    for (const write of [stringifyOpenAI, stringifyOpenAIResponses, stringifyAnthropic])
      for (const cache of [false, true]) {
        for (let end = 8; end <= blocks.length; end += 6) {
          read.clear()
          const shown = [...blocks.slice(0, end), tail('Now.')]
          keptOf.set(shown, kept)
          write(contextOf(shown), {}, { cache })
          if (end === 8) continue
          // The round before, where a mark moves on from it.
          const old = blocks.slice(0, end - 12)
          expect(old.filter((one) => read.has(one))).toEqual([])
        }
      }
  })
})
