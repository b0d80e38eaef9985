import { describe, expect, it } from 'vitest'
import { SECRET } from '../../../src/kernel/context/secret.ts'
import { decide } from '../../../src/kernel/log/decide.ts'
import { sealOp } from '../../../src/kernel/log/seal.ts'
import { carriers, followed } from '../../../src/operations/transfer/follow.ts'
import type { SealedOp } from '../../../src/ports/op.ts'
import type { LogRow, ScopeStore } from '../../../src/ports/store.ts'
import {
  PUSH_OPS,
  type PullAnswer,
  type PullRequest,
  type PushAnswer,
  type SyncOp,
} from '../../../src/ports/sync.ts'
import { encryptedStore, secretKeys } from '../../../src/stores/encrypted/index.ts'
import { mapStore } from '../../../src/stores/map.ts'
import { answerPull, PULL_OPS } from '../../../src/sync/answer-pull.ts'
import { answerPush, homeScope } from '../../../src/sync/home.ts'
import { NO_GENERATION } from '../../../src/sync/state.ts'
import { tokOf } from '../../../src/sync/tok.ts'
import { append, erase, mark, names, put, remove, SCOPE } from '../../contract/samples.ts'

let toks = 0
const newTok = (): string => `tok-${++toks}`
const START: PullRequest = { cursor: 0, anchor: '' }

function openScope(): ScopeStore {
  return mapStore().open(SCOPE)
}

function opsOf(...ops: readonly SealedOp[]): readonly SyncOp[] {
  return ops.map(({ envelope, bodies }) => ({ envelope, bodies }))
}

function push(scope: ScopeStore, generation: string, ...ops: readonly SealedOp[]): Promise<PushAnswer> {
  return answerPush(scope, { generation, ops: opsOf(...ops) }, { newTok })
}

async function pull(scope: ScopeStore, request: PullRequest, bytes?: number) {
  const answer = await answerPull(scope, request, { newTok, ...(bytes !== undefined && { bytes }) })
  if ('reset' in answer) throw new Error(`reset: ${answer.reset}`)
  return answer
}

function placeIn({ generation, cursor, anchor }: Exclude<PullAnswer, { reset: unknown }>): PullRequest {
  return { generation, cursor, anchor }
}

describe('an empty home', () => {
  it('answers a pull without a trace', async () => {
    const store = mapStore()
    const answer = await pull(store.open(SCOPE), START)
    expect(answer).toEqual({ generation: NO_GENERATION, from: 0, ops: [], cursor: 0, anchor: '', head: 0 })
    expect(await store.scopes()).toEqual([])
  })

  it('begins a generation with the first push, which the one who pulled before follows', async () => {
    const scope = openScope()
    const before = await pull(scope, START)
    const answer = await push(scope, before.generation, append('o1', ['m1']))
    expect(answer).toMatchObject({ results: [{ seq: 1 }], head: 1 })
    expect(answer.generation).not.toBe(NO_GENERATION)
    expect(await pull(scope, placeIn(before))).toMatchObject({
      generation: answer.generation,
      ops: [{ envelope: { opId: 'o1' } }],
    })
  })

  it('tells a replica that knows more that it has lost it', async () => {
    const request = { generation: 'g', cursor: 3, anchor: 'tok' }
    expect(await answerPull(openScope(), request, { newTok })).toEqual({
      reset: 'diverged',
      generation: 'g',
    })
  })

  it('takes the name of its log from the first push, so that an erase is told to the one that made it', async () => {
    const scope = openScope()
    expect(await push(scope, 'mine', append('o1', ['m1']))).toMatchObject({ generation: 'mine' })
    const { generation } = await push(scope, 'mine', erase('o2'))
    expect(await push(scope, 'mine', append('o1', ['m1']))).toEqual({ erased: true, generation })
  })
})

