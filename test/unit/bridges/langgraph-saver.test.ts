import {
  type Checkpoint,
  type CheckpointMetadata,
  type CheckpointTuple,
  emptyCheckpoint,
  MemorySaver,
  type SerializerProtocol,
} from '@langchain/langgraph-checkpoint'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PlimsollSaver } from '../../../src/bridges/langgraph/index.ts'
import { descending } from '../../../src/bridges/langgraph/paths.ts'
import {
  type Content,
  difference,
  restored,
  type StoredValue,
} from '../../../src/bridges/langgraph/values.ts'
import type { Store } from '../../../src/ports/store.ts'
import { mapStore } from '../../../src/stores/map.ts'
import { runs, size } from '../../everywhere/runs.ts'

const METADATA: CheckpointMetadata = { source: 'loop', step: 0, parents: {} }

function saverOver(store: Store = mapStore(), userId = 'ada'): PlimsollSaver {
  return new PlimsollSaver({ store, userId })
}

/** Ids that grow, as those of checkpoints do. */
function idOf(number: number): string {
  return `1ef4f797-8335-6428-8001-${String(number).padStart(12, '0')}`
}

function at(thread_id: string, checkpoint_id?: string, checkpoint_ns = '') {
  return { configurable: { thread_id, checkpoint_ns, ...(checkpoint_id !== undefined && { checkpoint_id }) } }
}

function checkpointOf(id: string, values: Checkpoint['channel_values'], version: number): Checkpoint {
  const versions = Object.fromEntries(Object.keys(values).map((channel) => [channel, version]))
  return {
    ...emptyCheckpoint(),
    ts: '2026-11-27T00:00:00.000Z',
    id,
    channel_values: values,
    channel_versions: versions,
  }
}

async function all(list: AsyncGenerator<CheckpointTuple>): Promise<readonly CheckpointTuple[]> {
  const tuples: CheckpointTuple[] = []
  for await (const tuple of list) tuples.push(tuple)
  return tuples
}

/** Bytes of bodies, and rows, of a thread. */
async function stored(store: Store, thread: string): Promise<{ bytes: number; rows: number }> {
  const scope = store.open({ userId: 'ada', sessionId: `langgraph/${thread}` })
  let [bytes, rows] = [0, 0]
  for (let after: string | undefined; ; ) {
    const page = await scope.registers('', after)
    for (const { body } of page) {
      bytes += body?.length ?? 0
      rows++
    }
    after = page.at(-1)?.key
    if (after === undefined) return { bytes, rows }
  }
}

describe('what a channel holds', () => {
  const item = fc.constantFrom(
    '1',
    '"two"',
    '{"three":3}',
    '#bytes#AAEC',
    '[4]',
    'null',
    '{"2":0,"1":0}',
    ' 1',
  )
  const content = fc.oneof(
    fc.record({ shape: fc.constant('list' as const), items: fc.array(item, { maxLength: 12 }) }),
    fc.record({
      shape: fc.constant('map' as const),
      items: fc
        .array(fc.tuple(fc.constantFrom('a', 'b "', '\n'), item), { maxLength: 6 })
        .map((fields) => fields.map(([name, text]) => `${JSON.stringify(name)}\n${text}`)),
    }),
    fc.record({ shape: fc.constant('one' as const), items: fc.tuple(item) }),
  )

  it('comes back from its differences, in bounded reads, however it changed', () => {
    fc.assert(
      fc.property(fc.array(content, { minLength: 1, maxLength: 40 }), (contents) => {
        let before: { ref: readonly [number, string]; stored: StoredValue; content: Content } | undefined
        for (const [number, next] of contents.entries()) {
          const stored = JSON.parse(JSON.stringify(difference(next, before))) as StoredValue
          const base = stored.base ? (before?.content.items ?? []) : []
          expect(restored(stored, base)).toEqual(next)
          expect(stored.links).toBeLessThanOrEqual(64 + next.items.length)
          before = { ref: [0, String(number)], stored, content: next }
        }
      }),
      runs(400),
    )
  })

  it('is stored whole once the way to it is longer than it is worth', () => {
    let before: { ref: readonly [number, string]; stored: StoredValue; content: Content } | undefined
    let whole = 0
    for (let number = 0; number < 200; number++) {
      const content: Content = { shape: 'list', items: [JSON.stringify('x'.repeat(5_000) + number)] }
      const stored = difference(content, before)
      if (!stored.base) whole++
      expect(stored.weight).toBeLessThanOrEqual(8_192 + 3 * 5_100)
      before = { ref: [0, ''], stored, content }
    }
    expect(whole).toBeGreaterThan(20)
    expect(whole).toBeLessThan(120)
  })

  it('names what it has from its base, in whatever order it stands now', () => {
    const items = Array.from({ length: 20 }, (_, at) => `"${String(at).repeat(100)}"`)
    const base = difference({ shape: 'list', items })
    const from = { ref: [0, ''] as const, stored: base, content: { shape: 'list' as const, items } }
    const turned = difference({ shape: 'list', items: items.toReversed() }, from)
    expect(JSON.stringify(turned.parts).length).toBeLessThan(300)
  })

  it('is stored whole once there are too many steps to it, however small', () => {
    const stored: StoredValue[] = []
    for (let number = 0; number < 200; number++) {
      const content: Content = { shape: 'list', items: ['0', String(number)] }
      const base = stored.at(-1)
      const items = ['0', String(number - 1)]
      stored.push(difference(content, base && { ref: [0, ''], stored: base, content: { ...content, items } }))
    }
    expect(Math.max(...stored.map(({ links }) => links))).toBe(66)
  })
})

