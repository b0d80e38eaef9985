import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { termsOf } from '../../src/features/recall/message-terms.ts'
import { rank } from '../../src/features/recall/rank.ts'
import { RecallIndex } from '../../src/features/recall/recall-index.ts'
import { englishStemmer } from '../../src/stemmer.ts'
import { addTo, conversations, idsFor, indexOf, NOON, type Said } from './support/recall.ts'
import { runs } from './support/runs.ts'

const DAY = 86_400_000
const filler = (count: number, from = 0): readonly Said[] =>
  Array.from({ length: count }, (_, number) => ({ id: `f${from + number}`, text: `talk number ${number}` }))

describe('a ranking', () => {
  it('begins with the message that was asked for', () => {
    const index = indexOf([
      ...filler(10),
      { id: 'wanted', text: 'We booked the hotel Aurora in Bergen.' },
      ...filler(10, 10),
      { id: 'near', text: 'Any hotel will do.' },
    ])
    expect(idsFor(index, 'Which hotel in Bergen did we book?')[0]).toBe('wanted')
  })

  it('finds a message by the words of its neighbours', () => {
    const index = indexOf([
      ...filler(10),
      { id: 'question', text: 'Where did you leave the bicycle?' },
      { id: 'answer', text: 'Behind the library.' },
      ...filler(10, 10),
    ])
    const ids = idsFor(index, 'Where is the bicycle?')
    expect(ids).toContain('answer')
    expect(ids).not.toContain('f0')
    expect(ids.length).toBe(9)
    expect(idsFor(index, 'bicycle')).toHaveLength(5)
  })

  it('takes an answer for better than what was said before the question', () => {
    const index = indexOf([
      ...filler(5),
      { id: 'before', text: 'Behind the library.', name: 'Ada' },
      { id: 'question', text: 'Where did you leave the bicycle?', name: 'Bob' },
      { id: 'answer', text: 'Behind the library.', name: 'Ada' },
      ...filler(5, 5),
    ])
    const ids = idsFor(index, 'Where is the bicycle?')
    expect(ids.indexOf('answer')).toBeLessThan(ids.indexOf('before'))
  })

  it.each([
    ['北京的天气怎么样', '今天北京下雨了'],
    ['猫は何歳ですか', '猫が三歳になりました'],
    ['서울 여행', '지난주에 서울로 여행을 갔어요'],
    ['Sony カメラ', '新しい Sony のカメラを買った'],
  ])('finds by %s', (query, text) => {
    const index = indexOf([
      ...filler(8),
      { id: 'other', text: '明天去上海。そうですか。부산' },
      ...filler(8, 8),
      { id: 'wanted', text },
    ])
    expect(idsFor(index, query)[0]).toBe('wanted')
  })

  it('begins with the message that has all words, and in short, if they are no question', () => {
    const said = (id: string, text: string): Said => ({ id, text })
    const index = indexOf([
      ...filler(9),
      said('some', 'order_id order_id order_id'),
      said('question', 'Do you know the order_id 98f3 of the parcel that I sent to them last week?'),
      said('next', 'parcel'),
      ...filler(9, 9),
      said('wanted', 'order_id=98f3'),
    ])
    expect(idsFor(index, 'order_id 98f3').slice(0, 2)).toEqual(['wanted', 'question'])
  })

  it('is the same after another query, and after one that failed', () => {
    fc.assert(
      fc.property(conversations, fc.string(), ({ said, query }, other) => {
        const index = indexOf(said)
        const ranking = rank([index], query, {})
        rank([index], other, {})
        const broken = {
          id: 'f',
          text: 'rain',
          get sources(): readonly string[] {
            throw new Error('no sources')
          },
        }
        expect(() => rank([index], query, { facts: [broken] })).toThrow('no sources')
        expect(rank([index], query, {})).toEqual(ranking)
      }),
      runs(100),
    )
  })

  it('lets a stemmer bring forms together', () => {
    const index = new RecallIndex(englishStemmer)
    for (const text of ['They were hiking', 'nothing of the kind'])
      index.add(text, termsOf({ id: text, text, role: 'user', createdAt: NOON }, englishStemmer))
    expect(rank([index], 'hikes', { stemmer: englishStemmer })[0]?.id).toBe('They were hiking')
  })

  it('prefers who is named, and hides nobody', () => {
    const index = indexOf([
      { id: 'bob', text: 'I like tea', name: 'Bob' },
      ...filler(9),
      { id: 'ada', text: 'I like tea', name: 'Ada' },
    ])
    expect(idsFor(index, 'Does Ada like tea?').slice(0, 2)).toEqual(['ada', 'bob'])
    expect(idsFor(index, 'Does Bob like tea?').slice(0, 2)).toEqual(['bob', 'ada'])
    expect(idsFor(index, 'What did Ada say?')).toEqual(['ada'])
  })

  it('counts the small words of a question a little, and names of who speaks as such words too', () => {
    const index = indexOf([
      { id: 'from', text: 'a gift from my aunt' },
      ...filler(9),
      { id: 'gift', text: 'a gift, said some aunt' },
      ...filler(9, 9),
      { id: 'to', text: 'Ada, here', name: 'Bob' },
      ...filler(9, 18),
      { id: 'ada', text: 'thanks', name: 'Ada' },
    ])
    expect(idsFor(index, 'What gift from my aunt?').slice(0, 2)).toEqual(['from', 'gift'])
    expect(idsFor(index, 'Where is Ada?').filter((id) => !id.startsWith('f'))).toEqual(['ada', 'to'])
  })

  it('prefers what holds a question word for word to what says some of it often', () => {
    const index = indexOf([
      { id: 'often', text: 'the locker key, the locker key, the locker key of the cellar' },
      ...filler(9),
      {
        id: 'whole',
        text: 'so I ask myself again: is the locker key of the cellar with the porter at night',
      },
    ])
    expect(idsFor(index, 'Is the locker key of the cellar with the porter?')[0]).toBe('whole')
  })

  it('prefers a role that is named, by less', () => {
    const index = indexOf([
      ...filler(9),
      { id: 'user', text: 'the invoice', role: 'user' },
      ...filler(9, 9),
      { id: 'assistant', text: 'the invoice', role: 'assistant' },
      ...filler(9, 18),
    ])
    expect(idsFor(index, 'invoice by the assistant')[0]).toBe('assistant')
    expect(idsFor(index, 'invoice by the user')[0]).toBe('user')
  })

  it('prefers what the user said, where they speak of themselves', () => {
    const index = indexOf([
      ...filler(9),
      { id: 'assistant', text: 'the invoice', role: 'assistant' },
      ...filler(9, 9),
      { id: 'user', text: 'the invoice', role: 'user' },
      ...filler(9, 18),
    ])
    expect(idsFor(index, 'my invoice').slice(0, 2)).toEqual(['user', 'assistant'])
    expect(idsFor(index, 'an invoice').slice(0, 2)).toEqual(['assistant', 'user'])
  })

  it.each(['When did we talk about Giulia7?', 'Where did we meet Giulia7?', 'My friend Giulia7?'])(
    'finds the one message with a name, said by another, before what the user said near it: %s',
    (query) => {
      const index = indexOf(
        Array.from({ length: 40 }, (_, at) => [
          {
            id: `asked${at}`,
            text: `And what about number ${1000 + at}? I care about it.`,
            role: 'user' as const,
          },
          {
            id: `told${at}`,
            text: `It is open from ${at % 12}:15 on; ask for Giulia${at} at the counter.`,
            role: 'assistant' as const,
          },
        ]).flat(),
      )
      expect(idsFor(index, query)[0]).toBe('told7')
    },
  )

  it.each([
    ['What happened in June 2026?', 'june'],
    ['rain on 1 June', 'june'],
    ['rain on July 3rd', 'july'],
    ['What was in 2027?', 'later'],
    ['Which of 3000 rows came in 2027?', 'later'],
    ['rain in May', 'may'],
  ])('prefers the date of: %s', (query, id) => {
    const index = indexOf([
      { id: 'may', text: 'rain', createdAt: NOON },
      { id: 'june', text: 'rain', createdAt: Date.UTC(2026, 5, 1) },
      { id: 'july', text: 'rain', createdAt: Date.UTC(2026, 6, 3) },
      { id: 'later', text: 'rain', createdAt: Date.UTC(2027, 1, 28) },
    ])
    const ids = idsFor(index, query)
    expect(ids[0]).toBe(id)
    if (query.includes('rain')) expect(ids).toHaveLength(4)
  })

  it('takes "may" for a month only if it has a capital', () => {
    const index = indexOf([
      { id: 'april', text: 'rain', createdAt: NOON - 30 * DAY },
      { id: 'may', text: 'rain', createdAt: NOON },
    ])
    const scores = rank([index], 'may it rain', {}).map(({ score }) => score)
    expect(scores[0]).toBe(scores[1])
  })

  it('prefers a message that says when, if the question asks it', () => {
    const index = indexOf([
      { id: 'plain', text: 'The boiler was repaired by her.' },
      ...filler(9),
      { id: 'timed', text: 'The boiler was repaired last week.' },
    ])
    expect(idsFor(index, 'When was the boiler repaired?')[0]).toBe('timed')
  })

  it('leads from a fact to the messages that it was taken from', () => {
    const index = indexOf([...filler(12), { id: 'source', text: 'She said yes!' }, ...filler(12, 12)])
    const facts = [
      { id: 'fact', text: 'Engaged to be married', sources: ['source', 'forgotten'] },
      { id: 'other', text: 'Plays chess', sources: ['f3'] },
    ]
    expect(idsFor(index, 'married')).toEqual([])
    expect(idsFor(index, 'married', { facts })).toEqual(['source'])
    expect(idsFor(index, 'chess', { facts })).toEqual(['f3'])
    const stemmer = englishStemmer
    expect(rank([index], 'marries', { facts, stemmer }).map(({ id }) => id)).toEqual(['source'])
    expect(idsFor(index, 'marries', { facts })).toEqual([])
  })

  it('is one over several sessions, and says which', () => {
    const one = indexOf([...filler(5), { id: 'a', text: 'the blue whale, seen at noon' }])
    const other = indexOf([...filler(5, 5), { id: 'b', text: 'a whale, blue whale' }])
    const ranking = rank([one, other], 'blue whale', {})
    expect(ranking.slice(0, 2).map(({ index, id }) => [index, id])).toEqual([
      [1, 'b'],
      [0, 'a'],
    ])
    expect(ranking.every(({ index, id }) => [one, other][index]?.has(id))).toBe(true)
  })

  it('gives equal scores in the order of the sessions and of their logs', () => {
    const texts = (from: number): readonly Said[] =>
      Array.from({ length: 30 }, (_, number) => ({ id: `m${from + number}`, text: 'same' }))
    const ranking = rank([indexOf(texts(0)), indexOf(texts(30))], 'same', {})
    const inside = ranking
      .filter(({ score }) => score === ranking[4]?.score)
      .map(({ index, id }) => ({ index, id }))
    const places = inside.map(({ id }) => Number(id.slice(1)))
    expect(places).toEqual([...places].sort((left, right) => left - right))
    expect(places.length).toBeGreaterThan(20)
  })

  it('does not depend on the order in which terms became known', () => {
    fc.assert(
      fc.property(conversations, ({ said, query }) => {
        const index = new RecallIndex()
        addTo(index, [{ id: 'x', text: query.split(' ').reverse().join(' ') }])
        index.remove('x')
        addTo(index, said)
        expect(rank([index], query, {}).map(({ id }) => id)).toEqual(idsFor(indexOf(said), query))
      }),
      runs(100),
    )
  })

  it('is sorted, without repetition, and as long as its limit', () => {
    fc.assert(
      fc.property(conversations, fc.integer({ min: 0, max: 5 }), ({ said, query }, limit) => {
        const all = rank([indexOf(said)], query, {})
        const scores = all.map(({ score }) => score)
        expect(scores).toEqual([...scores].sort((left, right) => right - left))
        expect(scores.every(Number.isFinite)).toBe(true)
        expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
        expect(rank([indexOf(said)], query, { limit })).toEqual(all.slice(0, limit))
      }),
      runs(100),
    )
  })

  it('scores a message as the best of its passages, and each of them the same after another query', () => {
    const paragraph = (text: string) => text.padEnd(200, ' yes')
    fc.assert(
      fc.property(conversations, fc.string(), ({ said, query }, other) => {
        const long = said.map((one, place) => {
          const next = said[(place + 1) % said.length] as Said
          return { ...one, text: [one.text, 'rain', next.text].map(paragraph).join('\n\n') }
        })
        const index = indexOf(long)
        rank([index], other, {})
        rank([index], 'rain? Ada, yes', {})
        const ranking = rank([index], query, {})
        for (const { score, passages } of ranking) expect(score).toBe(Math.max(...passages))
        expect(ranking).toEqual(rank([indexOf(long)], query, {}))
      }),
      runs(100),
    )
  })

  it('has at most 200 messages, if nothing else is asked', () => {
    const said = Array.from({ length: 300 }, (_, number) => ({ id: `m${number}`, text: 'same' }))
    expect(rank([indexOf(said)], 'same', {})).toHaveLength(200)
  })
})