describe('a pull', () => {
  it('gives one op a seq, with what is left of it', async () => {
    const scope = openScope()
    const ops = [
      append('o1', ['m1', 'm2'], { contexts: [{ hash: 'h', seq: 0 }] }),
      mark('o2', 'summary', 's1', { sources: ['entry:m1'] }),
      put('o3', 'a', null, { index: [{ group: 'g', order: '1' }], sources: ['entry:m2'] }),
      put('o4', 'b', null),
      put('o5', 'b', 'o4'),
      append('o6', ['m3']),
      remove('o7', 'entry:m3'),
    ]
    const { generation } = await push(scope, '', ...ops)
    const answer = await pull(scope, START)
    expect(answer).toMatchObject({ generation, from: 0, cursor: 7, head: 7 })
    const [o1, o2, o3, o4, o5, o6, o7] = opsOf(...ops) as [SyncOp, ...SyncOp[]] as SyncOp[]
    const based = ({ envelope: { base: _, ...envelope }, bodies }: SyncOp) => ({ envelope, bodies })
    expect(answer.ops).toEqual([
      { ...o1, envelope: { ...o1?.envelope, contexts: [{ hash: 'h', seq: 1 }] } },
      o2,
      based(o3 as SyncOp),
      { ...based(o4 as SyncOp), bodies: [null] },
      based(o5 as SyncOp),
      { ...o6, bodies: [null] },
      o7,
    ])
  })

  it('goes on from where the last one ended, one page after the other', async () => {
    const scope = openScope()
    for (let at = 0; at < 10; at++) await push(scope, '', append(`o${at}`, [`m${at}`]))
    const seen: unknown[] = []
    for (let request: PullRequest = START; ; ) {
      const answer = await pull(scope, { ...request, limit: 3 })
      seen.push(...answer.ops.map((op) => (op as SyncOp).envelope.opId))
      if (answer.ops.length === 0) break
      request = placeIn(answer)
    }
    expect(seen).toEqual(Array.from({ length: 10 }, (_, at) => `o${at}`))
  })

  it('is told where what it saw of later ops is of a log that the home went back from', async () => {
    const ops = [append('o1', ['m1']), append('o2', ['m2'])]
    const [scope, restored] = [openScope(), openScope()]
    const sameTok = (): string => 'tok'
    for (const one of [scope, restored])
      await answerPush(one, { generation: 'g', ops: opsOf(...ops) }, { newTok: sameTok })
    await push(scope, 'g', remove('o3', 'entry:m1'))
    const place = placeIn(await pull(scope, { ...START, limit: 1 }))
    expect((await pull(scope, place)).head).toBe(3)
    expect(await answerPull(restored, place, { newTok })).toMatchObject({ reset: 'diverged' })
  })

  it('names no op of which something was forgotten, even if it is known', async () => {
    const scope = openScope()
    const ops = [append('o1', ['m1']), append('o2', ['m2']), { ...put('o3', 'a', null), bodies: [null] }]
    await push(scope, 'g', ...ops, remove('o4', 'entry:m1'))
    const known = [{ from: 1, to: 4 }]
    expect((await pull(scope, { ...START, known })).ops).toMatchObject([
      { envelope: { opId: 'o1' }, bodies: [null] },
      { opId: 'o2' },
      { envelope: { opId: 'o3' }, bodies: [null] },
      { opId: 'o4' },
    ])
  })

  it('tells the sources of a put that was emptied, by which others empty the same', async () => {
    const scope = openScope()
    const source = remove('o2', 'entry:m1')
    await push(scope, '', put('o1', 'a', null, { sources: ['entry:m1'] }), source)
    await push(scope, '', put('o3', 'b', null, { sources: ['entry:m1'] }))
    // A mark keeps its own.
    await push(scope, '', mark('o4', 'summary', 's1', { sources: ['entry:m1'] }))
    expect((await scope.changesSince(3)).rows[0]?.tok).toMatch(/^tok-\d+$/)
    const { ops, anchor } = await pull(scope, { ...START, limit: 3 })
    expect(ops).toMatchObject([
      { envelope: { opId: 'o1', sources: ['entry:m1'] }, bodies: [null] },
      {},
      { envelope: { opId: 'o3', sources: ['entry:m1'] }, bodies: [null] },
    ])
    expect(anchor).toMatch(/^tok-\d+ 4 tok-\d+$/)
  })

  it('ends a page before it is too long, but never without an op', async () => {
    const scope = openScope()
    await push(scope, '', append('o1', ['m1'], { bodies: ['x'.repeat(5_000)] }), append('o2', ['m2']))
    expect((await pull(scope, START, 4_000)).ops).toHaveLength(1)
    expect((await pull(scope, START, 6_000)).ops).toHaveLength(2)
    expect(await pull(scope, START, 0)).toMatchObject({ ops: [], cursor: 0, anchor: '', head: 2 })
  })

  it('reads on where an op fills a whole page of the store', async () => {
    const scope = openScope()
    const long = 'x'.repeat(2 ** 20)
    await push(scope, '', append('o1', ['m1'], { bodies: [long] }), append('o2', ['m2']))
    const first = await pull(scope, START)
    expect(first.ops).toHaveLength(1)
    expect(await pull(scope, placeIn(first))).toMatchObject({
      ops: [{ envelope: { opId: 'o2' } }],
      cursor: 2,
    })
  })

  it('has as many ops as it may, however the store pages', async () => {
    const scope = openScope()
    const ops = names('o', PULL_OPS + 1).map((id) => append(id, [`${id}a`, `${id}b`]))
    for (let at = 0; at < ops.length; at += PUSH_OPS) await push(scope, '', ...ops.slice(at, at + PUSH_OPS))
    const first = await pull(scope, START)
    expect(first).toMatchObject({ cursor: PULL_OPS, head: PULL_OPS + 1 })
    expect(first.ops).toHaveLength(PULL_OPS)
    expect((await pull(scope, placeIn(first))).ops).toHaveLength(1)
  })

  it('names only the ops that are known', async () => {
    const scope = openScope()
    await push(scope, '', append('o1', ['m1']), append('o2', ['m2']), append('o3', ['m3']))
    const { ops } = await pull(scope, { ...START, known: [{ from: 2, to: 2 }] })
    expect(ops).toMatchObject([{ envelope: { opId: 'o1' } }, {}, { envelope: { opId: 'o3' } }])
    expect(ops[1]).toEqual({ opId: 'o2' })
  })

  it('tells a place that is not in the log from one that is', async () => {
    const scope = openScope()
    const { generation } = await push(scope, '', append('o1', ['m1']))
    const { anchor } = await pull(scope, START)
    const places = [
      { generation, cursor: 1, anchor: 'other' },
      { generation, cursor: 2, anchor },
      { generation, cursor: 0, anchor },
      { generation: 'other', cursor: 1, anchor },
    ]
    for (const place of places)
      expect(await answerPull(scope, place, { newTok })).toEqual({ reset: 'diverged', generation })
    expect(await pull(scope, { generation, cursor: 1, anchor })).toMatchObject({ ops: [], cursor: 1, anchor })
  })

  it('tells nobody of a change', async () => {
    const store = mapStore()
    const scope = store.open(SCOPE)
    await push(scope, '', append('o1', ['m1']))
    let changes = 0
    store.open(SCOPE).watch?.(() => changes++)
    await pull(scope, START)
    expect(changes).toBe(0)
  })
})

