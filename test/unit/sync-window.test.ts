import { describe, expect, it } from 'vitest'
import { lawChecker } from '../../src/assert-laws.ts'
import { charsPerToken, exportFrom, forget, type Message, mapStore, type Store } from '../../src/index.ts'
import { type FullMemoryOptions, fullMemory } from '../contract/full-memory.ts'
import { summariser } from './support/compacting.ts'
import { Replica, SyncHome } from './support/replicas.ts'

const SCOPE = { userId: 'ada', sessionId: 'trip' }

type Options = Partial<Omit<FullMemoryOptions, 'store'>>

/** A memory over the store of one place, whose ids and secrets are its own. */
function memoryAt(name: string, store: Store, options: Options = {}) {
  let ids = 0
  let secrets = 0
  return fullMemory({
    budget: 400,
    counter: charsPerToken(4),
    clock: () => 0,
    laws: lawChecker,
    recall: {},
    newId: () => `${name}-${++ids}`,
    newSecret: () => `${name.charCodeAt(0).toString(16)}${String(++secrets).padStart(62, '0')}`,
    ...options,
    compaction: { ahead: false, model: summariser(() => 'They planned a trip.'), ...options.compaction },
    store,
  })
}

/** Two devices and their home, with a memory at each of them. */
function places(options: Options = {}) {
  const home = new SyncHome(mapStore())
  const device = (name: string) => {
    const inner = mapStore()
    const replica = new Replica(inner, home)
    const memory = memoryAt(name, replica.store, options)
    const session = memory.session(SCOPE)
    return { inner, memory, session, sync: () => replica.sync(), waiting: () => replica.waiting() }
  }
  const atHome = memoryAt('h', home.store, options)
  const [a, b] = [device('a'), device('b')]
  const sync = async (): Promise<void> => {
    for (const one of [a, b, a]) await one.sync()
  }
  return { a, b, home: { inner: home.raw, memory: atHome, session: atHome.session(SCOPE) }, sync }
}

const say = (content: string) => ({ role: 'user', content }) as const
const answer = (content: string) => ({ role: 'assistant', content }) as const

