import { describe, expect, it } from 'vitest'
import { factKey } from '../../../src/features/facts/fact.ts'
import { listOf, madeIn } from '../../../src/features/facts/fact-index.ts'
import { LIVE } from '../../../src/features/facts/live.ts'
import { decide } from '../../../src/kernel/log/decide.ts'
import { sealOp } from '../../../src/kernel/log/seal.ts'
import { bench, DAY, finding, NOON, openScope } from '../support/facts.ts'

const texts = (facts: readonly { readonly text: string }[]): readonly string[] =>
  facts.map(({ text }) => text)
const refusal = (code: string, more: object = {}) => expect.objectContaining({ code, ...more })

describe('what is remembered', () => {
  it('has defaults that follow from its kind and trust', async () => {
    const { facts } = bench()
    const { fact, status } = await facts.remember({ kind: 'constraint', text: 'Never deploy on Fridays.' })
    expect(status).toBe('new')
    expect(fact).toEqual({
      id: fact.id,
      kind: 'constraint',
      title: 'Never deploy on Fridays.',
      text: 'Never deploy on Fridays.',
      pinned: true,
      priority: 5,
      confidence: 1,
      trust: 'user',
      sources: [],
      createdAt: NOON,
      reviewAt: NOON + 180 * DAY,
    })
    const { fact: heard } = await facts.remember({
      kind: 'constraint',
      text: 'Requests are limited.',
      trust: 'tool',
    })
    expect(heard).toMatchObject({ pinned: false, confidence: 0.7, trust: 'tool' })
    for (const [kind, days, priority] of [
      ['finding', 30, 3],
      ['blocker', 7, 6],
      ['correction', 90, 7],
      ['preference', 180, 4],
    ] as const) {
      const { fact } = await facts.remember({ kind, text: `About ${kind}.` })
      expect(fact).toMatchObject({ reviewAt: NOON + days * DAY, priority, pinned: false })
    }
  })

  it('is read back as it was given', async () => {
    const { facts, messages } = bench()
    messages.set('m1', 'user')
    const input = {
      id: 'b1',
      kind: 'blocker',
      text: 'The build is red.',
      title: 'Red\nbuild',
      project: 'site',
      pinned: true,
      priority: 9,
      confidence: 0.25,
      trust: 'user',
      sources: ['m1', 'm1'],
      createdAt: 5,
      reviewAt: 6,
      expiresAt: NOON + 2 * DAY,
    } as const
    await facts.remember(input)
    expect(await facts.get('b1')).toEqual({ ...input, title: 'Red build', sources: ['m1'], status: 'open' })
    expect(await facts.get('b2')).toBeUndefined()
  })

  it('has the beginning of its text as its title, cut between words', async () => {
    const { facts } = bench()
    const titleOf = async (text: string, title?: string): Promise<string> =>
      (await facts.remember(finding(text, title === undefined ? {} : { title }))).fact.title
    expect(await titleOf('Version 2.5 is out. It breaks builds.')).toBe('Version 2.5 is out.')
    expect(await titleOf('one line\nanother line')).toBe('one line')
    const long = await titleOf(`${'word '.repeat(40)}.`)
    expect(long).toBe(`${'word '.repeat(16).trim()}…`)
    expect([...(await titleOf('😀'.repeat(100)))]).toHaveLength(80)
    expect([...(await titleOf('short', 'x'.repeat(100)))]).toHaveLength(80)
  })

  it('loses what cannot be seen', async () => {
    const { facts } = bench()
    const { fact } = await facts.remember(
      finding('a\u202eb\u200bc\u0000d\u{e0041}e\tf\ng\u{e0101}', { title: 'x\u2066y' }),
    )
    expect(fact).toMatchObject({ text: 'abcde\tf\ng', title: 'xy' })
    await expect(facts.remember(finding('\u200b \u0007'))).rejects.toEqual(
      refusal('ERR_INVALID_ARGUMENT', { argument: 'text' }),
    )
  })

  it.each([
    ['kind', { kind: 'rumour' }],
    ['text', { text: 7 }],
    ['text', { text: '\ud800' }],
    ['title', { title: '\u200b' }],
    ['pinned', { pinned: 'yes' }],
    ['priority', { priority: 10 }],
    ['priority', { priority: 1.5 }],
    ['priority', { priority: -1 }],
    ['confidence', { confidence: 1.1 }],
    ['confidence', { confidence: Number.NaN }],
    ['trust', { trust: 'god' }],
    ['sources', { sources: 'm1' }],
    ['sources', { sources: Array.from({ length: 65 }, (_, index) => `m${index}`) }],
    ['sources[0]', { sources: [''] }],
    ['supersedes', { supersedes: '' }],
    ['reviewAt', { reviewAt: 0.5 }],
    ['expiresAt', { expiresAt: 'soon' }],
    ['createdAt', { createdAt: Number.POSITIVE_INFINITY }],
    ['id', { id: 'x'.repeat(201) }],
    ['project', { project: '' }],
  ])('is refused for its %s: %j', async (argument, wrong) => {
    const { facts, store } = bench()
    await expect(facts.remember({ ...finding('A fact.'), ...(wrong as object) })).rejects.toEqual(
      refusal('ERR_INVALID_ARGUMENT', { argument }),
    )
    expect((await store.head()).seq).toBe(0)
  })

  it('is refused where it is no object', async () => {
    const { facts } = bench()
    await expect(facts.remember(null as never)).rejects.toEqual(
      refusal('ERR_INVALID_ARGUMENT', { argument: 'fact' }),
    )
    await expect(facts.prepare('commit', [null as never])).rejects.toEqual(
      refusal('ERR_INVALID_ARGUMENT', { argument: 'facts[0]' }),
    )
  })

  it('is refused above 2 KiB of JSON, before anything is written', async () => {
    const { facts, store } = bench()
    await expect(facts.remember(finding('é'.repeat(1_000)))).rejects.toEqual(
      refusal('ERR_ENTRY_TOO_LARGE', { limit: 2_048, size: expect.any(Number) }),
    )
    expect((await store.head()).seq).toBe(0)
    await facts.remember(finding('x'.repeat(1_600)))
  })

  it('is known where the same id has the same words, and refused where it has others', async () => {
    const { facts } = bench()
    const { fact } = await facts.remember(finding('The port is 8080.', { id: 'f' }))
    expect(await facts.remember(finding('The port is 8080.', { id: 'f' }))).toEqual({ fact, status: 'known' })
    await expect(facts.remember(finding('The port is 9090.', { id: 'f' }))).rejects.toEqual(
      refusal('ERR_DUPLICATE_ID', { id: 'f' }),
    )
    const { fact: longer } = await facts.remember(finding('The port is always the 8080!', { id: 'g' }))
    expect(longer.id).toBe('g')
    const { fact: merged } = await facts.remember(finding('The port, it is 8080!!', { id: 'h' }))
    expect(merged).toMatchObject({ id: 'f', text: 'The port, it is 8080!!' })
    expect(await facts.remember(finding('The port is 8080.', { id: 'f' }))).toEqual({
      fact: merged,
      status: 'known',
    })
  })

  it('gives the first result where an op is repeated, whatever came in between', async () => {
    const { facts } = bench()
    const first = await facts.remember(finding('The port is 8080.'), 'op-1')
    expect(first.status).toBe('new')
    const other = await facts.remember(finding('The port is 9090.', { supersedes: first.fact.id }), 'op-2')
    expect(await facts.remember(finding('The port is 9090.', { supersedes: first.fact.id }), 'op-2')).toEqual(
      other,
    )
    expect(await facts.remember(finding('Something else.'), 'op-2')).toEqual(other)
    const merged = await facts.remember(finding('The port is 9090. The port!', { priority: 9 }), 'op-3')
    expect(merged).toMatchObject({ status: 'merged', fact: { id: other.fact.id } })
    expect(await facts.remember(finding('The port is 9090. The port!', { priority: 9 }), 'op-3')).toEqual(
      merged,
    )
    await facts.forget(other.fact.id)
    for (const opId of ['op-2', 'op-3'])
      await expect(facts.remember(finding('Something else.'), opId)).rejects.toEqual(
        refusal('ERR_NOT_FOUND', { id: other.fact.id }),
      )
    for (const opId of ['', 'entry:x'])
      await expect(facts.remember(finding('x'), opId)).rejects.toEqual(
        refusal('ERR_INVALID_ARGUMENT', { argument: 'opId' }),
      )
  })

  it('cannot be written with an op that wrote something else', async () => {
    const { facts, store } = bench()
    const op = { kind: 'put', opId: 'o', key: 'task', base: null, value: 1 } as const
    await store.commit([sealOp(op)], decide)
    await expect(facts.remember(finding('x'), 'o')).rejects.toEqual(refusal('ERR_DUPLICATE_ID', { id: 'o' }))
  })
})