describe('a push', () => {
  it('is answered the same when it is sent again', async () => {
    const scope = openScope()
    const ops = [append('o1', ['m1']), put('o2', 'a', null), put('o3', 'a', 'x'), append('o4', ['m1'])]
    const answer = await push(scope, '', ...ops)
    expect(answer).toMatchObject({
      results: [{ seq: 1 }, { seq: 2 }, { conflict: 'o2' }, { rejected: 'duplicate-id' }],
      head: 2,
    })
    const { anchor } = await pull(scope, START)
    expect(await push(scope, answer.generation, ...ops)).toEqual({ ...answer, repeated: [0, 1] })
    expect((await pull(scope, START)).anchor).toBe(anchor)
  })

  it('of another log writes nothing, but erases this one', async () => {
    const scope = openScope()
    await push(scope, 'mine', append('o1', ['m1']))
    expect(await push(scope, 'yours', append('o2', ['m2']))).toEqual({
      generation: 'mine',
      results: [],
      head: 1,
    })
    const { generation } = await push(scope, 'yours', erase('o3'))
    expect(await push(scope, 'mine')).toEqual({ erased: true, generation })
    expect(await push(scope, 'yours')).toEqual({ erased: true, generation })
  })

  it('keeps what the home refused, and goes on with the rest', async () => {
    const scope = openScope()
    const request = { generation: '', ops: opsOf(append('o1', ['m1']), append('o2', ['m2'])) }
    const options = {
      newTok,
      refuse: (_: SyncOp, index: number) => (index === 0 ? 'forbidden' : undefined),
    } as const
    const answer = await answerPush(scope, request, options)
    expect(answer).toMatchObject({ results: [{ rejected: 'forbidden' }, { seq: 1 }] })
    expect(await answerPush(scope, request, { newTok })).toEqual({ ...answer, repeated: [1] })
  })

  it('is not refused what was taken before', async () => {
    const scope = openScope()
    const request = { generation: '', ops: opsOf(append('o1', ['m1'])) }
    await answerPush(scope, request, { newTok })
    const answer = await answerPush(scope, request, { newTok, refuse: () => 'forbidden' })
    expect(answer).toMatchObject({ results: [{ seq: 1 }] })
  })

  it('keeps an op of an unknown kind that has no entry, too', async () => {
    const scope = openScope()
    const op = { envelope: { opId: 'o1', kind: 'share' as 'put', ids: [] }, bodies: [] }
    expect(await push(scope, '', op)).toMatchObject({ results: [{ seq: 1 }] })
    expect((await pull(scope, START)).ops).toMatchObject([{ envelope: { ids: ['o1'] }, bodies: [null] }])
  })

  it('keeps an op of an unknown kind, without effect', async () => {
    const scope = openScope()
    const op = {
      envelope: { opId: 'o1', kind: 'share' as SealedOp['envelope']['kind'], ids: ['x'] },
      bodies: ['body'],
    }
    expect(await push(scope, '', op)).toMatchObject({ results: [{ seq: 1 }] })
    const [pulled] = (await pull(scope, START)).ops
    expect(pulled).toMatchObject({
      envelope: { opId: 'o1', kind: 'mark', mark: 'share', ids: ['x'] },
      bodies: ['body'],
    })
  })
})

