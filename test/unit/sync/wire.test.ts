import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sealOp } from '../../../src/kernel/log/seal.ts'
import { isPlimsollError } from '../../../src/ports/errors.ts'
import type { Message } from '../../../src/ports/message.ts'
import type { Envelope, Name } from '../../../src/ports/op.ts'
import {
  PUSH_OPS,
  type PullAnswer,
  type PulledOp,
  type PullRequest,
  type PushAnswer,
  type PushRequest,
  type SyncOp,
} from '../../../src/ports/sync.ts'
import { utf8Length } from '../../../src/ports/utf8-length.ts'
import { decodePullAnswers, decodePushAnswers, encodePull, encodePush } from '../../../src/sync/wire.ts'
import {
  decodePull,
  decodePush,
  encodePullAnswers,
  encodePushAnswers,
} from '../../../src/sync/wire-requests.ts'
import { codePoint } from '../../everywhere/code-point.ts'
import { runs } from '../../everywhere/runs.ts'

const id = fc.oneof(
  fc.constantFrom('m1', 'm2', 'm3', '__proto__', 'constructor', 'entry:m1', 'op', '0'),
  fc.string({ unit: codePoint, minLength: 1, maxLength: 20 }),
)
const seq = fc.nat({ max: 2 ** 40 })
const space = fc.constantFrom('entry', 'register', 'attachment', 'user')
const name = fc.tuple(space, id).map(([space, id]) => `${space}:${id}` as Name)
const json = fc.oneof(
  fc.json({ maxDepth: 4 }),
  fc.json({ maxDepth: 4 }).map((text) => JSON.stringify(JSON.parse(text))),
)
const body = fc.oneof(
  fc.constant(null),
  json,
  fc.string({ unit: codePoint, maxLength: 40 }),
  fc.constantFrom(
    '',
    'null',
    '"text"',
    '{"__proto__":{"a":1}}',
    '{"b":1,"1":2}',
    '{"a":1,"a":2}',
    ' {}',
    '-0',
    '1e999',
    '"\\ud800"',
    '{"a":"\\ud800"}',
    `${'['.repeat(200)}${']'.repeat(200)}`,
    `${'['.repeat(39)}${']'.repeat(39)}`,
    `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
  ),
)
const index = fc.array(
  fc.record({ group: id, order: id, weight: fc.maxSafeInteger() }, { requiredKeys: ['group'] }),
  { maxLength: 2 },
)
const opId = (ids: readonly string[]) => fc.oneof(id, fc.constant(`entry:${ids[0] ?? 'm1'}`))
const more = (fields: { [field in keyof Envelope]?: fc.Arbitrary<Envelope[field]> }) =>
  fc.record(fields, { requiredKeys: [] }) as fc.Arbitrary<Partial<Envelope>>

function op(
  kind: string,
  ids: fc.Arbitrary<readonly string[]>,
  fields: (ids: readonly string[]) => fc.Arbitrary<Partial<Envelope>>,
) {
  return ids.chain((ids) =>
    fc
      .record({
        opId: opId(ids),
        fields: fields(ids),
        bodies: fc.array(body, { minLength: ids.length, maxLength: ids.length }),
        beside: fc.option(
          fc.array(fc.record({ key: id, body: body.filter((one) => one !== null) }), { maxLength: 2 }),
          { nil: undefined },
        ),
      })
      .map(({ opId, fields, bodies, beside }): SyncOp => {
        const envelope = { opId, kind: kind as Envelope['kind'], ids, ...fields }
        return { envelope, bodies, ...(beside && { beside }) }
      }),
  )
}

const one = id.map((id) => [id])
const none = fc.constant([])
const several = fc.array(id, { minLength: 1, maxLength: 3 })
const sources = fc.array(name, { maxLength: 2 })
const contexts = fc.array(fc.record({ hash: id, seq }), { maxLength: 2 })
const lane = id
const base = id
const syncOp: fc.Arbitrary<SyncOp> = fc.oneof(
  op('append', several, (ids) =>
    fc
      .tuple(
        fc.oneof(id, fc.constantFrom(...ids)),
        more({ attachments: fc.array(id, { maxLength: 2 }), contexts }),
      )
      .map(([round, rest]) => ({ round, ...rest })),
  ),
  op('mark', one, () =>
    fc
      .tuple(fc.constantFrom('epoch', 'summary', 'rewind', 'lease'), more({ base, lane, sources }))
      .map(([mark, rest]) => ({ mark, ...rest })),
  ),
  op('put', one, ([key = '']) => more({ base, sources, index }).map((rest) => ({ key, ...rest }))),
  op('delete', none, () => name.map((target) => ({ target }))),
  op('erase', none, () => fc.constant({})),
  op('share', fc.array(id, { maxLength: 2 }), () => more({ base, sources })),
)
const scope = fc.option(
  id.map((sessionId) => ({ sessionId })),
  { nil: {} },
)
function optional<Value>(value: fc.Arbitrary<Value>, name: string) {
  return fc.option(
    value.map((value) => ({ [name]: value })),
    { nil: {} },
  )
}
const generation = fc.oneof(fc.constant(''), id)
const pushes: fc.Arbitrary<readonly PushRequest[]> = fc.array(
  fc
    .tuple(scope, fc.record({ generation, ops: fc.array(syncOp, { maxLength: 6 }) }))
    .map(([scope, request]) => ({ ...scope, ...request })),
  { maxLength: 3 },
)
const ranges = fc.array(fc.record({ from: fc.integer({ min: 1 }), to: fc.integer({ min: 1 }) }), {
  maxLength: 3,
})
const anchor = fc.oneof(fc.constant(''), id)
const replica = fc.stringMatching(/^[0-9a-f]{1,64}$/)
const newest = fc.record({ bytes: fc.integer({ min: 1 }), since: fc.maxSafeInteger() }, { requiredKeys: [] })
const pulls = fc.array(
  fc
    .tuple(
      scope,
      optional(generation, 'generation'),
      optional(fc.integer({ min: 1 }), 'limit'),
      optional(ranges, 'known'),
      optional(replica, 'replica'),
      optional(fc.oneof(fc.maxSafeNat(), newest), 'start'),
      optional(fc.array(name, { maxLength: 3 }), 'waiting'),
      fc.record({ cursor: seq, anchor }),
    )
    .map((parts): PullRequest => Object.assign({}, ...parts)),
  { maxLength: 3 },
)
const failure = fc
  .tuple(fc.record({ code: id, message: fc.string({ unit: codePoint }) }), optional(seq, 'retryAfter'))
  .map(([error, wait]) => ({ error: { ...error, ...wait } }))
const result = fc.oneof(
  fc.record({ seq }),
  fc.record({ conflict: fc.option(id) }),
  fc.record({ rejected: fc.constantFrom('deleted', 'forbidden', 'too-large') }),
)
const pushAnswers = fc.array(
  fc.oneof(
    failure,
    fc.record({ generation, results: fc.array(result, { maxLength: 4 }), head: seq }),
    fc.record({ erased: fc.constant(true), generation }),
  ) as fc.Arbitrary<PushAnswer>,
  { maxLength: 3 },
)
const pulledOp: fc.Arbitrary<PulledOp> = fc.oneof(syncOp, fc.record({ opId: id }))
const pullAnswers = fc.array(
  fc.oneof(
    failure,
    fc.record(
      {
        generation,
        from: seq,
        ops: fc.array(pulledOp, { maxLength: 6 }),
        cursor: seq,
        anchor,
        head: seq,
        replicas: fc.array(fc.record({ name: replica, seq: fc.integer({ min: -1 }) }), { maxLength: 3 }),
        emptiedAt: seq,
        start: fc.record({
          ordinal: seq,
          registers: fc.array(fc.record({ key: id, version: id, seq, body: fc.string({ unit: codePoint }) })),
          marks: fc.array(fc.record({ slot: id, id, seq, chain: seq })),
          arrived: fc.array(name),
        }),
      },
      { requiredKeys: ['generation', 'from', 'ops', 'cursor', 'anchor', 'head'] },
    ),
    fc.record({ reset: fc.constantFrom('erased', 'diverged', 'too-old'), generation }),
  ) as fc.Arbitrary<PullAnswer>,
  { maxLength: 3 },
)

/** Some of which say when they were written. */
const timed = <Answer>(answers: fc.Arbitrary<Answer[]>) =>
  fc
    .tuple(answers, fc.option(fc.maxSafeNat()))
    .map(([answers, time]) => (time === null ? answers : Object.assign([...answers], { time })))

function survives<Value>(
  value: fc.Arbitrary<Value>,
  encode: (value: Value) => string,
  decode: (text: string) => unknown,
) {
  fc.assert(
    fc.property(value, (value) => {
      expect(decode(encode(value))).toEqual(value)
    }),
    runs(400),
  )
}

describe('messages on the wire', () => {
  it('arrive as they were sent: pushes', () => survives(pushes, encodePush, decodePush))
  it('arrive as they were sent: answers to pushes', () =>
    survives(timed(pushAnswers), encodePushAnswers, decodePushAnswers))
  it('arrive as they were sent: pulls', () => survives(pulls, encodePull, decodePull))
  it('arrive as they were sent: answers to pulls', () =>
    survives(timed(pullAnswers), encodePullAnswers, decodePullAnswers))

  it('say nothing twice', () => {
    const message = (id: string, role: 'user' | 'assistant'): Message => ({
      id,
      role,
      content: 'Hello',
      createdAt: 1,
      trust: role,
    })
    const ops = (['m1', 'm2', 'm3'] as const).map((id, at): SyncOp => {
      const messages = [message(id, at === 0 ? 'user' : 'assistant')]
      return sealOp({ kind: 'append', opId: `entry:${id}`, round: 'm1', messages })
    })
    ops.unshift(sealOp({ kind: 'put', opId: 'o', key: 'k', base: null, value: 1 }))
    const body = (role: string) => ({ role, content: 'Hello', createdAt: 1, trust: role })
    expect(JSON.parse(encodePush([{ generation: 'g', ops }]))).toEqual({
      proto: 1,
      scopes: [
        {
          generation: 'g',
          ops: [
            { op: 'o', put: 'k', body: 1 },
            { id: 'm1', body: body('user') },
            { id: 'm2', round: 0, body: body('assistant') },
            { id: 'm3', round: 0, body: body('assistant') },
          ],
        },
      ],
    })
  })

  it('pass over fields of a newer version', () => {
    const text = encodePush([{ generation: 'g', ops: [] }]).replace('{', '{"later":1,')
    expect(decodePush(text.replace('"generation"', '"newer":[],"generation"'))).toEqual([
      { generation: 'g', ops: [] },
    ])
  })

  it('of another version are refused as such', () => {
    const text = encodePull([{ cursor: 0, anchor: '' }]).replace('"proto":1', '"proto":2')
    expect(codeOf(() => decodePull(text))).toBe('ERR_UPGRADE_REQUIRED')
  })
})

function codeOf(work: () => unknown): string | undefined {
  try {
    work()
  } catch (error) {
    if (isPlimsollError(error)) return error.code
    throw error
  }
  return undefined
}

const ANY = { enumerable: true, configurable: true, writable: true }
/** Each with what it may come to. */
const DECODERS = [
  ...[decodePush, decodePull].map(
    (decode) => [decode, [undefined, 'ERR_INVALID_ARGUMENT', 'ERR_UPGRADE_REQUIRED']] as const,
  ),
  ...[decodePushAnswers, decodePullAnswers].map((decode) => [decode, [undefined, 'ERR_OFFLINE']] as const),
]

describe('what is malformed', () => {
  /** Text that is close to a message: values of one are put in the place of others. */
  const mutated = fc
    .tuple(
      fc.oneof(
        pushes.map(encodePush),
        pulls.map(encodePull),
        pushAnswers.map(encodePushAnswers),
        pullAnswers.map(encodePullAnswers),
      ),
      fc.array(
        fc.tuple(
          fc.nat(),
          fc.constantFrom('null', 'true', '-1', '0', '1.5', '""', '"x"', '"\\ud800"', '[]', '{}', '[[]]'),
        ),
        {
          minLength: 1,
          maxLength: 3,
        },
      ),
    )
    .map(([text, changes]) => {
      const root = { value: JSON.parse(text) as unknown }
      for (const [at, value] of changes) {
        const places: [object, string][] = []
        const walk = (of: unknown): void => {
          if (typeof of !== 'object' || of === null) return
          for (const key of Object.keys(of)) {
            places.push([of, key])
            walk(of[key as never])
          }
        }
        walk(root)
        const [of, key] = places[at % places.length] as [object, string]
        Object.defineProperty(of, key, { ...ANY, value: JSON.parse(value) as unknown })
      }
      return JSON.stringify(root.value) ?? ''
    })

  it('is refused, and nothing else ever happens', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: codePoint }), fc.json(), mutated), (text) => {
        for (const [decode, codes] of DECODERS) expect(codes).toContain(codeOf(() => decode(text)))
      }),
      runs(1_000),
    )
  })

  const push = (op: unknown) => JSON.stringify({ proto: 1, scopes: [{ generation: 'g', ops: [op] }] })
  const body = '{}'
  const cases: Readonly<Record<string, string>> = {
    'no JSON': '{',
    'no object': '[]',
    'no version': '{"scopes":[]}',
    'no generation': '{"proto":1,"scopes":[{"ops":[]}]}',
    'too many scopes': JSON.stringify({ proto: 1, scopes: Array(33).fill({ generation: 'g', ops: [] }) }),
    'too many ops': JSON.stringify({
      proto: 1,
      scopes: Array(2).fill({ generation: 'g', ops: Array(PUSH_OPS / 2 + 1).fill({ id: 'm', body }) }),
    }),
    'an empty session': '{"proto":1,"scopes":[{"session":"","generation":"g","ops":[]}]}',
    'an id that is too long': push({ id: 'x'.repeat(257), body }),
    'an id of half a character': push({ id: '\ud800', body }),
    'an op without a name': push({ ids: ['a', 'b'], bodies: [body, body] }),
    'a put without a name': push({ put: 'a', body }),
    'a body that is missing': push({ id: 'a' }),
    'a body too many': push({ op: 'o', ids: ['a', 'b'], bodies: [body, body, body] }),
    'a body of half a character': push({ id: 'a', body: '\ud800' }),
    'an append of nothing': push({ op: 'o' }),
    'a mark of two': push({ op: 'o', mark: 'epoch', ids: ['a', 'b'], bodies: [body, body] }),
    'a mark that would be taken for a message': push({ id: 'a', mark: 'message', body }),
    'a mark that would be taken for an erase': push({ id: 'a', mark: 'erase', body }),
    'a kind that has a field of its own': push({ id: 'a', kind: 'append', body }),
    'a round before the first': push({ id: 'a', round: 0, body }),
    'a delete of nothing that is known': push({ op: 'o', delete: 'other:x' }),
    'a weight that is no whole number': push({
      op: 'o',
      put: 'a',
      index: [{ group: 'g', weight: 0.5 }],
      body,
    }),
    'a register beside it without a body': push({ id: 'a', body, beside: [['secret', null]] }),
    'an append of nothing, to a round': push({ op: 'o', round: 'm1' }),
    'levels without end': push({ id: 'a', body: '@' }).replace(
      '"@"',
      `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
    ),
  }
  for (const [what, text] of Object.entries(cases))
    it(`is refused: ${what}`, () => {
      expect(codeOf(() => decodePush(text))).toBe('ERR_INVALID_ARGUMENT')
    })

  it.each([
    { cursor: 0, start: 0.5 },
    { cursor: 0, start: -1 },
    { cursor: 0, start: 'x' },
    { cursor: 0, start: { bytes: 0 } },
    { cursor: 0, start: { since: 0.5 } },
    { cursor: 0, start: 1, waiting: Array(513).fill('o') },
    { cursor: 0, start: 1, waiting: [1] },
  ])('is refused: a pull with %j', (scope) => {
    const text = JSON.stringify({ proto: 1, scopes: [scope] })
    expect(codeOf(() => decodePull(text))).toBe('ERR_INVALID_ARGUMENT')
  })

  it('has no way to a prototype', () => {
    const [request] = decodePush(
      '{"proto":1,"__proto__":{"a":1},"scopes":[{"__proto__":{"session":"s"},"generation":"g","ops":' +
        '[{"id":"__proto__","body":{"__proto__":{"a":1}},"__proto__":{"lane":"x"}}]}]}',
    )
    expect(request).toEqual({
      generation: 'g',
      ops: [
        {
          envelope: { opId: 'entry:__proto__', kind: 'append', ids: ['__proto__'], round: '__proto__' },
          bodies: ['{"__proto__":{"a":1}}'],
        },
      ],
    })
    expect('a' in {}).toBe(false)
  })
})