describe('sources', () => {
  it('lower the trust of what is taken from them', async () => {
    const { facts, messages } = bench()
    messages.set('said', 'user').set('read', 'web')
    await facts.remember(finding('One.', { id: 'one', sources: ['said', 'read'] }))
    await facts.remember(finding('Two.', { id: 'two', trust: 'user', sources: [factKey('one')] }))
    expect((await facts.get('two'))?.trust).toBe('web')
    for (const source of ['gone', factKey('gone')])
      await expect(facts.remember(finding('Three.', { sources: [source] }))).rejects.toEqual(
        refusal('ERR_NOT_FOUND', { id: source }),
      )
  })

  it('take what was taken from them along when they are forgotten', async () => {
    const { facts, messages, store } = bench()
    messages.set('m', 'user')
    await facts.remember(finding('One.', { id: 'one', sources: ['m'] }))
    await facts.remember(finding('Two.', { id: 'two', sources: [factKey('one')] }))
    await facts.remember(finding('Three.', { id: 'three' }))
    await store.commit([sealOp({ kind: 'delete', opId: 'forget', target: 'entry:m' })], decide)
    expect(await facts.get('one')).toBeUndefined()
    expect(await facts.get('two')).toBeUndefined()
    expect(texts(await facts.list())).toEqual(['Three.'])
    expect((await store.sums([LIVE])).get(LIVE)?.count).toBe(1)
  })
})

