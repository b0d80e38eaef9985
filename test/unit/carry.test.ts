import { describe, expect, it } from 'vitest'
import { refusalsOf } from '../../src/features/compaction/acceptance.ts'
import { type CarryInput, carryOver, weigh } from '../../src/features/compaction/carry.ts'
import type { Message } from '../../src/index.ts'

const count = (text: string): number => text.length
const said = (content: Message['content'], id = 'm'): Message => ({
  id,
  role: 'user',
  content,
  createdAt: 0,
  trust: 'user',
})
const found = (output: string): Message => said([{ type: 'tool-result', callId: 'a', output }])
interface Given extends Omit<CarryInput, 'weights'> {
  readonly told: string
  readonly before: string
  readonly cut: readonly Message[]
}

const carried = ({
  told = '',
  before = '',
  cut = [],
  ...input
}: Partial<Given>): ReturnType<typeof carryOver> =>
  carryOver({ pins: [], text: '', weights: weigh(told, before, cut), kept: '', room: 1_000, count, ...input })

describe('what is carried', () => {
  it('fills its room and no more, the heaviest names first', () => {
    // `names: ` and seven characters a name.
    const cut = [said('name_1 name_2 name_3 name_3 name_4')]
    expect(carried({ cut, room: 7 + 3 * 7 })).toEqual({
      text: 'names: name_1 name_2 name_3',
      lost: { count: 1, first: ['name_4'] },
    })
    expect(carried({ cut, room: 7 + 3 * 7 - 1 }).lost.count).toBe(2)
  })

  it('gives a quarter of the room to names that show anyway', () => {
    const cut = [said('name_1 name_2 name_3 name_4')]
    const { text, lost } = carried({ cut, kept: 'name_1 name_2 name_3', room: 7 + 4 * 7 })
    expect(text).toBe('names: name_1 name_4')
    expect(lost.count).toBe(0)
  })

  it('prefers what was spoken to what was read, and what came late', () => {
    const cut = [said('name_1'), found('name_2 name_3'), said('name_4')]
    expect(carried({ cut }).text).toBe('names: name_4 name_1 name_2 name_3')
  })

  it('prefers what was carried before to what was read', () => {
    const { text } = carried({ before: 'constraint: x\nnames: name_1 "two words"', cut: [found('name_2')] })
    expect(text).toBe('names: name_1 "two words" name_2')
  })
})

describe('a text', () => {
  const judge = (text: string, source: string, most = 40): readonly string[] =>
    refusalsOf({ text, source, sourceTokens: 1_000, most, count })

  it('may have as many tokens as it may have, and not one more; then nothing else is shown', () => {
    expect(judge('a'.repeat(40), '')).toEqual([])
    expect(judge(`{${'a'.repeat(39)}}`, '')).toEqual(['it has 41 tokens, more than 40'])
  })

  it('may repeat a rule with either apostrophe', () => {
    expect(judge("They don't fly.", 'We don’t fly.')).toEqual([])
    expect(judge('They don’t fly.', "We don't fly.")).toEqual([])
    expect(judge('They don’t fly.', 'We fly.')).toEqual(["it says “don't”, its source does not"])
  })
})