describe('an erase', () => {
  it('begins a generation from 1, and tells those of the old one', async () => {
    const scope = openScope()
    const { generation: old } = await push(scope, '', append('o1', ['m1']), put('o2', 'a', null))
    const { anchor } = await pull(scope, START)
    const answer = await push(scope, old, erase('o3'), append('o4', ['m4']))
    expect(answer).toEqual({ erased: true, generation: expect.any(String) })
    const { generation } = answer
    expect(generation).not.toBe(old)
    expect(await push(scope, old, erase('o3'), append('o4', ['m4']))).toEqual(answer)
    expect(await answerPull(scope, { generation: old, cursor: 2, anchor }, { newTok })).toEqual({
      reset: 'erased',
      generation,
    })
    expect(await push(scope, generation, append('o4', ['m4']), append('o5', ['m5']))).toMatchObject({
      results: [{ seq: 1 }, { seq: 2 }],
    })
    const page = await pull(scope, { ...START, limit: 1 })
    expect(page).toMatchObject({ ops: [{ envelope: { opId: 'o4' } }], cursor: 1, head: 2 })
    expect(await pull(scope, placeIn(page))).toMatchObject({ ops: [{ envelope: { opId: 'o5' } }], from: 1 })
  })

  it('is not taken from a replica that knows no log', async () => {
    const scope = openScope()
    await push(scope, '', append('o1', ['m1']))
    expect(await push(scope, '', erase('o2'), append('o3', ['m3']))).toMatchObject({
      results: [{ rejected: 'forbidden' }, { seq: 2 }],
    })
  })

  it('counts the seqs of contexts from there', async () => {
    const scope = openScope()
    const { generation: old } = await push(scope, '', append('o1', ['m1']), append('o2', ['m2']))
    const { generation } = await push(scope, old, erase('o3'))
    await push(scope, generation, append('o4', ['m4']))
    await push(scope, generation, append('o5', ['m5'], { contexts: [{ hash: 'h', seq: 1 }] }))
    const { ops } = await pull(scope, START)
    expect(ops[1]).toMatchObject({ envelope: { contexts: [{ hash: 'h', seq: 2 }] } })
  })

  it('of a log that was erased before, in the middle of a pull, is told as such', async () => {
    const scope = openScope()
    const first = await push(scope, '', append('o1', ['m1']))
    const { generation } = await push(scope, first.generation, erase('o2'))
    let isErased = false
    const racing: ScopeStore = {
      ...homeScope(scope, { newTok }),
      changesSince: async (seq) => {
        if (!isErased) await push(scope, generation, erase('o3'))
        isErased = true
        return scope.changesSince(seq)
      },
    }
    const request = { generation, cursor: 0, anchor: '' }
    expect(await answerPull(racing, request, { newTok })).toMatchObject({ reset: 'erased' })
  })

  it('in the middle of a pull is told as such', async () => {
    const scope = openScope()
    const { generation } = await push(scope, '', append('o1', ['m1']), append('o2', ['m2']))
    const { anchor, cursor } = await pull(scope, { ...START, limit: 1 })
    let isErased = false
    const racing: ScopeStore = {
      ...homeScope(scope, { newTok }),
      changesSince: async (seq) => {
        if (!isErased) await push(scope, generation, erase('o3'))
        isErased = true
        return scope.changesSince(seq)
      },
    }
    expect(await answerPull(racing, { generation, cursor, anchor }, { newTok })).toMatchObject({
      reset: 'erased',
    })
  })
})

