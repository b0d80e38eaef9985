import { IDBFactory } from 'fake-indexeddb'
import { describe, expect, it } from 'vitest'
import { idbRows, memoryRows, type RowStore } from '../../../src/chat/homes/idb-rows.ts'
import { pageLocks } from '../../../src/chat/homes/locks.ts'
import { Outbox, type OutboxEntry, type OutboxParts } from '../../../src/chat/homes/outbox.ts'
import { RequestError } from '../../../src/client/error.ts'
import { PlimsollError } from '../../../src/index.ts'
import { until } from './states.ts'
import { browser, TestNetwork } from './support.ts'
import { absent } from './test-service.ts'

const entry = (id: string, more: Partial<OutboxEntry> = {}): Omit<OutboxEntry, 'owner' | 'subject'> => ({
  id,
  sessionId: 'trip',
  text: `text of ${id}`,
  createdAt: 7,
  ...more,
})

const unreachable = (): Error => new RequestError('ERR_STORAGE', 'POST /v1/sessions/trip/messages: no answer')

function outboxOver(store: RowStore<OutboxEntry>, more: Partial<OutboxParts> = {}) {
  const sent: string[] = []
  const told: string[] = []
  const wakes: (() => void)[] = []
  const network = new TestNetwork()
  const outbox = new Outbox({
    store,
    author: async () => ({ owner: 'ada' }),
    isOwn: ({ owner }) => owner === 'ada',
    writing: (write) => write(),
    locks: pageLocks(),
    lockName: 'outbox',
    network,
    sleep: () => new Promise((resolve) => wakes.push(resolve)),
    send: async ({ id }) => void sent.push(id),
    onSent: (sessionId) => told.push(sessionId),
    ...more,
  })
  return { outbox, sent, told, network, wakes }
}