describe('trust', () => {
  it('must be that of the user for what is pinned or shared', async () => {
    const { facts } = bench()
    const shared = bench({ shared: true }).facts
    const low = { ...finding('Tools say so.'), trust: 'tool' } as const
    await expect(facts.remember({ ...low, pinned: true })).rejects.toEqual(
      refusal('ERR_INVALID_ARGUMENT', { argument: 'pinned', message: expect.stringContaining('promote') }),
    )
    await expect(shared.remember(low)).rejects.toEqual(
      refusal('ERR_INVALID_ARGUMENT', { argument: 'trust', message: expect.stringContaining('promote') }),
    )
    const { fact } = await facts.remember(low)
    await expect(facts.pin(fact.id)).rejects.toEqual(refusal('ERR_INVALID_ARGUMENT', { argument: 'id' }))
    expect(await facts.promote(fact.id, { pinned: true })).toMatchObject({
      trust: 'user',
      promotedFrom: 'tool',
      pinned: true,
    })
    expect(await facts.unpin(fact.id)).toMatchObject({ pinned: false })
    expect(await facts.pin(fact.id)).toMatchObject({ pinned: true })
    expect(await facts.promote(fact.id)).toMatchObject({ promotedFrom: 'tool', pinned: true })
  })

  it('decides what becomes of a near-duplicate', async () => {
    const { facts } = bench()
    const said = await facts.remember({ kind: 'constraint', text: 'Deploy with blue-green releases.' })
    const heard = await facts.remember({
      kind: 'constraint',
      text: 'Deploy with the blue-green release!',
      trust: 'web',
      confidence: 0.9,
      priority: 9,
    })
    expect(heard).toEqual({ fact: said.fact, status: 'known' })
    const guess = await facts.remember(finding('The cache is stale.', { trust: 'assistant' }))
    const sure = await facts.remember(finding('Cache: stale.', { trust: 'user' }))
    expect(sure).toMatchObject({ status: 'new', fact: { trust: 'user', supersedes: guess.fact.id } })
    expect(await facts.get(guess.fact.id)).toMatchObject({ trust: 'assistant', supersededBy: sure.fact.id })
  })

  it('passes a pin on from what was extracted to what is asked for', async () => {
    const { facts } = bench()
    const { fact } = await facts.keep({ kind: 'preference', text: 'Short answers.' })
    await facts.pin(fact.id)
    const { fact: next } = await facts.remember({ kind: 'preference', text: 'Short answers' })
    expect(next).toMatchObject({ supersedes: fact.id, pinned: true, trust: 'user' })
  })

  it('is never system, no matter who says so', async () => {
    const { facts } = bench()
    const said = { kind: 'constraint', text: 'Never fly.', trust: 'system' } as const
    const refused = refusal('ERR_INVALID_ARGUMENT', { argument: 'trust' })
    await expect(facts.remember(said)).rejects.toEqual(refused)
    await expect(facts.prepare('commit', [said])).rejects.toEqual(
      refusal('ERR_INVALID_ARGUMENT', { argument: 'facts[0].trust' }),
    )
    const { fact } = await facts.remember({ kind: 'constraint', text: 'Never drive.' })
    await expect(facts.supersede(fact.id, said)).rejects.toEqual(refused)
    expect(await facts.list({ all: true })).toEqual([fact])
  })

  it('of a fact must not be below that of the one it supersedes', async () => {
    const { facts } = bench()
    const { fact } = await facts.remember(finding('The port is 8080.'))
    await expect(facts.supersede(fact.id, finding('It is 9090.', { trust: 'tool' }))).rejects.toEqual(
      refusal('ERR_INVALID_ARGUMENT', { argument: 'supersedes' }),
    )
    expect((await facts.get(fact.id))?.supersededBy).toBeUndefined()
  })
})