describe('hostile input', () => {
  it.each([
    ['nothing', ''],
    ['blanks', ' \n\t'],
    ['stop words', 'the of and'],
    ['control characters', '\0\u0001\u001f'],
    ['marks', '?!'],
    ['64 Ki of one letter', 'x'.repeat(65_536)],
    ['a picture', '🚆'],
  ])('finds nothing by %s', (_, query) => {
    expect(idsFor(indexOf(filler(5)), query)).toEqual([])
    expect(rank([], query, {})).toEqual([])
    expect(rank([new RecallIndex()], query, {})).toEqual([])
  })

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    'finds %s as a word like others',
    (word) => {
      const index = indexOf([...filler(9), { id: 'wanted', text: `the ${word} of it` }])
      expect(idsFor(index, word)[0]).toBe('wanted')
      expect(idsFor(indexOf(filler(9)), word)).toEqual([])
    },
  )

  it('has no more terms than 256 Ki units hold, however long the text is', () => {
    const texts = [
      'a'.repeat(65_536),
      'ab '.repeat(22_000),
      '猫'.repeat(65_536),
      '\0'.repeat(65_536),
      '\u0301'.repeat(65_536),
    ]
    const different = Array.from({ length: 200_000 }, (_, number) => `w${number}`).join(' ')
    for (const text of [...texts, different]) {
      const { passages } = termsOf({ id: 'm', text, role: 'tool', createdAt: 0 }, undefined)
      expect(passages.map(({ terms }) => terms.join(' ')).join().length).toBeLessThan(270_000)
    }
  })

  it('looks for no more than 64 terms of a long query', () => {
    const index = indexOf([])
    const looked = new Set<string>()
    index.postings = (term) => {
      looked.add(term)
      return []
    }
    rank([index], Array.from({ length: 1000 }, (_, number) => `word${number}`).join(' '), {})
    expect(looked.size).toBe(64)
  })
})
