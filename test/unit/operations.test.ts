import { describe, expect, it } from 'vitest'
import * as plimsoll from '../../src/index.ts'

const { checkpoint, createMemory, mapStore, recall, standard, start } = plimsoll
const exported = new Map<string, unknown>(Object.entries(plimsoll))

/** All that reads or moves rows, as it is called with too little. */
const operations = [
  ...[
    'addExchange',
    'attach',
    'changeSettings',
    'clearLog',
    'contextAt',
    'deleteSession',
    'editMessage',
    'eraseUser',
  ],
  ...['findSession', 'forget', 'forgetFact', 'importInto', 'listSessions', 'nextWorkAt', 'readAttachment'],
  ...['readAudit', 'readBranches', 'readSettings', 'readSource', 'rewind', 'runDueWork', 'start'],
  ...['switchTo', 'titleSession', 'undo'],
] as const

describe('an operation', () => {
  for (const name of operations)
    it(`rejects, and does not throw, where it is given no session or memory: ${name}`, async () => {
      const called = (exported.get(name) as (given: unknown) => Promise<unknown>)(undefined)
      await expect(called).rejects.toMatchObject({
        code: 'ERR_INVALID_ARGUMENT',
        message: expect.stringMatching(`^${name}: (session|memory) must be a`),
      })
    })
})

describe('a call of a session or a user', () => {
  const memory = createMemory({ store: mapStore(), budget: 300, use: [...standard(), recall()] })
  const { close: _, subscribe: __, getSnapshot: ___, ...session } = memory.session({ userId: 'ada' })
  const { subscribe: ____, settled: _____, ...compaction } = session.compaction
  const calls = Object.entries({ ...session, ...memory.user({ userId: 'ada' }), compaction })
  for (const [name, part] of calls) {
    const methods = typeof part === 'function' ? { [name]: part } : part
    if (typeof methods !== 'object') continue
    for (const [method, call] of Object.entries(methods))
      if (typeof call === 'function')
        it(`rejects, and does not throw, where it is given nothing that it knows: ${name}.${method}`, async () => {
          const called: unknown = (call as (...given: unknown[]) => unknown)(null, null, null)
          expect(called).toBeInstanceOf(Promise)
          await (called as Promise<unknown>).catch(() => {})
        })
  }
})

describe('a session’s start', () => {
  it('writes nothing where there are no facts in use', async () => {
    const store = mapStore()
    const memory = createMemory({ store, budget: 300 })
    await expect(start(memory.session({ userId: 'ada' }) as never)).rejects.toMatchObject({
      code: 'ERR_NOT_CONFIGURED',
      message: 'start: add facts() to what the memory has in use',
    })
    expect(await store.scopes()).toEqual([])
  })
})

describe('a session’s checkpoint', () => {
  const open = (delay: { ms: number }) => {
    const store = mapStore()
    const slow = (scope: plimsoll.Scope) => {
      const own = store.open(scope)
      const register = async (key: string) => {
        await new Promise((resolve) => setTimeout(resolve, delay.ms))
        return own.register(key)
      }
      return new Proxy(own, {
        get: (target, name) => {
          const value = name === 'register' ? register : Reflect.get(target, name)
          return typeof value === 'function' ? value.bind(target) : value
        },
      })
    }
    const memory = createMemory({
      store: { ...store, open: slow },
      budget: 300,
      use: [checkpoint({ initial: { done: 0 }, excerptTokens: 50 })],
    })
    return memory.session({ userId: 'ada', sessionId: 'trip' })
  }

  it('is read and written in the order of the session’s calls', async () => {
    const delay = { ms: 20 }
    const session = open(delay)
    const set = session.checkpoint.set({ done: 1 })
    delay.ms = 0
    const written = session.commit({ checkpoint: { done: 2 } })
    const read = session.checkpoint.get()
    const deleted = session.checkpoint.delete()
    const updated = session.checkpoint.update(({ done }) => ({ done: done + 5 }))
    await session.append({ role: 'user', content: 'Hello.' })
    await Promise.all([set, written, deleted, updated])
    expect((await read).value).toEqual({ done: 2 })
    expect((await session.checkpoint.get()).value).toEqual({ done: 5 })
    const { blocks } = await session.context()
    expect(JSON.stringify(blocks)).toContain('done')
  })
})

describe('an export and an import without a feature', () => {
  const ada = { userId: 'ada' }
  const lived = async () => {
    const store = mapStore()
    const memory = createMemory({ store, budget: 16_000, use: standard() })
    const session = memory.session({ ...ada, sessionId: 'trip' })
    const user = memory.user(ada)
    return { store, memory, session, user }
  }
  const exportedBy = async (memory: plimsoll.Memory) => {
    let text = ''
    for await (const line of plimsoll.exportFrom(memory, ada)) text += line
    return text
  }
  const skill = { name: 'tides', description: 'Reads tide tables.', text: '' }
  const kinds: readonly (readonly [string, (lived: Lived) => Promise<unknown>])[] = [
    ['facts', ({ session }) => session.facts.remember({ kind: 'finding', text: 'The dog comes along.' })],
    ['checkpoint', ({ session }) => session.checkpoint.set({ done: 1 })],
    ['profile', ({ user }) => user.profile.set('SOUL.md', 'Kind.')],
    ['skills', ({ user }) => user.skills.set(skill)],
  ]
  type Lived = Awaited<ReturnType<typeof lived>>

  for (const [name, write] of kinds)
    it(`name the call that adds it: ${name}`, async () => {
      const there = await lived()
      await there.session.append({ role: 'user', content: 'Hello.' })
      await write(there)
      const says = `add ${name}() to what the memory has in use`
      const bare = createMemory({ store: there.store, budget: 16_000 })
      await expect(exportedBy(bare)).rejects.toMatchObject({
        code: 'ERR_NOT_CONFIGURED',
        message: expect.stringContaining(says),
      })
      const text = await exportedBy(there.memory as never)
      const { skipped } = await plimsoll.importInto(
        createMemory({ store: mapStore(), budget: 16_000 }),
        ada,
        [text],
      )
      expect(skipped.count).toBeGreaterThan(0)
      for (const { reason } of skipped.first) expect(reason).toContain(says)
    })

  it('name none where the register is of no feature of this library', async () => {
    const { store, memory } = await lived()
    const [line] = (await exportedBy(memory as never)).split('\n')
    expect(line).toContain('export')
    const other: plimsoll.Feature = {
      name: 'moods',
      registers: [
        { prefix: 'mood', part: 'profile', owners: ['user'], check: (_, __, value) => value as never },
      ],
    }
    await plimsoll.changeRegister(store.open(ada), { newId: () => 'x', now: () => 1 } as never, {
      operation: 'moods.set',
      key: 'mood',
      change: () => 'good',
    })
    expect(await exportedBy(createMemory({ store, budget: 300, use: [other] }))).toContain('good')
    await expect(exportedBy(memory as never)).rejects.toThrow(
      'exportFrom: register mood belongs to no feature in use: add the one that it belongs to',
    )
  })
})
