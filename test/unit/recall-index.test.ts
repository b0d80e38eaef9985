import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rank } from '../../src/features/recall/rank.ts'
import { RecallIndex } from '../../src/features/recall/recall-index.ts'
import { englishStemmer } from '../../src/stemmer.ts'
import { addTo, conversations, idsFor, indexOf } from './support/recall.ts'
import { runs } from './support/runs.ts'

describe('an index', () => {
  it('that was loaded from blocks ranks as one to which the messages were added', () => {
    fc.assert(
      fc.property(conversations, fc.nat(14), ({ said, query }, cut) => {
        const added = indexOf(said)
        const loaded = new RecallIndex()
        const middle = Math.min(cut, said.length)
        expect(loaded.load(added.encode(0, middle))).toBe(true)
        expect(loaded.load(added.encode(middle, said.length))).toBe(true)
        expect(loaded.size).toBe(said.length)
        expect(rank([loaded], query, {})).toEqual(rank([added], query, {}))
        expect(loaded.encode(0, said.length)).toEqual(loaded.encode(0, said.length))
      }),
      runs(100),
    )
  })

  it('goes on after a block with messages that are added', () => {
    fc.assert(
      fc.property(conversations, fc.nat(14), ({ said, query }, cut) => {
        const loaded = new RecallIndex()
        loaded.load(indexOf(said.slice(0, cut)).encode(0, Math.min(cut, said.length)))
        addTo(loaded, said.slice(cut))
        expect(rank([loaded], query, {})).toEqual(rank([indexOf(said)], query, {}))
      }),
      runs(100),
    )
  })

  it('never finds again what was removed, nor by its words, also after a block', () => {
    fc.assert(
      fc.property(conversations, fc.nat(13), ({ said, query }, which) => {
        const index = indexOf(said)
        const id = `m${which}`
        index.remove(id)
        expect(index.has(id)).toBe(false)
        expect(idsFor(index, query)).not.toContain(id)
        const loaded = new RecallIndex()
        loaded.load(index.encode(0, index.size))
        expect(rank([loaded], query, {})).toEqual(rank([index], query, {}))
      }),
      runs(100),
    )
    const index = indexOf([
      { id: 'a', text: 'the secret zebra' },
      { id: 'b', text: 'something else' },
    ])
    expect(idsFor(index, 'zebra')).toEqual(['a', 'b'])
    index.remove('a')
    index.remove('never there')
    expect(idsFor(index, 'zebra')).toEqual([])
    expect(new TextDecoder().decode(index.encode(0, 2))).not.toContain('zebra')
  })

  it('knows nobody by name of whom all was removed', () => {
    const index = indexOf([
      { id: 'a', name: 'Ada', text: 'a lion' },
      { id: 'b', name: 'Bob', text: 'Ada has a zebra' },
    ])
    expect(idsFor(index, 'Ada')).toEqual(['a', 'b'])
    index.remove('a')
    expect([...index.speakers].join()).not.toContain('ada')
    expect(idsFor(index, 'Ada')).toEqual(['b'])
  })

  it('takes a removed message again, at its end', () => {
    const index = indexOf([{ id: 'a', text: 'zebra' }])
    index.remove('a')
    addTo(index, [{ id: 'a', text: 'lion' }])
    expect(index.size).toBe(2)
    expect(idsFor(index, 'lion')).toEqual(['a'])
    expect(idsFor(index, 'zebra')).toEqual([])
  })

  it('leaves a message as it is when it is added again', () => {
    const index = indexOf([
      { id: 'a', text: 'zebra' },
      { id: 'a', text: 'lion' },
    ])
    expect(index.size).toBe(1)
    expect(idsFor(index, 'lion')).toEqual([])
  })

  it('loads nothing from a block whose terms are of another stemmer', () => {
    const block = indexOf([{ id: 'a', text: 'zebra' }]).encode(0, 1)
    const index = new RecallIndex(englishStemmer)
    expect(index.load(block)).toBe(false)
    expect(index.size).toBe(0)
  })

  it('keeps a block small: a few bytes for each term of a message', () => {
    const said = Array.from({ length: 500 }, (_, number) => ({
      id: `m${number}`,
      text: Array.from({ length: 20 }, (__, word) => `word${(number * 7 + word * word) % 400}`).join(' '),
    }))
    expect(indexOf(said).encode(0, 500).length / (500 * 20)).toBeLessThan(4)
  })
})