describe('a log that was copied from elsewhere', () => {
  it.each(['erase', 'message'])(
    'is counted from its first row on, wherever that stands: %s',
    async (kind) => {
      const erased = {
        seq: 5,
        place: 0,
        kind: 'erase',
        id: 'o5',
        opId: 'o5',
        ordinal: 0,
        body: null,
      } as const
      const body = 'body of m6'
      const said = {
        seq: 6,
        place: 0,
        kind: 'message',
        round: 'm6',
        id: 'm6',
        opId: 'o6',
        ordinal: 1,
        body,
      } as const
      const log = kind === 'erase' ? [erased, said] : [said]
      for (const isHome of [true, false]) {
        const scope = openScope()
        const writer = isHome ? homeScope(scope, { newTok }) : scope
        await writer.commit(carriers({ log }), (ops, rows) => followed(ops, rows, { log }))
        const page = await pull(scope, START)
        expect(page).toMatchObject({ ops: [{ envelope: { opId: 'o6' } }], cursor: 1, head: 1 })
        expect(await push(scope, page.generation, append('o7', ['m7']))).toMatchObject({
          results: [{ seq: 2 }],
        })
        expect(await pull(scope, placeIn(page))).toMatchObject({
          ops: [{ envelope: { opId: 'o7' } }],
          cursor: 2,
        })
      }
    },
  )
})

describe('a log from before its store was a home', () => {
  async function older(...ops: readonly SealedOp[]): Promise<ScopeStore> {
    const scope = openScope()
    for (const op of ops) await scope.commit([op], decide)
    return scope
  }

  it('is followed as any other', async () => {
    const scope = await older(append('o1', ['m1']), append('o2', ['m2']))
    const page = await pull(scope, { ...START, limit: 1 })
    expect(page).toMatchObject({ ops: [{ envelope: { opId: 'o1' } }], cursor: 1 })
    const next = await pull(scope, placeIn(page))
    expect(next).toMatchObject({ ops: [{ envelope: { opId: 'o2' } }] })
    const moved = { ...placeIn(next), anchor: page.anchor }
    expect(await answerPull(scope, moved, { newTok })).toMatchObject({ reset: 'diverged' })
    expect(await push(scope, page.generation, append('o3', ['m3']))).toMatchObject({
      generation: page.generation,
      results: [{ seq: 3 }],
    })
  })

  it('becomes one home, no matter who looks first', async () => {
    const scope = await older(append('o1', ['m1']))
    let other: string | undefined
    const racing: ScopeStore = {
      ...homeScope(scope, { newTok }),
      changesSince: async (seq) => {
        other ??= (await pull(scope, START)).generation
        return scope.changesSince(seq)
      },
    }
    const { generation } = await pull(racing, START)
    expect(generation).toBe(other)
  })

  it('is counted from its erase on, too, if the home writes before anybody looks', async () => {
    const scope = await older(append('o1', ['m1']), erase('o2'), append('o3', ['m3']))
    await homeScope(scope, { newTok }).commit([append('o4', ['m4'])], decide)
    expect(await pull(scope, START)).toMatchObject({
      ops: [{ envelope: { opId: 'o3' } }, { envelope: { opId: 'o4' } }],
      cursor: 2,
    })
  })

  it('is counted from its erase on', async () => {
    const scope = await older(append('o1', ['m1']), erase('o2'), append('o3', ['m3']))
    const answer = await push(homeScope(scope, { newTok }), '', append('o4', ['m4']))
    expect(answer).toMatchObject({ results: [{ seq: 2 }], head: 2 })
    expect((await pull(scope, START)).ops).toMatchObject([
      { envelope: { opId: 'o3' } },
      { envelope: { opId: 'o4' } },
    ])
  })
})