describe('two devices and the home of one session', () => {
  it('build one context, whose epoch is that of who was first', async () => {
    const { a, b, home, sync } = places()
    await a.session.append(say('One.'))
    const first = await a.session.context()
    await b.session.append(say('Two.'))
    await b.session.context()
    await sync()
    const context = await a.session.context()
    expect(context.epoch).toBe(first.epoch)
    expect(context.blocks.map(({ parts }) => parts)).toEqual(
      ['One.', 'Two.'].map((text) => [{ type: 'text', text }]),
    )
    expect(await b.session.context()).toEqual(context)
    expect(await home.session.context()).toEqual(context)
  })

  it('keep the secret of the first epoch, which travels with its mark', async () => {
    const { a, b, home, sync } = places()
    await a.session.append(say('One.'))
    await a.session.context()
    await sync()
    const { body } = (await a.inner.open(SCOPE).register('secret')) ?? {}
    expect(body).toContain('61')
    for (const { inner } of [b, home]) expect((await inner.open(SCOPE).register('secret'))?.body).toBe(body)
    expect(await a.waiting()).toEqual([])
  })

  it('begin an epoch of cause sync where rows came before what the one that waits began with', async () => {
    const { a, b, home, sync } = places()
    await a.session.append(say('One.'))
    await sync()
    await b.session.append(say('Two.'))
    await b.sync()
    await a.session.append(say('Three.'))
    const { epoch } = await a.session.context()
    await sync()
    const again = await b.session.context()
    expect(again.receipt.epoch).toMatchObject({ cause: 'sync', place: 2 })
    expect(again.epoch).not.toBe(epoch)
    expect(again.blocks.map(({ parts }) => parts)).toEqual(
      ['One.', 'Two.', 'Three.'].map((text) => [{ type: 'text', text }]),
    )
    expect(await a.session.context()).toEqual(again)
    await sync()
    expect(await a.session.context()).toEqual(again)
    expect(await home.session.context()).toEqual(again)
  })

  it('go on with an epoch where rows came after what it began with', async () => {
    const { a, b, home, sync } = places()
    await a.session.append(say('One.'))
    const { epoch } = await a.session.context()
    await sync()
    await b.session.append(say('Two.'))
    await b.sync()
    await a.session.append(say('Three.'))
    await a.session.context()
    await sync()
    const context = await a.session.context()
    expect(context.epoch).toBe(epoch)
    expect(context.blocks.length).toBe(3)
    expect(await b.session.context()).toEqual(context)
    expect(await home.session.context()).toEqual(context)
  })

  it('tell a user interface that rows changed places, though none came at the end', async () => {
    const { a, b } = places()
    await a.session.append(say('Mine.'))
    const told: (readonly unknown[])[] = []
    const end = a.session.subscribe(() => {
      told.push(a.session.getSnapshot().messages.map(({ content }) => content))
    })
    await a.session.history()
    await b.session.append(say('Theirs.'))
    await b.sync()
    await a.sync()
    await a.session.context()
    end()
    expect(told.at(-1)).toEqual(['Theirs.', 'Mine.'])
  })

  it('show the news of facts of the other that came before facts of an epoch that waited', async () => {
    const { a, b, home, sync } = places({ budget: 4_000 })
    await a.session.append(say('One.'))
    await a.session.facts.remember({ kind: 'preference', text: 'Likes tea.' })
    await a.session.facts.remember({ kind: 'preference', text: 'Likes trains.' })
    await sync()
    for (const text of ['A seat by the window.', 'No flights.', 'A quiet hotel.'])
      await a.session.facts.remember({ kind: 'preference', text })
    const user = a.memory.user({ userId: 'ada' })
    await user.facts.remember({ kind: 'preference', text: 'Speaks Hindi.' })
    const { epoch } = await a.session.context()
    await b.session.facts.remember({ kind: 'preference', text: 'Likes museums.' })
    await b.memory.user({ userId: 'ada' }).facts.remember({ kind: 'preference', text: 'Lives in Pune.' })
    await b.sync()
    await sync()
    const context = await a.session.context()
    expect(context.epoch).toBe(epoch)
    const tail = JSON.stringify(context.blocks.filter(({ section }) => section === 'tail'))
    for (const text of ['Likes museums.', 'Lives in Pune.']) expect(tail).toContain(text)
    for (const text of ['Likes tea.', 'No flights.', 'Speaks Hindi.']) expect(tail).not.toContain(text)
    expect(await b.session.context()).toEqual(context)
    expect(await home.session.context()).toEqual(context)
  })

  it('say of each message that shows whether its home has it, and tell when that changes', async () => {
    const { a, b, home, sync } = places()
    const call = { type: 'tool-call', id: 'c1', name: 'find', input: {} } as const
    const result = { type: 'tool-result', callId: 'c1', output: 'nothing' } as const
    await a.session.append(say('One.'))
    await sync()
    await a.session.append([
      { role: 'assistant', content: [call] },
      { role: 'tool', content: [result] },
    ])
    const told: unknown[] = []
    const end = a.session.subscribe(() => {
      told.push(a.session.getSnapshot().messages.map(({ delivery }) => delivery))
    })
    const deliveries = async (of = a) => (await of.session.history()).map(({ delivery }) => delivery)
    expect(await deliveries()).toEqual(['sent', 'local', 'local'])
    const before = await a.session.context()
    await sync()
    expect(await deliveries()).toEqual(['sent', 'sent', 'sent'])
    expect(told.at(0)).toEqual(['sent', 'local', 'local'])
    expect(told.at(-1)).toEqual(['sent', 'sent', 'sent'])
    end()
    expect(await a.session.context()).toEqual(before)
    expect(await deliveries(b)).toEqual(['sent', 'sent', 'sent'])
    expect((await home.session.history()).some((message) => 'delivery' in message)).toBe(false)
    for await (const line of exportFrom(a.memory, SCOPE)) expect(line).not.toContain('delivery')
    await a.session.append(say('Two.'))
    const shown = await a.session.history({ messages: 1 })
    expect(shown).toMatchObject([{ delivery: 'local' }])
    const copy = await b.session.append({ ...(shown[0] as Message), id: 'copy' })
    expect(copy.messages[0]).not.toHaveProperty('delivery')
  })

  it('find by recall what came before rows that wait', async () => {
    const { a, b, sync } = places()
    await a.session.append(say('A seat by the window.'))
    const found = async (word: string) => (await a.session.recall.find(word))[0]?.text
    expect(await found('window')).toBe('A seat by the window.')
    await b.session.append(say('A museum of porcelain.'))
    await b.sync()
    await sync()
    expect(await found('porcelain')).toBe('A museum of porcelain.')
    expect(await found('window')).toBe('A seat by the window.')
  })

  it('show the same after both summed up, remembered and deleted without the other', async () => {
    const { a, b, home, sync } = places()
    for (const [index, device] of [a, b, a, b].entries()) {
      for (let round = 0; round < 8; round++) {
        await device.session.append(say(`Question ${index} ${round}: ${'which train to take '.repeat(3)}`))
        await device.session.append(answer(`Answer ${index} ${round}: ${'the one at nine '.repeat(3)}`))
        await device.session.context()
      }
      await device.session.facts.remember({ kind: 'preference', text: `A seat of kind ${index}.` })
      const [first] = await device.session.history({ messages: 4 })
      if (first && index > 1) await forget(device.session, first.id)
      if (index % 2 === 1) await sync()
    }
    await sync()
    await sync()
    for (const device of [a, b])
      expect((await device.waiting()).filter(({ refusal }) => refusal === undefined)).toEqual([])
    const context = await a.session.context()
    await sync()
    expect(await b.session.context()).toEqual(context)
    expect(await home.session.context()).toEqual(context)
    expect(context.receipt.summary).toBeDefined()
  })
})
