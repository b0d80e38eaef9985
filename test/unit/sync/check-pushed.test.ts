import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { auditOp, writeAudit } from '../../../src/features/audit.ts'
import { checkPushed, mapStore, type Scope, type Store } from '../../../src/index.ts'
import { createHead, headKey, headValue } from '../../../src/kernel/context/head.ts'
import { SECRET } from '../../../src/kernel/context/secret.ts'
import { decide } from '../../../src/kernel/log/decide.ts'
import { sealOp } from '../../../src/kernel/log/seal.ts'
import { webHost } from '../../../src/platform/web.ts'
import type { Json, Message, Trust } from '../../../src/ports/message.ts'
import type { EpochMark, Mark, Op, SealedOp } from '../../../src/ports/op.ts'
import type { SyncOp } from '../../../src/ports/sync.ts'
import { fullMemory } from '../../contract/full-memory.ts'
import { limit, runs } from '../../everywhere/runs.ts'
import { type Happening, Household, happenings } from '../support/household.ts'

const SESSION: Scope = { userId: 'ada', sessionId: 'trip' }
const USER: Scope = { userId: 'ada' }
const KEY = 'a5'.repeat(32)

function memoryOver(store: Store) {
  return fullMemory({ store, budget: 4_000, recall: {} })
}

/** The ops of a commit as they would be pushed. */
function pushOf(ops: readonly SealedOp[]): readonly SyncOp[] {
  const names = new Map(ops.map(({ envelope }, at) => [envelope.opId, at]))
  const own = ops.filter(
    ({ envelope: { opId } }, at) => ops.findIndex((one) => one.envelope.opId === opId) === at,
  )
  expect(names.size).toBe(own.length)
  return own.map(({ envelope, bodies }): SyncOp => {
    const secret = ops.find((op) => op.envelope.opId === envelope.opId && op.envelope.key === SECRET)
    const body = secret && secret.envelope !== envelope ? secret.bodies[0] : undefined
    return { envelope, bodies, ...(body != null && { beside: [{ key: SECRET, body }] }) }
  })
}

it('takes no ciphertext, nor keys to it', async () => {
  const store = mapStore()
  const ops: readonly SyncOp[] = [
    { envelope: { opId: 'k', kind: 'put', ids: ['sealed/keys/a'], key: 'sealed/keys/a' }, bodies: ['[]'] },
    {
      envelope: { opId: 'entry:m', kind: 'append', ids: ['m'], round: 'm' },
      bodies: [`p1.${'a'.repeat(11)}.${'A'.repeat(40)}`],
    },
  ]
  const refuse = await checkPushed(memoryOver(store), SESSION, ops)
  expect(ops.map(refuse)).toEqual(['forbidden', 'forbidden'])
})

/** After whatever happened: what chance seldom brings. */
const AT_LAST: readonly Happening[] = [
  { type: 'say', tab: 0, size: 1 },
  { type: 'rewind', tab: 0, place: 0 },
  { type: 'context', tab: 0, recall: false, tail: '' },
]

describe('what a memory writes', () => {
  it('is taken when it is pushed', { timeout: limit(30_000) }, async () => {
    const seen = new Set<string>()
    await fc.assert(
      fc.asyncProperty(happenings, async (played) => {
        const house = new Household({ budget: 600, recall: {} })
        const { store } = house
        const memory = memoryOver(store)
        const checking: Store = {
          open: (scope) => {
            const home = store.open(scope)
            const commit = home.commit.bind(home)
            home.commit = async (ops, decide) => {
              const pushed = pushOf(ops)
              const refuse = await checkPushed(memory, scope, pushed)
              for (const op of pushed) {
                expect([op, refuse(op)]).toEqual([op, undefined])
                seen.add(op.envelope.key?.split('/')[0] ?? op.envelope.mark ?? op.envelope.kind)
              }
              return commit(ops, decide)
            }
            return home
          },
          oldestUnused: () => store.oldestUnused(),
          removeUnused: (until) => store.removeUnused(until),
          scopes: (after) => store.scopes(after),
        }
        Object.assign(house, { store: checking })
        for (const tab of house.tabs.keys()) house.tabs[tab] = house.open(house.sessionOf(tab))
        await house.play([...played, ...AT_LAST], async () => {})
      }),
      runs(40),
    )
    expect([...seen]).toEqual(
      expect.arrayContaining([
        'append',
        'epoch',
        'head',
        'fact',
        'profile',
        'skill',
        'checkpoint',
        'rewind',
        'delete',
        'session',
      ]),
    )
  })
})