describe('what the home itself writes', () => {
  it('is pulled as what replicas write', async () => {
    const scope = openScope()
    const home = homeScope(scope, { newTok })
    await home.commit([append('o1', ['m1'])], decide)
    const { generation } = await pull(scope, START)
    expect(await push(home, generation, append('o2', ['m2']))).toMatchObject({
      generation,
      results: [{ seq: 2 }],
    })
    await home.commit([erase('o3'), append('o4', ['m4'])], decide)
    const page = await pull(scope, START)
    expect(page).toMatchObject({ ops: [{ envelope: { opId: 'o4' } }], head: 1 })
    expect(await push(home, generation, append('o5', ['m5']))).toMatchObject({ erased: true })
  })
})

describe('a push by way of what the home itself writes through', () => {
  it('is answered with the generation that others see', async () => {
    const scope = openScope()
    const home = homeScope(scope, { newTok })
    const { generation } = await push(home, '', append('o1', ['m1']))
    expect((await pull(scope, START)).generation).toBe(generation)
    const erased = await push(home, generation, erase('o2'))
    expect((await pull(scope, START)).generation).toBe(erased.generation)
  })
})

describe('a home that encrypts what it holds', () => {
  it('gives what it was pushed, with what is forgotten already, and the secret', async () => {
    const store = mapStore()
    const below = store.open(SCOPE)
    const keys = secretKeys('5'.repeat(64))
    const home = Object.assign(encryptedStore(store, keys).open(SCOPE), {
      outbox: (after: number) => below.outbox?.(after) ?? Promise.resolve([]),
    })
    const [m1, gone, old, now] = opsOf(
      append('o1', ['m1'], { bodies: ['in plain text'] }),
      append('o2', ['m2']),
      put('o3', 'a', null),
      put('o4', 'a', 'o3'),
    ) as [SyncOp, SyncOp, SyncOp, SyncOp]
    const beside = [{ key: SECRET, body: '"one"' }]
    const ops = [{ ...m1, beside }, { ...gone, bodies: [null] }, { ...old, bodies: [null] }, now]
    const answer = await answerPush(home, { generation: '', ops }, { newTok })
    expect(answer).toMatchObject({ results: [{ seq: 1 }, { seq: 2 }, { seq: 3 }, { seq: 4 }] })
    const { base: _, ...envelope } = now.envelope
    expect((await pull(home, START)).ops).toEqual([
      ops[0],
      ops[1],
      { ...ops[2], envelope: expect.objectContaining({ opId: 'o3' }) },
      { ...now, envelope },
    ])
    expect(JSON.stringify(await below.changesSince(0))).not.toContain('in plain text')
    const { generation } = answer
    const again = await answerPush(home, { generation, ops: opsOf(erase('o5')) }, { newTok })
    expect(again).toMatchObject({ erased: true })
    expect(await push(home, again.generation, append('o6', ['m6']))).toMatchObject({ results: [{ seq: 1 }] })
    expect((await pull(home, START)).ops).toEqual(opsOf(append('o6', ['m6'])))
  })
})

describe('what the home cannot decrypt', () => {
  it('is not told as forgotten', async () => {
    const scope = openScope()
    const key = { ...put('o2', SECRET, null), bodies: ['"key"'] }
    await push(scope, '', append('o1', ['m1']), key, put('o3', 'a', null))
    const from = async (opId: string, unreadable: Partial<ScopeStore>) => {
      const ops = ['o1', 'o2', 'o3']
      const known = ops.flatMap((one, at) => (one === opId ? [] : [{ from: at + 1, to: at + 1 }]))
      const home = { ...homeScope(scope, { newTok }), ...unreadable }
      return answerPull(home, { ...START, known }, { newTok })
    }
    const register = (of: string): Partial<ScopeStore> => ({
      register: async (key) => {
        const row = await scope.register(key)
        return row && key === of ? { ...row, body: null, unreadable: true } : row
      },
    })
    const rows: Partial<ScopeStore> = {
      changesSince: async (seq) => {
        const changes = await scope.changesSince(seq)
        return { ...changes, rows: changes.rows.map((row) => ({ ...row, body: null, unreadable: true })) }
      },
    }
    const refusal = { code: 'ERR_DECRYPT' }
    await expect(from('o1', rows)).rejects.toMatchObject(refusal)
    await expect(from('o3', register('a'))).rejects.toMatchObject(refusal)
    await expect(from('o1', register(SECRET))).rejects.toMatchObject(refusal)
    await expect(from('o1', register('a'))).resolves.toMatchObject({ cursor: 3 })
  })
})

