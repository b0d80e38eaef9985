import { type FullMemory, fullMemory } from '../contract/full-memory.ts'
import { describe, expect, it } from 'vitest'
import * as onDemand from '../../src/operations/on-demand.ts'
import { isPlimsollError, mapStore, type Scope, type Store } from '../../src/index.ts'
import { createMemory } from '../../src/create-memory.ts'
import { withDefaults } from '../../src/memory-defaults.ts'

const scope: Scope = { userId: 'ada', sessionId: 'trip' }
const budget = { contextWindow: 4_000, maxOutputTokens: 0 }

/** A memory that loads what few calls need so often as `loads` says, and cannot the first `failures` times. */
function counted(store: Store, failures = 0): { readonly memory: FullMemory; readonly loads: () => number } {
  let loads = 0
  const memory = fullMemory({
    ...withDefaults({ store, budget, retention: { log: { days: 30 } } }),
    onDemand: async () => {
      if (++loads <= failures) throw new Error('no network')
      return onDemand
    },
  })
  return { memory, loads: () => loads }
}

async function textOf(memory: FullMemory): Promise<string> {
  let text = ''
  for await (const line of exportFrom(memory, scope)) text += line
  return text
}

/** Each call that needs it. */
const seldom: { readonly [call: string]: (memory: FullMemory, message: string) => Promise<unknown> } = {
  'memory.export': (memory) => textOf(memory),
  'memory.import': (memory) =>
    importInto(memory, scope, ['{"type":"export","format":"plimsoll","v":1,"of":"session","parts":["log"]}\n']),
  'memory.erase': (memory) => eraseUser(memory, { userId: 'ada' }),
  'sessions.delete': (memory) => deleteSession(memory, { userId: 'ada' }, 'trip'),
  'session.forget': (memory, message) => forget(memory.session(scope), message),
  'session.start': (memory) => startSession(memory.session(scope)),
  'memory.runDueWork with retention': (memory) => runDueWork(memory),
}

describe('what few calls need', () => {
  it('is not loaded by a conversation with facts', async () => {
    const { memory, loads } = counted(mapStore())
    const session = memory.session(scope)
    await session.append({ role: 'user', content: 'Two seats to Turin.' })
    await session.context()
    await session.facts.remember({ kind: 'preference', text: 'A window seat.' })
    await session.history()
    await undo(session, await rewind(session, (await session.history())[0]?.id ?? ''))
    await listSessions(memory, { userId: 'ada' })
    expect(loads()).toBe(0)
  })

  it.each(Object.entries(seldom))('is loaded by %s', async (_, call) => {
    const { memory, loads } = counted(mapStore())
    const [message] = (await memory.session(scope).append({ role: 'user', content: 'One.' })).messages
    // Whatever becomes of it: the line of the import above is not a whole file.
    await call(memory, message?.id ?? '').catch(() => {})
    expect(loads()).toBe(1)
  })

  it.each(Object.entries(seldom))(
    'cannot be loaded: %s says so before anything is written, and works once it can',
    async (name, call) => {
      const store = mapStore()
      const { memory, loads } = counted(store, 1)
      const [message] = (await memory.session(scope).append({ role: 'user', content: 'One.' })).messages
      const seqs = async () =>
        Promise.all([scope, { userId: 'ada' }].map(async (one) => (await store.open(one).head()).seq))
      const before = await seqs()
      await expect(call(memory, message?.id ?? '')).rejects.toThrow('no network')
      expect(await seqs()).toEqual(before)
      const again = call(memory, message?.id ?? '')
      if (name === 'memory.import')
        await expect(again).rejects.toSatisfy((error) => isPlimsollError(error, 'ERR_INVALID_ARGUMENT'))
      else await again
      expect(loads()).toBe(2)
    },
  )

  it('is imported by the memory of plimsoll/lazy when it is needed', async () => {
    const memory = createMemory({ store: mapStore(), budget })
    await memory.session(scope).append({ role: 'user', content: 'One.' })
    expect(await textOf(memory)).toContain('One.')
    expect((await eraseUser(memory, { userId: 'ada' })).removed.messages.count).toBe(1)
  })

  it('refuses options of an export at once, before it is loaded', () => {
    const { memory, loads } = counted(mapStore())
    expect(() => exportFrom(memory, scope, { format: 'xml' as never })).toThrow(/format must be/)
    expect(loads()).toBe(0)
  })
})