describe('1 000 exchanges', () => {
  const words = 'the keel of a small boat carries lead so that wind on the sail cannot turn it over'.split(
    ' ',
  )
  const textOf = (at: number, length: number) =>
    Array.from({ length }, (_, word) => words[(at * 7 + word * 3) % words.length]).join(' ')
  const uuid = (at: number) => `0193${String(at).padStart(4, '0')}-7c3e-7d21-9a54-1f0c2b9d8e7f`
  const exchanges = Array.from({ length: 1_000 }, (_, at): readonly [user: Message, assistant: Message] => {
    const createdAt = 1_790_000_000_000 + at * 60_000
    return [
      { id: uuid(2 * at), role: 'user', content: textOf(at, 8 + (at % 9)), createdAt, trust: 'user' },
      {
        id: uuid(2 * at + 1),
        role: 'assistant',
        content: textOf(at, 30 + (at % 60)),
        createdAt,
        trust: 'assistant',
      },
    ]
  })
  const raw = exchanges
    .flat()
    .map(({ trust: _, ...message }) => utf8Length(JSON.stringify(message)))
    .reduce((a, b) => a + b)
  /** As an app writes them: the question when it is asked, the answer when it is there. */
  const ops = exchanges.flatMap(([user, assistant]): SyncOp[] =>
    [user, assistant].map((message) =>
      sealOp({ kind: 'append', opId: `entry:${message.id}`, round: user.id, messages: [message] }),
    ),
  )
  const asOne = exchanges.map(([user, assistant], at) =>
    sealOp({ kind: 'append', opId: uuid(9_000 - at), round: user.id, messages: [user, assistant] }),
  )
  const pieces = (ops: readonly SyncOp[], size: number) =>
    Array.from({ length: Math.ceil(ops.length / size) }, (_, at) => ops.slice(at * size, (at + 1) * size))
  const bytes = (texts: readonly string[]) => texts.reduce((sum, text) => sum + utf8Length(text), 0)

  it.each([
    ['one by one', ops],
    ['each as one op', asOne],
  ])('take at most 1.3 times the bytes of their messages as JSON, in each direction: %s', (_, ops) => {
    const up = pieces(ops, PUSH_OPS)
    const seqs = Array.from({ length: PUSH_OPS }, (_, at) => ({ seq: 1_900 + at }))
    const pushed = bytes([
      ...up.map((ops) => encodePush([{ sessionId: uuid(1), generation: uuid(2), ops }])),
      ...up.map(() => encodePushAnswers([{ generation: uuid(2), results: seqs, head: 2_000 }])),
    ])
    const place = { generation: uuid(2), cursor: 1_000, anchor: uuid(3) }
    const down = pieces(ops, 512)
    const pulled = bytes([
      ...down.map(() => encodePull([{ sessionId: uuid(1), ...place }])),
      ...down.map((ops) => encodePullAnswers([{ ...place, from: 500, ops, head: 2_000 }])),
    ])
    expect(pushed / raw).toBeLessThan(1.3)
    expect(pulled / raw).toBeLessThan(1.3)
  })
})