describe('the secret of a session', () => {
  const beside = (op: SealedOp, key: string): SyncOp => ({
    ...(opsOf(op)[0] as SyncOp),
    beside: [{ key: SECRET, body: JSON.stringify(key) }],
  })
  const secretOf = async (scope: ScopeStore) => (await scope.register(SECRET))?.body

  it('is taken from the first who brings one, and travels with the op that it came with', async () => {
    const scope = openScope()
    const ops = [beside(mark('o1', 'epoch', 'e1'), 'one'), beside(mark('o2', 'epoch', 'e2'), 'two')]
    await answerPush(scope, { generation: '', ops }, { newTok })
    await answerPush(scope, { generation: '', ops: [beside(append('o3', ['m3']), 'three')] }, { newTok })
    expect(await secretOf(scope)).toBe('"one"')
    expect((await pull(scope, START)).ops).toMatchObject([ops[0], {}, {}])
    expect((await pull(scope, START)).ops[1]).not.toHaveProperty('beside')
  })

  it('may be a register of its own', async () => {
    const scope = openScope()
    await push(scope, '', { ...put('o1', SECRET, null), bodies: ['"one"'] }, remove('o2', 'entry:m1'))
    const [own] = (await pull(scope, START)).ops
    expect(own).toMatchObject({ bodies: ['"one"'] })
    expect(own).not.toHaveProperty('beside')
    await push(scope, '', remove('o3', `register:${SECRET}`))
    expect((await pull(scope, START)).ops[2]).not.toHaveProperty('beside')
  })

  it('is another one with each delete', async () => {
    const scope = openScope()
    await answerPush(scope, { generation: '', ops: [beside(append('o1', ['m1']), 'one')] }, { newTok })
    await answerPush(scope, { generation: '', ops: [beside(remove('o2', 'entry:m1'), 'two')] }, { newTok })
    expect(await secretOf(scope)).toBe('"two"')
    expect((await pull(scope, START)).ops[1]).toMatchObject({ beside: [{ key: SECRET, body: '"two"' }] })
  })

  it('is no key for anything else', async () => {
    const scope = openScope()
    const op = { ...(opsOf(append('o1', ['m1']))[0] as SyncOp), beside: [{ key: 'fact/1', body: '1' }] }
    await answerPush(scope, { generation: '', ops: [op] }, { newTok })
    expect(await scope.register('fact/1')).toBeUndefined()
    expect(await secretOf(scope)).toBeUndefined()
  })
})

describe('attachments', () => {
  it('are named to others, where the home can read the message', async () => {
    const content = [{ type: 'media', mediaType: 'image/png', ref: 'cat' }] as const
    const message = { id: 'm1', role: 'user', content, createdAt: 1, trust: 'user' } as const
    const op = sealOp({ kind: 'append', opId: 'o1', round: 'm1', messages: [message] })
    const scope = openScope()
    await scope.attach({ id: 'cat', mediaType: 'image/png', bytes: new Uint8Array(1) }, 1)
    await push(scope, '', op)
    expect((await pull(scope, START)).ops).toEqual(opsOf(op))
  })

  it('are named to others, where the home can read nothing', async () => {
    const op = append('o1', ['m1', 'm2'], { bodies: ['ciphertext', 'more'] })
    const envelope = { ...op.envelope, attachments: ['cat'] }
    const scope = openScope()
    await answerPush(scope, { generation: '', ops: [{ ...op, envelope }], without: ['cat'] }, { newTok })
    expect((await pull(scope, START)).ops).toEqual(opsOf({ ...op, envelope }))
  })
})