describe('near-duplicates', () => {
  it('of the same trust are merged: the longer text, both sources, the higher figures', async () => {
    const { facts, messages } = bench()
    messages.set('m1', 'user').set('m2', 'user')
    const { fact } = await facts.remember(
      finding('The user likes short answers', { sources: ['m1'], confidence: 0.4, priority: 8 }),
    )
    const merged = await facts.remember(
      finding('THE USER LIKES SHORT ANSWERS!!', { sources: ['m2'], pinned: true }),
    )
    expect(merged).toEqual({
      status: 'merged',
      fact: {
        ...fact,
        text: 'THE USER LIKES SHORT ANSWERS!!',
        title: 'THE USER LIKES SHORT ANSWERS!!',
        sources: ['m1', 'm2'],
        confidence: 1,
        priority: 8,
        pinned: true,
      },
    })
    expect((await facts.remember(finding('The user likes short answers'))).status).toBe('known')
    expect(await facts.list()).toHaveLength(1)
  })

  it('of a constraint have the same words: one that says more may forbid less, and takes no place of another', async () => {
    const { facts } = bench()
    const rule = (text: string) => facts.remember({ kind: 'constraint', text })
    const { fact } = await rule('Never book a train before 9:00.')
    expect((await rule('Never book trains before 9:00')).fact.id).toBe(fact.id)
    expect((await rule('Never book a train before 9:00 in summer.')).status).toBe('new')
    expect((await facts.list()).map(({ text }) => text)).toContain('Never book a train before 9:00.')
    // Of a finding the longer one is the better one.
    await facts.remember(finding('The train leaves at 9:40 from platform 4'))
    expect((await facts.remember(finding('The train leaves at 9:40 from platform 4 daily'))).status).toBe(
      'merged',
    )
  })

  it('of another kind or project, or of what holds no more, stand beside each other', async () => {
    const { facts, clock } = bench()
    const input = { kind: 'blocker', text: 'The build is red.' } as const
    const { fact } = await facts.remember(input)
    expect((await facts.remember({ ...input, project: 'site' })).status).toBe('new')
    expect((await facts.remember({ ...input, kind: 'finding' })).status).toBe('new')
    await facts.resolve(fact.id)
    expect((await facts.remember({ ...input, expiresAt: NOON + 1 })).status).toBe('new')
    clock.now = NOON + DAY
    expect((await facts.remember(input)).status).toBe('new')
  })

  it('end with the later of the two, or never', async () => {
    const { facts } = bench()
    const until = async (expiresAt?: number) =>
      (await facts.remember(finding('The fair is on.', expiresAt === undefined ? {} : { expiresAt }))).fact
        .expiresAt
    expect(await until(NOON + DAY)).toBe(NOON + DAY)
    expect(await until(NOON + 3 * DAY)).toBe(NOON + 3 * DAY)
    expect(await until(NOON + 2 * DAY)).toBe(NOON + 3 * DAY)
    expect(await until()).toBeUndefined()
    expect(await until(NOON + 9 * DAY)).toBeUndefined()
  })

  it('are found among several: the most trusted one, then the one with the lowest id', async () => {
    const { facts } = bench()
    const common = 'apples pears plums cherries figs'
    await facts.remember(finding(`${common} melons`, { id: 'c', trust: 'tool' }))
    await facts.remember(finding(`${common} quinces`, { id: 'b', trust: 'user' }))
    await facts.remember(finding(`${common} dates`, { id: 'a', trust: 'tool' }))
    const twin = async (trust: 'web' | 'tool') => (await facts.remember(finding(common, { trust }))).fact.id
    expect(await twin('tool')).toBe('b')
    await facts.forget('b')
    expect(await twin('web')).toBe('a')
  })

  it('are not merged any more where their sources would not fit', async () => {
    const { facts, messages } = bench()
    for (let index = 0; index < 40; index++) messages.set(`m${index}${'x'.repeat(100)}`, 'user')
    const statuses: string[] = []
    for (const source of messages.keys())
      statuses.push((await facts.remember(finding('The cache is stale.', { sources: [source] }))).status)
    expect(new Set(statuses.slice(1, 10))).toEqual(new Set(['merged']))
    expect(new Set(statuses.slice(20))).toEqual(new Set(['known']))
    expect(await facts.list()).toHaveLength(1)
  })
})