it('ids sort backwards', () => {
  const id = fc
    .array(fc.constantFrom('\0', '\u001f', ' ', '-', '0', 'a', '~', '\u007f', 'é', '\ud7ff', '\uffff'), {
      maxLength: 4,
    })
    .map((characters) => characters.join(''))
  const compare = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0)
  fc.assert(
    fc.property(id, id, (one, other) => {
      expect(compare(descending(one), descending(other))).toBe(-compare(one, other) + 0)
    }),
    runs(2_000),
  )
})

describe('a saver', () => {
  /** A write to a thread: which checkpoint it follows, and how its channels change. */
  const step = fc.record({
    from: fc.nat(),
    namespace: fc.constantFrom('', 'child', 'child|grand/child'),
    change: fc.constantFrom('append', 'replace', 'drop first', 'same', 'field', 'other', 'copy', 'again'),
    writes: fc.array(fc.constantFrom('messages', '__error__', '__interrupt__'), { maxLength: 2 }),
  })

  it('gives what MemorySaver gives, after any forks, copies and repeated writes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
        const savers = [new MemorySaver(), saverOver()] as const
        const put: { id: string; namespace: string; parent: string | undefined; checkpoint: Checkpoint }[] =
          []
        for (const [number, { from, namespace, change, writes }] of steps.entries()) {
          const own = put.filter((one) => one.namespace === namespace)
          const base = own[from % Math.max(1, own.length)]
          const messages = (base?.checkpoint.channel_values.messages ?? []) as readonly unknown[]
          const files = (base?.checkpoint.channel_values.files ?? {}) as object
          const isCopy = base && (change === 'copy' || change === 'again')
          const values = isCopy
            ? base.checkpoint.channel_values
            : {
                messages:
                  change === 'append'
                    ? [...messages, { text: `m${number}` }, null, undefined]
                    : change === 'replace'
                      ? [...messages.slice(0, -1), `r${number}`]
                      : change === 'drop first'
                        ? messages.slice(1)
                        : messages,
                files: change === 'field' ? { ...files, [`f${number % 3}`]: `text ${number}` } : files,
                other: change === 'other' ? `o${number}` : (base?.checkpoint.channel_values.other ?? null),
              }
          const id = change === 'again' && base ? base.id : idOf(number)
          // A copy follows the parent of what it copies, and names nothing as new.
          const parent = isCopy ? base.parent : base?.id
          const checkpoint = isCopy ? { ...base.checkpoint, id } : checkpointOf(id, values, number + 1)
          const versions = isCopy ? {} : checkpoint.channel_versions
          for (const saver of savers) {
            const config = await saver.put(at('t', parent, namespace), checkpoint, METADATA, versions)
            for (const [index, channel] of writes.entries())
              await saver.putWrites(config, [[channel, { number, index }]], `task-${number % 2}`, 'path')
          }
          if (change !== 'again') put.push({ id, namespace, parent, checkpoint })
        }
        const [expected, actual] = await Promise.all(
          savers.map((saver) => all(saver.list({ configurable: {} }))),
        )
        const byId = (tuples: readonly CheckpointTuple[] = []) =>
          Object.fromEntries(tuples.map((tuple) => [JSON.stringify(tuple.config.configurable), tuple]))
        expect(byId(actual)).toEqual(byId(expected))
        for (const { id, namespace } of put) {
          const history = { config: at('t', id, namespace), channels: ['messages', 'other'] }
          expect(await savers[1].getTuple(history.config)).toEqual(await savers[0].getTuple(history.config))
          expect(await savers[1].getDeltaChannelHistory(history)).toEqual(
            await savers[0].getDeltaChannelHistory(history),
          )
        }
      }),
      runs(60),
    )
  })

  it('stores what changed: a turn late in a thread takes the bytes and rows of an early one', async () => {
    const store = mapStore()
    const turns = size(400)
    const takes: { bytes: number; rows: number }[] = []
    let saver = saverOver(store)
    let messages: readonly unknown[] = []
    for (let turn = 0; turn < turns; turn++) {
      const before = await stored(store, 't')
      messages = [
        ...messages,
        { role: 'user', text: `question ${1_000 + turn}` },
        { role: 'ai', text: 'x'.repeat(100) },
      ]
      const parent = turn === 0 ? undefined : idOf(turn - 1)
      const checkpoint = checkpointOf(idOf(turn), { messages }, 1)
      await saver.put(at('t', parent), checkpoint, METADATA, checkpoint.channel_versions)
      const after = await stored(store, 't')
      takes.push({ bytes: after.bytes - before.bytes, rows: after.rows - before.rows })
      // Nothing that is held in memory matters.
      if (turn % 10 === 9) saver = saverOver(store)
    }
    expect(takes.every(({ rows }) => rows === 1)).toBe(true)
    const [early, late] = [takes[5]?.bytes ?? 0, takes.at(-1)?.bytes ?? 0]
    // Two numbers of a stretch have more digits.
    expect(late - early).toBeLessThan(20)
    expect((await saverOver(store).getTuple(at('t')))?.checkpoint.channel_values.messages).toEqual(messages)
  })

  it('keeps the value of each of two forks that have equal versions', async () => {
    const saver = saverOver()
    const root = checkpointOf(idOf(0), { messages: ['a'] }, 1)
    await saver.put(at('t'), root, METADATA, { messages: 1 })
    for (const [number, text] of [
      [1, 'b'],
      [2, 'c'],
    ] as const)
      await saver.put(at('t', idOf(0)), checkpointOf(idOf(number), { messages: ['a', text] }, 2), METADATA, {
        messages: 2,
      })
    const messagesOf = async (number: number) =>
      (await saver.getTuple(at('t', idOf(number))))?.checkpoint.channel_values.messages
    expect([await messagesOf(1), await messagesOf(2)]).toEqual([
      ['a', 'b'],
      ['a', 'c'],
    ])
  })

  it('keeps what has an earlier value as its base where that one is written over', async () => {
    const saver = saverOver()
    await saver.put(at('t'), checkpointOf(idOf(0), { messages: ['a', 'b'] }, 1), METADATA, { messages: 1 })
    await saver.put(at('t', idOf(0)), checkpointOf(idOf(1), { messages: ['a', 'b', 'c'] }, 2), METADATA, {
      messages: 2,
    })
    await saver.put(at('t'), checkpointOf(idOf(0), { messages: ['z'] }, 1), METADATA, { messages: 1 })
    const fresh = saver
    expect((await fresh.getTuple(at('t', idOf(0))))?.checkpoint.channel_values).toEqual({ messages: ['z'] })
    expect((await fresh.getTuple(at('t', idOf(1))))?.checkpoint.channel_values).toEqual({
      messages: ['a', 'b', 'c'],
    })
  })

  it('stores nothing again: of a value that did not change, nor of a checkpoint that is put twice', async () => {
    const store = mapStore()
    const saver = saverOver(store)
    const messages = ['x'.repeat(2_000)]
    const first = checkpointOf(idOf(0), { messages }, 1)
    await saver.put(at('t'), first, METADATA, { messages: 1 })
    const before = await stored(store, 't')
    await saver.put(at('t'), first, METADATA, { messages: 1 })
    expect(await stored(store, 't')).toEqual(before)
    await saver.put(at('t', idOf(0)), checkpointOf(idOf(1), { messages }, 2), METADATA, { messages: 2 })
    const scope = store.open({ userId: 'ada', sessionId: 'langgraph/t' })
    const [row] = await scope.registers(`checkpoint//${idOf(1)}`)
    expect(row?.body).toContain('"own":[]')
  })

  it('knows no thread that nobody named, and shows nothing of one that was deleted', async () => {
    const store = mapStore()
    const saver = saverOver(store)
    expect(await saver.getTuple({ configurable: {} })).toBeUndefined()
    await saver.deleteThread('t')
    expect(await store.scopes()).toEqual([])
    for (const text of ['old', 'new']) {
      // Another process may write it.
      await saverOver(store).put(at('t'), checkpointOf(idOf(0), { messages: [text] }, 1), METADATA, {
        messages: 1,
      })
      expect((await saver.getTuple(at('t')))?.checkpoint.channel_values).toEqual({ messages: [text] })
      await saver.deleteThread('t')
    }
  })

  it('shows nothing of a thread that another process deleted and began again with the same ids', async () => {
    const store = mapStore()
    const [saver, other] = [saverOver(store), saverOver(store)]
    const values = { messages: ['a', 'b'] }
    for (const text of ['old', 'new']) {
      await saver.put(at('t'), checkpointOf(idOf(0), { messages: [text] }, 1), METADATA, { messages: 1 })
      const next = checkpointOf(idOf(1), { messages: [text, ...values.messages] }, 2)
      await saver.put(at('t', idOf(0)), next, METADATA, { messages: 2 })
      expect((await other.getTuple(at('t')))?.checkpoint).toEqual(next)
      await saver.deleteThread('t')
    }
  })

  it('takes channels that are called as what every object has', async () => {
    const savers = [new MemorySaver(), saverOver()]
    const [expected, actual] = await Promise.all(
      savers.map(async (saver) => {
        await saver.put(at('t'), checkpointOf(idOf(0), { a: [1] }, 1), METADATA, { a: 1 })
        const next = checkpointOf(idOf(1), { a: [1], constructor: [2], toString: 'x' } as never, 2)
        await saver.put(at('t', idOf(0)), next, METADATA, next.channel_versions)
        const writes = [
          ['b', 0],
          ['toString', 1],
          ['constructor', 2],
          ['c', 3],
        ] as [string, unknown][]
        await saver.putWrites(at('t', idOf(1)), writes, 'task')
        return saver.getTuple(at('t'))
      }),
    )
    expect(actual?.checkpoint).toEqual(expected?.checkpoint)
    expect(actual?.pendingWrites?.map(([, channel]) => channel)).toEqual([
      'b',
      'toString',
      'constructor',
      'c',
    ])
    const channels = ['constructor', 'none', 'valueOf']
    const history = await savers[1]?.getDeltaChannelHistory({ config: at('t', idOf(1)), channels })
    expect(history).toMatchObject(Object.fromEntries(channels.map((channel) => [channel, { writes: [] }])))
  })

  it('loses nothing of many processes that write at once', async () => {
    const store = mapStore()
    const config = await saverOver(store).put(at('t'), checkpointOf(idOf(0), {}, 1), METADATA, {})
    await Promise.all(
      Array.from({ length: 24 }, (_, number) => {
        const writes = Array.from({ length: number + 1 }, (_, at) => ['c', at] as [string, unknown])
        return saverOver(store).putWrites(config, writes, 'task')
      }),
    )
    expect((await saverOver(store).getTuple(config))?.pendingWrites).toHaveLength(24)
    const put = (number: number) =>
      saverOver(store).put(config, checkpointOf(idOf(1), { messages: [number] }, 1), METADATA, {
        messages: 1,
      })
    await Promise.all(Array.from({ length: 24 }, (_, number) => put(number)))
    expect((await saverOver(store).getTuple(at('t')))?.checkpoint.channel_values.messages).toHaveLength(1)
  })

  it('gives what MemorySaver gives of older checkpoints, and of all namespaces before one', async () => {
    const savers = [new MemorySaver(), saverOver()]
    const [expected, actual] = await Promise.all(
      savers.map(async (saver) => {
        for (const namespace of ['', 'child'])
          for (let number = 0; number < 4; number++) {
            const parent = number === 0 ? undefined : idOf(number - 1)
            const checkpoint = { ...checkpointOf(idOf(number), { messages: [number] }, number + 1), v: 3 }
            await saver.put(at('t', parent, namespace), checkpoint, METADATA, { messages: number + 1 })
            await saver.putWrites(at('t', idOf(number), namespace), [['__pregel_tasks', { number }]], 'task')
          }
        const before = at('t', idOf(2))
        return [
          await saver.getTuple(at('t', idOf(3))),
          (await all(saver.list({ configurable: { thread_id: 't' } }, { before }))).map(
            ({ config }) => config,
          ),
        ]
      }),
    )
    expect(actual?.[0]).toEqual(expected?.[0])
    expect(new Set(actual?.[1] as never)).toEqual(new Set(expected?.[1] as never))
  })

  it('keeps users, tenants and threads apart, and a thread that was deleted is gone', async () => {
    const store = mapStore()
    const [ada, bob] = [saverOver(store), saverOver(store, 'bob')]
    const acme = new PlimsollSaver({ store, userId: 'ada', tenant: 'acme' })
    const checkpoint = checkpointOf(idOf(0), { messages: ['a'] }, 1)
    for (const thread of ['t', 'u/%2F']) await ada.put(at(thread), checkpoint, METADATA, { messages: 1 })
    expect(await all(ada.list({ configurable: {} }))).toHaveLength(2)
    for (const other of [bob, acme]) {
      expect(await other.getTuple(at('t'))).toBeUndefined()
      expect(await all(other.list({}))).toEqual([])
      await other.deleteThread('t')
    }
    await acme.put(at('t'), checkpoint, METADATA, { messages: 1 })
    expect(await all(acme.list({}))).toHaveLength(1)
    await ada.deleteThread('t')
    expect(await ada.getTuple(at('t'))).toBeUndefined()
    expect(await stored(store, 't')).toEqual({ bytes: 0, rows: 0 })
    expect((await ada.getTuple(at('u/%2F')))?.checkpoint.channel_values).toEqual({ messages: ['a'] })
    // It may begin again.
    await ada.put(at('t', idOf(7)), checkpoint, METADATA, { messages: 1 })
    expect((await ada.getTuple(at('t')))?.checkpoint.channel_values).toEqual({ messages: ['a'] })
  })

  it('keeps what a serializer of one’s own writes, bytes too', async () => {
    const serde: SerializerProtocol = {
      dumpsTyped: async (data) => [
        'xor',
        new TextEncoder().encode(JSON.stringify(data)).map((byte) => byte ^ 1),
      ],
      loadsTyped: async (type, data) => {
        expect(type).toBe('xor')
        return JSON.parse(new TextDecoder().decode((data as Uint8Array).map((byte) => byte ^ 1)))
      },
    }
    const store = mapStore()
    const saver = new PlimsollSaver({ store, userId: 'ada', serde })
    const checkpoint = checkpointOf(idOf(0), { messages: ['secret'], bytes: 'text' }, 1)
    await saver.put(at('t'), checkpoint, METADATA, checkpoint.channel_versions)
    await saver.putWrites(at('t', idOf(0)), [['messages', 'secret']], 'task')
    const tuple = await new PlimsollSaver({ store, userId: 'ada', serde }).getTuple(at('t'))
    expect(tuple?.checkpoint).toEqual(checkpoint)
    expect(tuple?.pendingWrites).toEqual([['task', 'messages', 'secret']])
    const plain = saverOver()
    const bytes = { bytes: new Uint8Array([0, 255]), list: [new Uint8Array([1])] }
    await plain.put(at('t'), checkpointOf(idOf(0), bytes, 1), METADATA, { bytes: 1, list: 1 })
    expect((await plain.getTuple(at('t')))?.checkpoint.channel_values).toEqual(bytes)
  })

  it('orders what tasks wrote by path, task and number, by code points', async () => {
    const saver = saverOver()
    const config = await saver.put(at('t'), checkpointOf(idOf(0), {}, 1), METADATA, {})
    await saver.putWrites(
      config,
      [
        ['c', 1],
        ['c', 2],
      ],
      '\u{1f600}',
      'p',
    )
    await saver.putWrites(config, [['c', 3]], '\uffee', 'p')
    await saver.putWrites(config, [['c', 4]], 'z')
    await saver.putWrites(
      config,
      [
        ['c', 5],
        ['__error__', 'e'],
      ],
      'z',
    )
    await saver.putWrites(config, [['__error__', 'later']], 'z')
    expect((await saver.getTuple(config))?.pendingWrites).toEqual([
      ['z', '__error__', 'later'],
      ['z', 'c', 4],
      ['\uffee', 'c', 3],
      ['\u{1f600}', 'c', 1],
      ['\u{1f600}', 'c', 2],
    ])
  })

  it('lists more checkpoints, and more writes of one, than a page holds', async () => {
    const saver = saverOver()
    const count = 130
    for (let number = 0; number < count; number++)
      await saver.put(at('t'), checkpointOf(idOf(number), {}, 1), METADATA, {})
    const ids = (await all(saver.list(at('t')))).map(({ checkpoint }) => checkpoint.id)
    expect(ids).toEqual(Array.from({ length: count }, (_, number) => idOf(count - 1 - number)))
    for (let task = 0; task < 520; task++) await saver.putWrites(at('t', idOf(0)), [['c', task]], `t${task}`)
    expect((await saver.getTuple(at('t', idOf(0))))?.pendingWrites).toHaveLength(520)
  })

  it('refuses what it cannot keep, before it writes', async () => {
    const invalid = (argument: string) => expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', argument })
    const store = mapStore()
    expect(() => new PlimsollSaver({ store, userId: '' })).toThrow(invalid('userId'))
    expect(() => new PlimsollSaver({ store, userId: 'ada', path: 'x' } as never)).toThrow(invalid('path'))
    expect(() => new PlimsollSaver({ userId: 'ada' } as never)).toThrow(invalid('store'))
    for (const serde of [{}, { dumpsTyped: async () => ['json', ''] }, { loadsTyped: async () => 1 }])
      expect(() => new PlimsollSaver({ store, userId: 'ada', serde: serde as never })).toThrow(
        invalid('serde'),
      )
    const saver = saverOver(store)
    await expect(all(saver.list(at('t'), { before: at('t', 5 as never) }))).rejects.toThrow(invalid('before'))
    const checkpoint = checkpointOf(idOf(0), {}, 1)
    for (const thread of [undefined, 7, '', '\ud800', 'x'.repeat(250)])
      await expect(saver.put(at(thread as string), checkpoint, METADATA, {})).rejects.toThrow(
        invalid('thread_id'),
      )
    await expect(saver.put(at('t', '\ud800'), checkpoint, METADATA, {})).rejects.toThrow(
      invalid('checkpoint_id'),
    )
    await expect(saver.putWrites(at('t'), [['c', 1]], 'task')).rejects.toThrow(invalid('checkpoint_id'))
    await expect(saver.putWrites(at('t', idOf(0)), [['c', 1]], 7 as never)).rejects.toThrow(invalid('taskId'))
    expect(await store.scopes()).toEqual([])
  })

  it('says so where a checkpoint that another one needs is gone', async () => {
    const store = mapStore()
    const saver = saverOver(store)
    await saver.put(at('t'), checkpointOf(idOf(0), { messages: ['a'] }, 1), METADATA, { messages: 1 })
    await saver.put(at('t', idOf(0)), checkpointOf(idOf(1), { messages: ['a', 'b'] }, 2), METADATA, {
      messages: 2,
    })
    const scope = store.open({ userId: 'ada', sessionId: 'langgraph/t' })
    const key = `checkpoint//${idOf(0)}`
    const { changeRegister } = await import('../../../src/features/register.ts')
    const { webHost } = await import('../../../src/platform/web.ts')
    await changeRegister<null>(scope, webHost, { operation: 'test', key, change: () => null })
    await expect(saverOver(store).getTuple(at('t', idOf(1)))).rejects.toThrow(
      expect.objectContaining({ code: 'ERR_STORAGE' }),
    )
    // A turn goes on from it all the same, with all of its values.
    await saver.put(at('t', idOf(0)), checkpointOf(idOf(2), { messages: ['a', 'c'] }, 2), METADATA, {})
    expect((await saver.getTuple(at('t', idOf(2))))?.checkpoint.channel_values.messages).toEqual(['a', 'c'])
  })
})