async function verdict(op: Op | SyncOp, scope: Scope = SESSION, most?: Trust): Promise<string | undefined> {
  const store = mapStore()
  const secret = sealOp({ kind: 'put', opId: 's', key: SECRET, base: null, value: KEY })
  await store.open(SESSION).commit([secret], decide)
  const pushed: SyncOp = 'envelope' in op ? op : sealOp(op)
  const refuse = await checkPushed(memoryOver(store), scope, [pushed], most ? { most } : {})
  return refuse(pushed)
}

const MESSAGE: Message = { id: 'm1', role: 'user', content: 'Hello', createdAt: 1, trust: 'user' }

function append(message: object): Op {
  return { kind: 'append', opId: 'entry:m1', round: 'm1', messages: [{ ...MESSAGE, ...message } as Message] }
}

function put(key: string, value: Json, more: object = {}): Op {
  return { kind: 'put', opId: 'o1', key, base: null, value, ...more }
}

function mark(entry: object): Op {
  return { kind: 'mark', opId: 'o1', base: null, entry: entry as Mark }
}

const EPOCH: EpochMark = {
  type: 'epoch',
  id: 'epoch/1',
  lane: 'a',
  cause: 'start',
  windowFrom: 'm1',
  seen: 'm1',
  count: 1,
  cuts: {},
  head: 'h',
  prefixHash: 'p',
  v: 1,
}
const SUMMARY = {
  type: 'summary',
  id: 'summary/1',
  lane: 'a',
  upto: 'm1',
  seen: 'm1',
  count: 1,
  of: 1,
  text: 'They met.',
  carry: '',
  pinned: '',
  lost: { count: 0, first: [] },
  trust: 'user',
  by: 'extract',
  spent: 0,
  at: 1,
}

function head(memory: string, trust: Trust, key = KEY): Op {
  const { policy } = memoryParts
  const made = createHead(policy, { system: 'Be kind.', memory, trust, tools: '' }, key)
  return put(headKey(made.hash), headValue(made))
}
const memoryParts = { policy: { counter: { id: 'one', count: () => 1 } } } as never as {
  policy: Parameters<typeof createHead>[0]
}