describe('superseding', () => {
  it('takes the old fact off the lists, in one commit with the new one', async () => {
    const { facts, store } = bench()
    const { fact } = await facts.remember(finding('The port is 8080.', { id: 'a', pinned: true }))
    const { fact: next } = await facts.supersede('a', {
      kind: 'correction',
      text: 'The port is 9090.',
      id: 'b',
    })
    expect(next.supersedes).toBe('a')
    expect(await facts.get('a')).toEqual({ ...fact, supersededBy: 'b' })
    expect(texts(await facts.list())).toEqual(['The port is 9090.'])
    expect(texts(await facts.list({ all: true }))).toEqual(['The port is 8080.', 'The port is 9090.'])
    expect(await facts.top('pinned', undefined, 9, NOON)).toEqual([])
    expect((await store.sums([LIVE])).get(LIVE)?.count).toBe(1)
    await expect(facts.supersede('a', finding('It is 7070.'))).rejects.toEqual(
      refusal('ERR_CONFLICT', { id: 'a' }),
    )
    await expect(facts.supersede('z', finding('It is 7070.'))).rejects.toEqual(
      refusal('ERR_NOT_FOUND', { id: 'z' }),
    )
  })
})

describe('lists', () => {
  it('are in strict order: priority, confidence, the newest first', async () => {
    const { facts } = bench()
    const input = [
      ['d', 5, 1, 1],
      ['b', 5, 1, 3],
      ['a', 9, 0.1, 0],
      ['c', 5, 1, 2],
      ['e', 5, 0.9, 9],
    ] as const
    for (const [id, priority, confidence, createdAt] of input)
      await facts.remember(finding(`About ${id}${id}.`, { id, priority, confidence, createdAt }))
    const list = await facts.list()
    expect(list.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect((await facts.list({ first: 2, after: 'b' })).map(({ id }) => id)).toEqual(['c', 'd'])
    expect(await facts.list({ after: 'e' })).toEqual([])
    expect((await facts.list({ all: true, after: 'c' })).map(({ id }) => id)).toEqual(['d', 'e'])
    expect((await facts.top('shown', undefined, 3, NOON)).map(({ fact }) => fact.id)).toEqual(['a', 'b', 'c'])
    expect((await facts.top('recent', undefined, 9, NOON)).map(({ fact }) => fact.id).join('')).toBe('ebcda')
    expect((await facts.top('low', undefined, 9, NOON)).map(({ fact }) => fact.id)).toEqual(['a'])
    await expect(facts.list({ after: 'z' })).rejects.toEqual(refusal('ERR_NOT_FOUND', { id: 'z' }))
    await expect(facts.list({ first: -1 })).rejects.toEqual(
      refusal('ERR_INVALID_ARGUMENT', { argument: 'first' }),
    )
  })

  it('say where a fact stands in the store', async () => {
    const { facts, store } = bench()
    const { fact } = await facts.remember(finding('One.'))
    const row = await store.register(factKey(fact.id))
    expect(await facts.top('shown', undefined, 1, NOON)).toMatchObject([
      { fact, key: row?.key, seq: row?.seq },
    ])
  })

  it('hold what has no project and what is of the one that is asked for', async () => {
    const { facts } = bench()
    await facts.remember(finding('For all.', { priority: 5 }))
    await facts.remember(finding('Fonts of the site.', { priority: 9, project: 'site' }))
    await facts.remember(finding('Colours of the site.', { priority: 1, project: 'site' }))
    await facts.remember({ kind: 'preference', text: 'For the shop.', project: 'shop' })
    const top = async (project?: string) =>
      texts((await facts.top('shown', project, 9, NOON)).map(({ fact }) => fact))
    expect(await top()).toEqual(['For all.'])
    expect(await top('site')).toEqual(['Fonts of the site.', 'For all.', 'Colours of the site.'])
    expect(texts(await facts.list({ project: 'shop' }))).toEqual(['For all.', 'For the shop.'])
    expect(await facts.list()).toHaveLength(4)
    expect(texts(await facts.list({ kinds: ['preference'] }))).toEqual(['For the shop.'])
  })

  it('do not mix projects whose names look like groups', async () => {
    const { facts, store } = bench()
    const day = Math.floor(NOON / DAY) + 2
    await facts.remember(finding('One.', { project: 'x', expiresAt: NOON + DAY }))
    await facts.remember(finding('Two.', { project: `x/expires/1/${day}` }))
    const group = `${listOf('shown', 'x')}/expires/1/${day}`
    expect((await store.sums([group])).get(group)?.count).toBe(1)
  })

  it('of what is due end with the day', async () => {
    const { facts } = bench()
    const midnight = NOON + DAY / 2
    await facts.remember(finding('Later today.', { reviewAt: midnight - 1 }))
    await facts.remember(finding('Tomorrow.', { reviewAt: midnight }))
    await facts.remember(finding('Long ago.', { reviewAt: 5 }))
    expect(texts((await facts.top('due', undefined, 9, NOON)).map(({ fact }) => fact))).toEqual([
      'Long ago.',
      'Later today.',
    ])
  })

  it('leave out what ended by the start of the day, and the next write takes it off the indexes', async () => {
    const { facts, clock, store } = bench()
    const midnight = NOON + DAY / 2
    for (let index = 0; index < 20; index++)
      await facts.remember(finding(`Ends ${index}.`, { id: `e${index}`, expiresAt: midnight, priority: 9 }))
    await facts.remember(finding('Stays.'))
    expect(await facts.list()).toHaveLength(21)
    clock.now = midnight
    expect(texts(await facts.list())).toEqual(['Stays.'])
    expect(texts(await facts.list({ first: 1 }))).toEqual(['Stays.'])
    expect(texts((await facts.top('shown', undefined, 1, midnight)).map(({ fact }) => fact))).toEqual([
      'Stays.',
    ])
    const live = async () => (await store.sums([LIVE])).get(LIVE)?.count
    expect(await live()).toBe(21)
    await facts.remember(finding('Another.'))
    expect(await live()).toBe(22 - 8)
    expect((await facts.get('e0'))?.text).toBe('Ends 0.')
    expect(await facts.list({ all: true })).toHaveLength(22)
    expect((await facts.pin('e16')).pinned).toBe(true)
    expect((await facts.get('e16'))?.pinned).toBe(true)
    expect(await live()).toBe(6)
    expect(await facts.top('pinned', undefined, 9, NOON)).toEqual([])
    for (let round = 0; round < 2; round++) await facts.remember(finding(`More ${round}.`))
    expect(await live()).toBe(4)
  })
})

describe('changes', () => {
  it('resolve a blocker, once', async () => {
    const { facts, store } = bench()
    await facts.remember({ kind: 'blocker', text: 'The build is red.', id: 'b' })
    await facts.remember(finding('One.', { id: 'f' }))
    expect(await facts.resolve('b')).toMatchObject({ status: 'resolved' })
    const { seq } = await store.head()
    expect(await facts.resolve('b')).toMatchObject({ status: 'resolved' })
    expect((await store.head()).seq).toBe(seq)
    expect(texts(await facts.list())).toEqual(['One.'])
    await expect(facts.resolve('f')).rejects.toEqual(refusal('ERR_INVALID_ARGUMENT', { argument: 'id' }))
    await expect(facts.resolve('z')).rejects.toEqual(refusal('ERR_NOT_FOUND', { id: 'z' }))
  })

  it('forget a fact for ever', async () => {
    const { facts, store } = bench()
    await facts.remember(finding('One.', { id: 'f' }))
    await facts.pin('f')
    await facts.pin('f')
    await facts.forget('f')
    await facts.forget('f')
    // Each time it is written, that is marked.
    expect((await store.head()).seq).toBe(5)
    expect(await facts.get('f')).toBeUndefined()
    expect(await facts.list({ all: true })).toEqual([])
    await expect(facts.remember(finding('One.', { id: 'f' }))).rejects.toEqual(
      refusal('ERR_NOT_FOUND', { id: 'f' }),
    )
    await expect(facts.resolve('f')).rejects.toEqual(refusal('ERR_NOT_FOUND', { id: 'f' }))
    await expect(facts.forget('z')).rejects.toEqual(refusal('ERR_NOT_FOUND', { id: 'z' }))
    expect((await facts.remember(finding('One.'))).status).toBe('new')
  })

  it('by others in between are seen, up to eight times', async () => {
    const store = openScope()
    const other = bench({ store }).facts
    let races = 0
    let left = 0
    const racing = bench({
      store: new Proxy(store, {
        get: (_, key) => {
          if (key !== 'commit') return Reflect.get(store, key).bind(store)
          return async (...args: Parameters<typeof store.commit>) => {
            if (left-- > 0) {
              races++
              await other.review('f', 'good')
            }
            return store.commit(...args)
          }
        },
      }),
    })
    await other.remember(finding('One.', { id: 'f' }))
    left = 7
    expect(await racing.facts.pin('f')).toMatchObject({ pinned: true })
    expect(races).toBe(7)
    expect((await other.get('f'))?.review).toEqual({ interval: 365 })
    left = 8
    await expect(racing.facts.unpin('f')).rejects.toEqual(refusal('ERR_CONFLICT', { id: 'f' }))
    expect((await other.get('f'))?.pinned).toBe(true)
    left = 8
    await expect(racing.facts.supersede('f', finding('Two.'))).rejects.toEqual(refusal('ERR_CONFLICT'))
    expect(await other.list({ all: true })).toHaveLength(1)
  })

  it('that are made at once take effect one after the other', async () => {
    const { facts } = bench()
    const results = await Promise.all(
      Array.from({ length: 5 }, () => facts.remember(finding('The port is 8080.'))),
    )
    expect(results.map(({ status }) => status)).toEqual(['new', 'known', 'known', 'known', 'known'])
  })
})

describe('caps', () => {
  it('hold for live facts, by what is there after the write', async () => {
    const { facts, clock } = bench({ caps: { facts: 2 } })
    await facts.remember(finding('One.', { id: 'a', expiresAt: NOON + DAY }))
    await facts.remember(finding('Two.', { id: 'b' }))
    await expect(facts.remember(finding('Three.'))).rejects.toEqual(
      refusal('ERR_LIMIT', { limit: 2, message: expect.stringContaining('live facts') }),
    )
    expect((await facts.remember(finding('two', { priority: 9 }))).status).toBe('merged')
    expect((await facts.remember(finding('Two.'))).status).toBe('known')
    await facts.supersede('b', finding('Three.'))
    clock.now = NOON + 2 * DAY
    expect((await facts.remember(finding('Four.'))).status).toBe('new')
    await expect(facts.remember(finding('Five.'))).rejects.toEqual(refusal('ERR_LIMIT'))
  })

  it('that are lower than what is there stop only what is more', async () => {
    const { facts, store } = bench()
    for (const id of ['a', 'b', 'c']) await facts.remember(finding(`About ${id}${id}.`, { id }))
    const capped = bench({ store, caps: { facts: 1, perHour: 5 } }).facts
    expect((await capped.supersede('a', finding('Another.'))).status).toBe('new')
    await expect(capped.remember(finding('One more.'))).rejects.toEqual(refusal('ERR_LIMIT', { limit: 1 }))
    const slow = bench({ store, caps: { perHour: 1 } }).facts
    expect((await slow.remember(finding('Imported.', { createdAt: 5 }))).status).toBe('new')
    await expect(slow.remember(finding('One more.'))).rejects.toEqual(refusal('ERR_LIMIT', { limit: 1 }))
  })

  it('hold for new facts of an hour, superseded ones included', async () => {
    const { facts, clock, store } = bench()
    for (let index = 0; index < 120; index++)
      await facts.remember(finding(`Number ${index}.`, { id: `n${index}` }))
    const { seq } = await store.head()
    await expect(facts.supersede('n0', finding('Another.'))).rejects.toEqual(
      refusal('ERR_LIMIT', { limit: 120, message: expect.stringContaining('an hour') }),
    )
    expect((await store.head()).seq).toBe(seq)
    expect((await facts.remember(finding('Imported.', { createdAt: 5 }))).status).toBe('new')
    clock.now += 3_600_000
    expect((await facts.remember(finding('Another.'))).status).toBe('new')
    expect((await store.sums([madeIn(clock.now)])).get(madeIn(clock.now))?.count).toBe(1)
  })
})

describe('facts that are prepared', () => {
  it('are written by a commit together with others', async () => {
    const { facts, store } = bench()
    const { ops, remembered } = await facts.prepare('commit', [
      finding('The port is 8080.', { id: 'a' }),
      finding('the port is 8080', { id: 'b', priority: 7 }),
      finding('The port is 9090.', { id: 'c', supersedes: 'a', sources: ['fact/a'] }),
    ])
    expect(remembered.map(({ status, fact }) => `${fact.id} ${status}`)).toEqual([
      'a new',
      'a merged',
      'c new',
    ])
    // Each with its mark.
    expect(ops).toHaveLength(4)
    expect((await store.head()).seq).toBe(0)
    await store.commit(
      ops.map((op) => sealOp(op)),
      decide,
    )
    expect(texts(await facts.list())).toEqual(['The port is 9090.'])
    expect(await facts.get('a')).toMatchObject({ priority: 7, supersededBy: 'c' })
    expect((await facts.prepare('commit', [finding('the port is 9090')])).ops).toEqual([])
    const again = [
      finding('One thing.', { id: 'd' }),
      finding('Another.', { supersedes: 'd' }),
      finding('one thing', { id: 'f', project: 'site' }),
      finding('one thing', { id: 'g', kind: 'preference' }),
      finding('one thing', { id: 'e' }),
    ]
    expect((await facts.prepare('commit', again)).remembered.at(-1)).toMatchObject({
      status: 'new',
      fact: { id: 'e' },
    })
  })

  it('are refused by their path', async () => {
    const { facts } = bench({ caps: { facts: 2 } })
    await expect(facts.prepare('commit', [finding('x'), finding('y', { priority: 99 })])).rejects.toEqual(
      refusal('ERR_INVALID_ARGUMENT', { argument: 'facts[1].priority' }),
    )
    await expect(
      facts.prepare(
        'commit',
        Array.from({ length: 65 }, () => finding('x')),
      ),
    ).rejects.toEqual(refusal('ERR_INVALID_ARGUMENT', { argument: 'facts' }))
    await expect(
      facts.prepare(
        'commit',
        ['one', 'two', 'three'].map((text) => finding(text)),
      ),
    ).rejects.toEqual(refusal('ERR_LIMIT', { limit: 2 }))
  })
})

describe('reviews', () => {
  it('double the interval by default, up to a year', async () => {
    const { facts } = bench()
    await facts.remember({ kind: 'blocker', text: 'The build is red.', id: 'b' })
    expect(await facts.review('b', 'good')).toMatchObject({
      reviewAt: NOON + 14 * DAY,
      review: { interval: 14 },
    })
    expect(await facts.review('b', 'easy')).toMatchObject({ reviewAt: NOON + 42 * DAY })
    expect(await facts.review('b', 'hard')).toMatchObject({ reviewAt: NOON + Math.round(50.4 * DAY) })
    expect(await facts.review('b', 'again')).toMatchObject({ reviewAt: NOON + DAY, review: { interval: 1 } })
    for (let round = 0; round < 9; round++) await facts.review('b', 'easy')
    expect(await facts.get('b')).toMatchObject({ reviewAt: NOON + 365 * DAY })
    await expect(facts.review('b', 'fine' as 'good')).rejects.toEqual(
      refusal('ERR_INVALID_ARGUMENT', { argument: 'rating' }),
    )
  })

  it('take no schedule at its word', async () => {
    for (const result of [{ reviewAt: 0.5 }, { reviewAt: 1, review: new Map() }]) {
      const { facts } = bench({ schedule: () => result as never })
      await facts.remember(finding('One.', { id: 'f' }))
      await expect(facts.review('f', 'good')).rejects.toEqual(refusal('ERR_INVALID_ARGUMENT'))
    }
  })

  it('keep at most 1 KiB of state, whatever the fact takes', async () => {
    let length = 1_000
    const { facts } = bench({ schedule: () => ({ reviewAt: NOON, review: 'x'.repeat(length) }) })
    const { fact } = await facts.remember(finding('x'.repeat(1_630), { id: 'f' }))
    expect(JSON.stringify(fact).length).toBeGreaterThan(1_800)
    expect((await facts.review('f', 'good')).review).toHaveLength(1_000)
    expect((await facts.pin('f')).pinned).toBe(true)
    length = 1_023
    await expect(facts.review('f', 'good')).rejects.toEqual(
      refusal('ERR_ENTRY_TOO_LARGE', { size: 1_025, limit: 1_024 }),
    )
  })

  it('need a fact', async () => {
    const { facts } = bench()
    await expect(facts.review('z', 'good')).rejects.toEqual(refusal('ERR_NOT_FOUND', { id: 'z' }))
  })
})

it('refuses to list kinds that are no list', async () => {
  const { facts } = bench()
  await facts.remember(finding('The port is 8080.'))
  await expect(facts.list({ kinds: 7 as never })).rejects.toMatchObject({
    code: 'ERR_INVALID_ARGUMENT',
    argument: 'kinds',
  })
})