describe.each([
  ['in a database', () => idbRows<OutboxEntry>(new IDBFactory(), 'outbox')],
  ['in memory', () => memoryRows<OutboxEntry>()],
])('an outbox %s', (_, open) => {
  it('keeps messages in their order until they are sent', async () => {
    const store = open()
    const { outbox, sent, told, network } = outboxOver(store)
    network.set(false)
    for (const id of ['c', 'a', 'b']) await outbox.add(entry(id))
    expect(outbox.of('trip').map(({ id }) => id)).toEqual(['c', 'a', 'b'])
    expect(sent).toEqual([])
    network.set(true)
    await outbox.flush()
    expect(sent).toEqual(['c', 'a', 'b'])
    expect(told).toEqual(['trip'])
    expect(await store.list()).toEqual([])
    await outbox.close()
  })

  it('says that nobody answers, also where a proxy does, until what waits was sent', async () => {
    const proxy = new RequestError('ERR_STORAGE', 'POST /v1/sessions/trip/messages: status 502', {
      status: 502,
    })
    let failure: Error | undefined = unreachable()
    const told: boolean[] = []
    const { outbox } = outboxOver(open(), {
      send: async () => {
        if (failure) throw failure
      },
    })
    outbox.subscribe(() => told.push(outbox.isAway))
    await outbox.add(entry('a'))
    await outbox.flush()
    expect(told.at(-1)).toBe(true)
    failure = undefined
    await outbox.flush()
    expect([told.at(-1), outbox.of('trip')]).toEqual([false, []])
    failure = proxy
    await outbox.add(entry('b'))
    await outbox.flush()
    expect([told.at(-1), outbox.of('trip')[0]?.problem]).toEqual([true, undefined])
    await outbox.close()
  })

  it('keeps what is not answered, and sends it again, in order, when its time comes', async () => {
    let reaches = false
    const sent: string[] = []
    const { outbox, wakes } = outboxOver(open(), {
      send: async ({ id }) => {
        if (!reaches) throw unreachable()
        sent.push(id)
      },
    })
    await outbox.add(entry('a'))
    await outbox.add(entry('b'))
    await outbox.flush()
    expect(outbox.of('trip').map(({ id, problem }) => [id, problem])).toEqual([
      ['a', undefined],
      ['b', undefined],
    ])
    reaches = true
    for (const wake of wakes) wake()
    await expect.poll(() => sent).toEqual(['a', 'b'])
    await outbox.close()
  })

  it('marks what is refused, sends the rest, and sends or drops that one on demand', async () => {
    let refuses = true
    const sent: string[] = []
    const { outbox } = outboxOver(open(), {
      send: async ({ id }) => {
        if (id !== 'b' && refuses)
          throw new PlimsollError('ERR_ENTRY_TOO_LARGE', 'append: too large', { size: 9, limit: 8 })
        sent.push(id)
      },
    })
    for (const id of ['a', 'b', 'c']) await outbox.add(entry(id))
    await outbox.flush()
    expect(sent).toEqual(['b'])
    expect(outbox.of('trip').map(({ id, problem }) => [id, problem?.code])).toEqual([
      ['a', 'ERR_ENTRY_TOO_LARGE'],
      ['c', 'ERR_ENTRY_TOO_LARGE'],
    ])
    refuses = false
    await outbox.flush()
    expect(sent).toEqual(['b'])
    await outbox.retry('a')
    await outbox.drop('c')
    expect(sent).toEqual(['b', 'a'])
    expect(outbox.of('trip')).toEqual([])
    await outbox.close()
  })

  it('waits for a token, and for an edge that is overloaded, instead of giving a message up', async () => {
    for (const code of ['ERR_UNAUTHENTICATED', 'ERR_OVERLOADED', 'ERR_RATE_LIMIT'] as const) {
      const { outbox } = outboxOver(open(), {
        send: async () => {
          throw new PlimsollError(code, 'append: not now')
        },
      })
      await outbox.add(entry(code))
      await outbox.flush()
      expect(outbox.of('trip').map(({ problem }) => problem)).toEqual([undefined])
      await outbox.close()
    }
  })

  it('is one among tabs: what one has sent, the other does not send', async () => {
    const store = open()
    const sent: string[] = []
    const locks = pageLocks()
    const send = async ({ id }: OutboxEntry): Promise<void> => {
      await new Promise((resolve) => setTimeout(resolve, 5))
      sent.push(id)
    }
    for (const id of ['a', 'b']) await store.put({ ...entry(id), owner: 'ada' })
    const tabs = [outboxOver(store, { send, locks }), outboxOver(store, { send, locks })]
    await Promise.all(tabs.map(({ outbox }) => outbox.open()))
    await Promise.all(tabs.map(({ outbox }) => outbox.flush()))
    expect(sent).toEqual(['a', 'b'])
    await Promise.all(tabs.map(({ outbox }) => outbox.close()))
  })

  it('sends again what another tab has given away meanwhile as it is then, and nothing that it ended', async () => {
    const store = open()
    const refuse = async (): Promise<void> => {
      throw new PlimsollError('ERR_ENTRY_TOO_LARGE', 'append: too large', { size: 9, limit: 8 })
    }
    const { outbox } = outboxOver(store, { send: refuse })
    for (const id of ['a', 'b']) await outbox.add(entry(id))
    await outbox.flush()
    const [first] = await store.list()
    await store.put({ ...(first as OutboxEntry), owner: 'bob' })
    await store.remove('b')
    for (const id of ['a', 'b']) await outbox.retry(id)
    expect(await store.list()).toEqual([{ ...first, owner: 'bob' }])
    await outbox.close()
  })

  it('keeps nothing that is dropped while it is refused, or written again', async () => {
    const store = open()
    const { outbox, network } = outboxOver(store, {
      send: async ({ id }) => {
        await store.remove(id)
        throw new PlimsollError('ERR_ENTRY_TOO_LARGE', 'append: too large', { size: 9, limit: 8 })
      },
    })
    await outbox.add(entry('a'))
    await outbox.flush()
    expect(await store.list()).toEqual([])
    network.set(false)
    for (const id of ['b', 'c']) await outbox.add(entry(id))
    let dropped: Promise<void> | undefined
    await outbox.rewrite((waiting) => {
      dropped ??= Promise.all(['b', 'c'].map((id) => store.remove(id))).then(() => {})
      return { ...waiting, owner: 'bob' }
    })
    await dropped
    expect(await store.list()).toEqual([])
    await outbox.close()
  })

  it('sends nobody else’s', async () => {
    const store = open()
    await store.put({ ...entry('hers'), owner: 'bob' })
    const { outbox, sent } = outboxOver(store)
    await outbox.open()
    await outbox.flush()
    expect(sent).toEqual([])
    expect(outbox.of('trip')).toEqual([])
    await outbox.close()
  })
})