describe('a pushed op', () => {
  it('that is as the memory writes it is taken', async () => {
    expect(await verdict(append({}))).toBeUndefined()
    expect(await verdict(append({ role: 'assistant', trust: 'assistant' }))).toBeUndefined()
    expect(await verdict(mark(EPOCH))).toBeUndefined()
    expect(await verdict(mark(SUMMARY))).toBeUndefined()
    expect(await verdict(mark({ type: 'lease', id: 'l', until: 1 }))).toBeUndefined()
    expect(await verdict(head('', 'user'))).toBeUndefined()
    expect(await verdict(put('app/1', { any: 'thing' }))).toBeUndefined()
    expect(await verdict({ kind: 'delete', opId: 'o1', target: 'entry:m1' })).toBeUndefined()
    const share = { opId: 'o1', kind: 'share' as Op['kind'], ids: ['x'] }
    expect(await verdict({ envelope: share, bodies: ['{}'] })).toBeUndefined()
  })

  it.each<[string, Op | SyncOp, Scope?]>([
    ['a message that is no JSON', { ...sealOp(append({})), bodies: ['Hello'] }],
    ['a message that is no object', { ...sealOp(append({})), bodies: ['[]'] }],
    ['a message with a field that is not known', append({ extra: 1 })],
    ['a message without a time', append({ createdAt: undefined })],
    ['a message under the name of a mark', append({ id: 'summary/1' })],
    [
      'a forgotten message under the name of a mark',
      { ...sealOp(append({ id: 'epoch/1' })), bodies: [null] },
    ],
    ['a message above its role', append({ role: 'assistant', trust: 'user' })],
    ['a message of the system', append({ role: 'system', trust: 'user' })],
    ['a user who speaks for the system', append({ trust: 'system' })],
    [
      'attachments that no message names',
      { ...sealOp(append({})), envelope: { ...sealOp(append({})).envelope, attachments: ['cat'] } },
    ],
    ['an epoch that is not whole', mark({ ...EPOCH, cuts: undefined })],
    ['an epoch under another name', mark({ ...EPOCH, id: 'other' })],
    ['a mark that is not of its kind', { ...sealOp(mark(EPOCH)), bodies: [JSON.stringify(SUMMARY)] }],
    ['a summary of the system', mark({ ...SUMMARY, trust: 'system' })],
    ['a fact that is none', put('fact/1', { text: 1 })],
    ['settings in a session', put('settings', { v: 1 })],
    ['a key that is none', put(SECRET, 'short')],
    ['an index of a feature that is not in use', put('app/1', 1, { index: [{ group: 'a', order: '' }] })],
    ['an index of what stands in none', put(SECRET, KEY, { index: [{ group: 'a', order: '' }] })],
    ['an index that counts backwards', put('untold/1', 1, { index: [{ group: 'a', weight: -1 }] })],
    ["a store's own register", put('encryption/keys', [])],
    ["a delete of a store's own register", { kind: 'delete', opId: 'o', target: 'register:encryption/keys' }],
    ['a head under another hash', put('head/other', headValue({ system: '', memory: '', tools: '' }))],
    ['a head of another key', head('', 'user', 'b5'.repeat(32))],
    ['a head above its label', head('Memory.', 'system')],
    [
      'no JSON of a kind that is not known',
      { envelope: { opId: 'o', kind: 'x' as 'put', ids: ['x'] }, bodies: ['x'] },
    ],
    ['no key beside it', { ...sealOp(append({})), beside: [{ key: SECRET, body: '"short"' }] }],
  ])('is refused: %s', async (_, op, scope) => {
    expect(await verdict(op, scope)).toBe('forbidden')
  })

  it('is refused where it is too large', async () => {
    expect(await verdict(append({ content: 'x'.repeat(8 * 2 ** 20) }))).toBe('too-large')
    expect(await verdict(append({ metadata: { x: 'x'.repeat(5_000) } }))).toBe('too-large')
  })

  it('speaks for the system where it may', async () => {
    expect(await verdict(append({ role: 'system', trust: 'system' }), SESSION, 'system')).toBeUndefined()
    expect(await verdict(head('Memory.', 'system'), SESSION, 'system')).toBeUndefined()
  })

  it('is checked for the scope that it is in', async () => {
    const document = put('profile/user.md', { text: 'Ada', since: 'x' })
    expect(await verdict(document, USER)).toBeUndefined()
    expect(await verdict(document, SESSION)).toBe('forbidden')
  })

  it('brings the key of its heads along', async () => {
    const other = 'b5'.repeat(32)
    const op = sealOp(head('', 'user', other))
    expect(await verdict({ ...op, beside: [{ key: SECRET, body: JSON.stringify(other) }] })).toBeUndefined()
  })

  it('is no more trusted than it may be', async () => {
    expect(await verdict(append({}), SESSION, 'import')).toBe('forbidden')
    expect(await verdict(append({ trust: 'import' }), SESSION, 'import')).toBeUndefined()
    const section = { in: 'memory', at: 1, name: 'notes', text: 'Notes', trust: 'system' }
    const parts = { notes: { sections: [section], sources: [] } }
    const texts = { system: '', memory: '', tools: '', parts } as never
    const { hash } = createHead(memoryParts.policy, texts, KEY)
    expect(await verdict(put(headKey(hash), headValue(texts)))).toBe('forbidden')
    expect(await verdict(put(headKey(hash), headValue(texts)), SESSION, 'system')).toBeUndefined()
    // Of no text, the label says nothing.
    expect(await verdict(head('', 'system'))).toBeUndefined()
  })

  it('is a fact as it is stored', async () => {
    const store = mapStore()
    const { fact } = await memoryOver(store)
      .session({ userId: 'ada', sessionId: 'trip' })
      .facts.remember({ kind: 'finding', text: 'The 9:40 is late.' })
    const [row] = await store.open(SESSION).registers('fact/')
    const value = JSON.parse(row?.body ?? '') as { [field: string]: Json }
    const key = `fact/${fact.id}`
    expect(await verdict(put(key, value))).toBeUndefined()
    expect(await verdict(put(key, { ...value, extra: 1 }))).toBe('forbidden')
    expect(await verdict(put(key, { ...value, trust: 'user' }), SESSION, 'import')).toBe('forbidden')
  })

  it('adds records to the audit, and changes none', async () => {
    const store = mapStore()
    const memory = memoryOver(store)
    const user = store.open(USER)
    await memory.session(SESSION as never).append({ role: 'user', content: 'Hello' })
    const of = async (op: Op, scope = USER) => {
      const pushed = sealOp(op)
      return (await checkPushed(memory, scope, [pushed]))(pushed)
    }
    const next = () => auditOp(user, webHost, { action: 'forget', target: 'm1', counts: { messages: 1 } })
    const first = (await next()) as Extract<Op, { readonly kind: 'put' }>
    expect(await of(first)).toBeUndefined()
    expect(await of(first, SESSION)).toBe('forbidden')
    const record = first.value as { readonly [field: string]: Json }
    for (const value of [
      { ...record, note: 'x' },
      { ...record, at: 'today' },
      { ...record, counts: { messages: 'all' } },
      { ...record, id: '2' },
      { ...record, id: `000000000000002-${first.opId}` },
      { ...record, id: `${String(record.id).slice(0, 15)}-other` },
    ])
      expect(await of({ ...first, value })).toBe('forbidden')
    expect(await of({ ...first, index: [] })).toBe('forbidden')
    expect(await of({ ...first, key: 'audit/other' })).toBe('forbidden')
    await user.commit([sealOp(first)], decide)
    expect(await of(await next())).toBeUndefined()
    // Where it comes from is written over: only its name is left.
    for (const [key, is] of [
      ['audit/gone', undefined],
      ['audit/', 'forbidden'],
    ] as const) {
      const { envelope } = sealOp({ ...first, key, opId: 'o4' })
      const op = { envelope: { ...envelope, index: [] }, bodies: [null] }
      expect([key, (await checkPushed(memory, USER, [op]))(op)]).toEqual([key, is])
    }
    // As of the one that is there, but other things.
    const again = { ...first, opId: 'o2', base: first.opId }
    expect(await of({ ...again, value: { ...record, target: 'm2' } })).toBe('forbidden')
    expect(await of({ ...again, value: null })).toBe('forbidden')
    const { envelope } = sealOp(again)
    const refuse = await checkPushed(memory, USER, [{ envelope, bodies: [null] }])
    expect(refuse({ envelope, bodies: [null] })).toBe('forbidden')
    expect(await of({ kind: 'delete', opId: 'o3', target: `register:${first.key}` })).toBe('forbidden')
  })

  it('writes over the oldest record of the audit alone', async () => {
    const store = mapStore()
    const memory = memoryOver(store)
    const user = store.open(USER)
    await user.commit([sealOp(put('app/1', 1))], decide)
    for (let at = 0; at < 513; at++) await writeAudit(user, webHost, { action: 'forget', target: `m${at}` })
    const last = (await auditOp(user, webHost, { action: 'forget' })) as Extract<Op, { readonly kind: 'put' }>
    const of = async (op: Op) => {
      const pushed = sealOp(op)
      return (await checkPushed(memory, USER, [pushed]))(pushed)
    }
    expect(last.base).not.toBeNull()
    expect(await of(last)).toBeUndefined()
    const [newest, ...others] = await user.indexed('audit')
    for (const row of [newest, others.at(-2)]) {
      const key = row?.key ?? ''
      const { id } = last.value as { readonly id: string }
      const value = { ...(last.value as object), id: `${id.slice(0, 15)}-${key.slice('audit/'.length)}` }
      expect(await of({ ...last, key, base: row?.version ?? null, value })).toBe('forbidden')
    }
  })

  it('may be empty where it was forgotten', async () => {
    for (const op of [append({}), mark(EPOCH), put('fact/1', 1)])
      expect(await verdict({ ...sealOp(op), bodies: [null] })).toBeUndefined()
    expect(await verdict(put('fact/1', null))).toBeUndefined()
    const { envelope } = sealOp(append({}))
    expect(await verdict({ envelope: { ...envelope, attachments: ['cat'] }, bodies: [null] })).toBeUndefined()
  })
})
