import { describe, expect, it } from 'vitest'
import { createMemory, facts, mapStore, recall, type Store } from '../../../src/index.ts'

const SESSIONS = 40

/** A store that counts which sessions are read, and how many at once. */
function counting(store: Store) {
  const read = new Set<string>()
  let open = 0
  let most = 0
  const counted: Store = {
    ...store,
    open: (scope) => {
      const inner = store.open(scope)
      const { sessionId } = scope
      if (sessionId === undefined) return inner
      return {
        ...inner,
        commit: (ops, decide) => inner.commit(ops, decide),
        head: () => inner.head(),
        entries: (query) => inner.entries(query),
        register: (key) => inner.register(key),
        registers: (prefix, after) => inner.registers(prefix, after),
        indexed: (group, query) => inner.indexed(group, query),
        sums: (groups) => inner.sums(groups),
        attach: (attachment, at) => inner.attach(attachment, at),
        attachment: (id) => inner.attachment(id),
        derive: (row, seq) => inner.derive(row, seq),
        derived: (prefix, after) => inner.derived(prefix, after),
        close: () => inner.close(),
        changesSince: async (seq) => {
          read.add(sessionId)
          most = Math.max(most, ++open)
          await new Promise((resolve) => setTimeout(resolve, 1))
          open--
          return inner.changesSince(seq)
        },
      }
    },
  }
  return { store: counted, read, most: () => most }
}

async function filled(options: Parameters<typeof recall>[0] = {}) {
  const inner = mapStore()
  let now = 0
  const writing = createMemory({ store: inner, budget: 10_000, use: [facts(), recall()], clock: () => ++now })
  const ids = Array.from({ length: SESSIONS }, (_, index) => `s-${index}`)
  for (const sessionId of ids)
    await writing
      .session({ userId: 'ada', sessionId })
      .append([{ role: 'user', content: 'A train to Turin.' }])
  const { store, read, most } = counting(inner)
  const memory = createMemory({ store, budget: 10_000, use: [facts(), recall(options)] })
  return { user: memory.user({ userId: 'ada' }), read, most, ids }
}

describe('recall over many sessions', () => {
  it('reads eight of them at once', async () => {
    const { user, read, most } = await filled()
    expect(await user.recall.find('Turin', { sessions: 'all', first: 100 })).toHaveLength(SESSIONS)
    expect([read.size, most()]).toEqual([SESSIONS, 8])
  })

  it('looks once through one that is named twice', async () => {
    const { user } = await filled()
    const found = await user.recall.find('train', { sessions: ['s-1', 's-2', 's-1'] })
    expect(found.map(({ sessionId }) => sessionId)).toEqual(['s-1', 's-2'])
  })

  it('reads the newest, and no more than it is told to', async () => {
    const { user, read, ids } = await filled({ sessions: 5 })
    const found = await user.recall.find('Turin', { sessions: 'all', first: 100 })
    expect(found.map((item) => 'sessionId' in item && item.sessionId).toSorted()).toEqual(
      ids.slice(-5).toSorted(),
    )
    expect(read.size).toBe(5)
    await expect(user.recall.find('Turin', { sessions: ids.slice(0, 6) })).rejects.toMatchObject({
      code: 'ERR_INVALID_ARGUMENT',
      argument: 'sessions',
    })
  })

  it('reads no further once it has read as many messages as it is told to, and keeps no more', async () => {
    const { user, read } = await filled({ messages: 10 })
    expect(await user.recall.find('Turin', { sessions: 'all', first: 100 })).toHaveLength(10)
    expect(read.size).toBe(16)
  })

  it.each([{ sessions: 0 }, { sessions: 257 }, { messages: 0 }, { messages: 1.5 }])(
    'refuses bounds that are none: %o',
    (bad) => {
      expect(() => recall(bad)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' }))
    },
  )
})