/** A store of which some calls are others. */
function withCalls(scope: ScopeStore, calls: Partial<ScopeStore>): ScopeStore {
  return new Proxy(scope, {
    get: (target, name) => {
      const value: unknown = Reflect.get(name in calls ? calls : target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

describe('a start', () => {
  const fill = async (scope: ScopeStore): Promise<ScopeStore> => {
    const home = homeScope(scope, { newTok })
    await home.commit([append('o1', ['m1']), mark('o2', 'summary', 's1', { sources: ['entry:m1'] })], decide)
    await home.commit([put('o3', 'fact/1', null, { sources: ['entry:s1'] })], decide)
    await home.commit(
      names('m', 4).map((id) => append(`after-${id}`, [`after-${id}`])),
      decide,
    )
    return home
  }

  it('has registers and ops of one moment', async () => {
    const scope = openScope()
    const home = await fill(scope)
    let isDeleted = false
    const registers: ScopeStore['registers'] = async (...all) => {
      const found = await scope.registers(...all)
      if (!isDeleted) await home.commit([remove('o9', 'entry:m1')], decide)
      isDeleted = true
      return found
    }
    const answer = await pull(withCalls(scope, { registers }), { ...START, start: 5 })
    expect(answer.start?.registers).toEqual([])
    expect(answer).toMatchObject({ from: 5, head: 8 })
  })

  it('is of one log, though that is erased meanwhile', async () => {
    const scope = openScope()
    const home = await fill(scope)
    let calls = 0
    const head: ScopeStore['head'] = async () => {
      if (++calls === 2) {
        await home.commit([erase('o8')], decide)
        await fill(scope)
      }
      return scope.head()
    }
    const answer = await pull(withCalls(scope, { head }), { ...START, start: 10 })
    const { rows } = await scope.changesSince(8)
    expect(answer).toMatchObject({ cursor: 7, anchor: tokOf(rows.at(-1) as LogRow) })
    expect(answer.generation).toBe((await pull(scope, START)).generation)
  })

  it('of the whole log needs nothing but its ops', async () => {
    const scope = openScope()
    await fill(scope)
    const page = await pull(scope, START)
    const place = { generation: page.generation, cursor: page.cursor, anchor: page.anchor }
    const registers = () => Promise.reject(new Error('they were asked for'))
    const all = await pull(withCalls(scope, { registers }), { ...place, start: 0 })
    expect(all.start).toEqual({ ordinal: 0, registers: [], marks: [], arrived: [] })
    expect(all.ops).toHaveLength(7)
  })

  it('has the marks that were current there, whichever came since', async () => {
    const scope = openScope()
    const home = await fill(scope)
    await home.commit(
      [mark('o10', 'summary', 's2', { base: 's1' }), mark('o11', 'summary', 's3', { base: 's2' })],
      decide,
    )
    const { start } = await pull(scope, { ...START, start: 4 })
    expect(start?.marks).toEqual([{ slot: 'summary/lane', id: 's1', seq: 2, chain: 1 }])
    expect((await pull(scope, { ...START, start: 1 })).start?.marks).toEqual([])
    expect((await pull(scope, { ...START, start: 8 })).start?.marks).toEqual([
      { slot: 'summary/lane', id: 's2', seq: 8, chain: 2 },
    ])
  })

  it('has no more bytes than an answer may: else the log comes from where the replica is', async () => {
    const scope = openScope()
    const home = await fill(scope)
    for (const key of names('r', 4))
      await home.commit([put(`put-${key}`, key, null, { body: 'x'.repeat(2_000) })], decide)
    const asked = { ...START, start: 11 }
    expect((await pull(scope, asked, 9_000)).start?.registers).toHaveLength(5)
    const beyond = await pull(scope, asked, 7_000)
    expect(beyond).toMatchObject({ from: 0, head: 11 })
    expect(beyond.ops.length).toBeGreaterThan(0)
    expect(beyond).not.toHaveProperty('start')
    const waiting = names('w', 400).map((name) => `after-${name}`)
    await home.commit(
      waiting.map((id) => append(id, [id])),
      decide,
    )
    expect(await pull(scope, { ...asked, start: 411, waiting }, 9_000)).not.toHaveProperty('start')
  })
})