describe('a message to an edge', () => {
  it('that cannot be kept while there is no network stays in the composer', async () => {
    const device = browser()
    device.network.set(false)
    const chat = device.open({
      src: 'https://edge.test',
      getToken: () => 'token',
      platform: { indexedDB: fullFactory() },
    })
    await chat.conversation.create()
    expect(await chat.conversation.send('Hello')).toBe(false)
    const state = await until(chat, ({ problem }) => problem !== undefined)
    expect(state.problem?.code).toBe('ERR_STORAGE_FULL')
    expect(state.storage).toBe('full')
    expect(state.messages).toEqual([])
    await chat.close()
  })
})

/** A database in which there is no room. */
function fullFactory(): IDBFactory {
  const factory = new IDBFactory()
  const { open } = factory
  factory.open = function (this: IDBFactory, ...args: Parameters<IDBFactory['open']>) {
    const request = open.apply(factory, args)
    request.addEventListener('success', () => {
      const database = request.result
      const { transaction } = database
      database.transaction = ((...given: Parameters<IDBDatabase['transaction']>) => {
        if (given[1] === 'readwrite') throw new DOMException('full', 'QuotaExceededError')
        return transaction.apply(database, given)
      }) as typeof transaction
    })
    return request
  } as typeof factory.open
  return factory
}

it.each([
  ['a proxy says so', 502],
  // As while a site is put up again: of the conversation that says nothing.
  ['its host has nothing of that name', 404],
])(
  'says in the conversation that its service is away, where %s, and no more once it answers',
  async (_, status) => {
    let isThere = false
    const messages: object[] = []
    const wakes: (() => void)[] = []
    const fetch = async (url: string, { method, body }: RequestInit): Promise<Response> => {
      if (!isThere) return new Response('<h1>No</h1>', { status })
      const { pathname } = new URL(url)
      if (pathname.endsWith('/messages') && method === 'POST')
        messages.push(...JSON.parse(String(body)).messages)
      if (pathname.endsWith('/messages')) return Response.json({ messages })
      if (pathname === '/v1/sessions') return Response.json({})
      if (pathname.endsWith('/branches')) return Response.json({ branches: [] })
      return absent()
    }
    const chat = browser().open({
      src: 'https://edge.test',
      getToken: () => 'ada',
      platform: {
        fetch,
        WebSocket: undefined,
        sleep: () => new Promise((resolve) => wakes.push(() => resolve())),
      },
    })
    await chat.conversation.create()
    expect(await chat.conversation.send('Two seats')).toBe(true)
    const down = await until(chat, ({ storage }) => storage === 'away')
    expect(down.messages.map(({ delivery }) => delivery)).toEqual(['queued'])
    isThere = true
    for (const wake of wakes) wake()
    const up = await until(
      chat,
      ({ storage, messages }) => storage === 'ok' && messages[0]?.delivery === 'sent',
    )
    expect(up.problem?.code).not.toBe('ERR_OFFLINE')
    await chat.close()
  },
)
