import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lawChecker } from '../../../src/assert-laws.ts'
import { type Context, charsPerToken, mapStore, readSource } from '../../../src/index.ts'
import { type FullMemoryOptions, type FullSession, fullMemory } from '../../contract/full-memory.ts'
import { runs } from '../support/runs.ts'

const ADA = { userId: 'ada' }

/** A session of a user who has these documents. */
async function open(
  documents: Readonly<Record<string, string>>,
  options: Partial<FullMemoryOptions> = {},
): Promise<FullSession> {
  const counter = charsPerToken(4)
  const memory = fullMemory({ store: mapStore(), budget: 16_000, counter, laws: lawChecker, ...options })
  for (const [name, text] of Object.entries(documents)) await memory.user(ADA).profile.set(name, text)
  const session = memory.session(ADA)
  await session.append({ role: 'user', content: 'Where to?' })
  return session
}

const systemOf = ({ blocks }: Context): string =>
  blocks
    .flatMap(({ section, parts: [part] }) => (section === 'system' && part?.type === 'text' ? part.text : []))
    .join()

const useOf = ({ receipt }: Context) => receipt.remembered?.find(({ name }) => name === 'profile')

/** A text of so many tokens, by four characters each. */
const words = (tokens: number, word = 'calm'): string => `${word} `.repeat(tokens).slice(0, tokens * 4)

describe('documents in a context', () => {
  it('stand as SOUL, MEMORY and TASKS, then the others by name', async () => {
    const names = ['A.md', 'MEMORY.md', 'SOUL.md', 'TASKS.md', 'b', 'soul.md']
    const session = await open(Object.fromEntries(names.map((name) => [name, `This is ${name}.`])))
    const shown = systemOf(await session.context()).match(/(?<=^## ).*$/gm)
    expect(shown).toEqual(['SOUL.md', 'MEMORY.md', 'TASKS.md', 'A.md', 'b', 'soul.md'])
  })

  it('are both whole at 16 000 tokens where each has 2 000', async () => {
    const documents = { 'SOUL.md': words(2_000), 'MEMORY.md': words(2_000, 'ship') }
    const context = await (await open(documents)).context()
    for (const text of Object.values(documents)) expect(systemOf(context)).toContain(text)
    expect(useOf(context)).toMatchObject({ items: 2, overflow: { count: 0, tokens: 0, first: [] } })
    expect(context.receipt.failures).toEqual([])
  })

  it('stay where another grew: the largest is shortened, and the context says so each time', async () => {
    const soul = words(500)
    const session = await open({ 'MEMORY.md': `first ${words(7_000, 'ship')} last`, 'SOUL.md': soul })
    for (const context of [await session.context(), await session.context()]) {
      const text = systemOf(context)
      expect(text).toContain(`## SOUL.md\n\n${soul}`)
      expect(text).toMatch(
        /## MEMORY.md\n\nfirst [\s\S]*\n\[cut from 70\d\d tokens, see profile\/MEMORY.md\]\n[\s\S]* last$/,
      )
      const { cap, tokens = 0, items, overflow } = useOf(context) ?? {}
      expect([cap, items, overflow?.count, overflow?.first]).toEqual([5_333, 2, 1, ['MEMORY.md']])
      expect(tokens).toBeGreaterThan(4_800)
      expect(tokens).toBeLessThanOrEqual(5_333)
      expect(context.receipt.failures).toEqual([
        {
          part: 'profile',
          code: 'ERR_LIMIT',
          message: 'context: MEMORY.md shown shortened, documents have 5333 tokens',
        },
      ])
    }
    const { text, total, trust } = await readSource(session, 'profile/MEMORY.md', { offset: 28_000 })
    expect([text.slice(-5), total, trust]).toEqual([' last', 28_011, 'user'])
  })

  it('are read back by what their marker says, if they are there', async () => {
    const session = await open({ 'SOUL.md': 'You are calm.' })
    await expect(readSource(session, 'profile/TASKS.md')).rejects.toMatchObject({ code: 'ERR_NOT_FOUND' })
    await expect(readSource(session, 'profile/')).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
  })

  it('take less where the least context has no room beside them', async () => {
    const session = await open({ 'SOUL.md': words(130) }, { budget: 400 })
    await session.append({ role: 'user', content: words(240) })
    const context = await session.context()
    expect(useOf(context)).toMatchObject({ cap: 50, overflow: { count: 1 } })
    expect(systemOf(context)).toContain('## SOUL.md\n\n')
  })

  it('all show, whatever their sizes, where there is room for a marker each', async () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 3_000 }), { minLength: 1, maxLength: 12 })
    const budget = fc.integer({ min: 1_500, max: 16_000 })
    await fc.assert(
      fc.asyncProperty(sizes, budget, async (sizes, budget) => {
        const documents = Object.fromEntries(sizes.map((size, index) => [`doc ${index}`, words(size)]))
        const context = await (await open(documents, { budget })).context()
        const text = systemOf(context)
        const { cap = 0, tokens = 0, items, overflow } = useOf(context) ?? {}
        expect(items).toBe(sizes.length)
        expect(tokens).toBeLessThanOrEqual(cap)
        const whole = Object.entries(documents).filter(([name, one]) => text.includes(`## ${name}\n\n${one}`))
        expect(overflow?.count).toBe(sizes.length - whole.length)
        expect(context.receipt.failures).toHaveLength(whole.length === sizes.length ? 0 : 1)
        // None that is shortened was smaller than one that is not.
        const smallest = Math.min(
          ...sizes.filter((_, index) => !whole.some(([name]) => name === `doc ${index}`)),
        )
        for (const [, one] of whole) expect(one.length / 4).toBeLessThanOrEqual(smallest)
      }),
      runs(40),
    )
  })
})
