import { describe, expect, it } from 'vitest'
import { checkpoint, compaction, createMemory, facts, mapStore, type Store } from '../../../src/index.ts'
import { SECRET } from '../../../src/kernel/context/secret.ts'
import { contextAt } from '../../../src/operations/context-at.ts'
import { deleteSession } from '../../../src/operations/delete-session.ts'
import { forget } from '../../../src/operations/forget/forget.ts'
import { editMessage, rewind } from '../../../src/operations/rewind.ts'
import { exportFrom } from '../../../src/operations/transfer/export.ts'
import { importInto } from '../../../src/operations/transfer/import.ts'
import { hashText } from '../../../src/text/hash.ts'

const SCOPE = { userId: 'ada', sessionId: 'trip' }

const memoryOver = (store: Store) =>
  createMemory({
    store,
    budget: 16_000,
    system: 'You are.',
    use: [facts(), checkpoint({ initial: { step: 0 } }), compaction({})],
  })
const open = (store: Store = mapStore()) => memoryOver(store).session(SCOPE)
type Opened = ReturnType<typeof open>

const say = (session: Opened, id: string, content = `I am ${id}.`) =>
  session.append({ id, role: id.startsWith('m') ? 'user' : 'assistant', content })

/** Three rounds, with a context in each. */
async function talk(session: Opened) {
  const hashes: { [id: string]: string } = {}
  for (const number of [1, 2, 3]) {
    await say(session, `m${number}`)
    hashes[`m${number}`] = (await session.context()).hash
    await say(session, `a${number}`)
  }
  return hashes
}

async function attested(session: Opened, ids: readonly string[]) {
  const found: { [id: string]: string | true } = {}
  for (const id of ids) {
    const { verified, reason } = await contextAt(session, id)
    found[id] = verified || (reason ?? '')
  }
  return found
}

const contextsIn = async (store: Store) =>
  (await store.open(SCOPE).entries()).rows.flatMap(({ id, contexts }) =>
    contexts ? [[id, ...contexts]] : [],
  )

/** As a context without a tail is recorded. */
async function marks(store: Store): Promise<(hash?: string) => string> {
  const secret = await store.open(SCOPE).register(SECRET)
  return (hash = '') => hashText(hash, JSON.parse(secret?.body ?? ''))
}

describe('a past context', () => {
  it('is attested where the next message records its hash, in any session object', async () => {
    const store = mapStore()
    const hashes = await talk(open(store))
    for (const session of [open(store), open(store)])
      for (const [id, hash] of Object.entries(hashes)) {
        const past = await contextAt(session, id)
        expect(past).toMatchObject({ verified: true, context: { hash } })
        expect(past.reason).toBeUndefined()
      }
    const marked = await marks(store)
    expect(await contextsIn(store)).toEqual([
      ['a1', marked(hashes.m1)],
      ['a2', marked(hashes.m2)],
      ['a3', marked(hashes.m3)],
    ])
  })

  it('is recorded with the message, by no commit of its own', async () => {
    const store = mapStore()
    const session = open(store)
    await say(session, 'm1')
    await session.context()
    const { seq } = await store.open(SCOPE).head()
    const { hash } = await session.context()
    expect((await store.open(SCOPE).head()).seq).toBe(seq)
    await say(session, 'a1')
    expect((await store.open(SCOPE).head()).seq).toBe(seq + 1)
    await say(session, 'm2')
    expect(await contextsIn(store)).toEqual([['a1', (await marks(store))(hash)]])
  })

  it('is one of the last four of which a message records the hashes', async () => {
    const store = mapStore()
    const session = open(store)
    await talk(session)
    await say(session, 'm4')
    const hashes: string[] = []
    for (let messages = 1; messages <= 5; messages++)
      hashes.push((await session.context({ limits: { window: { messages } } })).hash)
    await say(session, 'a4')
    expect((await contextsIn(store)).at(-1)).toEqual([
      'a4',
      ...[...new Set(hashes.slice(1))].map(await marks(store)),
    ])
  })

  it('is attested though what came before it was said once more in between', async () => {
    const session = open(mapStore())
    await say(session, 'm1')
    await session.context()
    expect((await say(session, 'm1')).repeated).toBe(true)
    await say(session, 'a1')
    expect(await attested(session, ['m1'])).toEqual({ m1: true })
  })

  it('is attested without its tail', async () => {
    const session = open()
    await say(session, 'm1')
    await session.context({ tail: 'It is Monday.' })
    await say(session, 'a1', 'It is.')
    await session.context({ tail: 'It is Tuesday.' })
    await say(session, 'm2')
    expect(await attested(session, ['m1', 'a1'])).toEqual({ m1: true, a1: true })
    const { context } = await contextAt(session, 'm1')
    expect(JSON.stringify(context.blocks)).not.toContain('Monday')
  })

  it('is unrecorded where nothing followed it, or another session object said what did', async () => {
    const store = mapStore()
    const [session, other] = [open(store), open(store)]
    await say(session, 'm1')
    await session.context()
    expect(await attested(session, ['m1'])).toEqual({ m1: 'unrecorded' })
    await say(other, 'a1')
    expect(await attested(session, ['m1'])).toEqual({ m1: 'unrecorded' })
    // The session object that handed it out says something later.
    await say(session, 'm2')
    expect(await attested(session, ['m1', 'a1'])).toEqual({ m1: 'unrecorded', a1: 'different' })
  })

  it('is not attested by a preview, nor by what another lane was given', async () => {
    const session = open()
    await say(session, 'm1')
    await session.context()
    await say(session, 'a1')
    await say(session, 'm2')
    await session.context({ preview: true })
    await say(session, 'a2')
    await say(session, 'm3')
    await session.context({ limits: { window: { messages: 1 } } })
    await say(session, 'a3')
    expect(await attested(session, ['m1', 'm2', 'm3'])).toEqual({
      m1: true,
      m2: 'unrecorded',
      m3: 'different',
    })
  })

  it('is attested beside one of another lane that was handed out at the same time', async () => {
    const session = open()
    await say(session, 'm1')
    const { hash } = await session.context()
    for (let messages = 1; messages <= 3; messages++)
      await session.context({ limits: { window: { messages } } })
    await say(session, 'a1')
    expect(await contextAt(session, 'm1')).toMatchObject({ verified: true, context: { hash } })
  })

  it('is attested as it was before an edit or a rewind that followed', async () => {
    const session = open()
    await talk(session)
    await say(session, 'm4')
    await session.context()
    await editMessage(session, 'm4', { id: 'm5', role: 'user', content: 'Something else.' })
    await session.context()
    await rewind(session, 'm5')
    await say(session, 'm6')
    expect(await attested(session, ['m1', 'm4', 'm5'])).toEqual({ m1: true, m4: true, m5: true })
  })

  it('is recorded once more where the message that should have was refused', async () => {
    const session = open()
    await say(session, 'm1')
    await session.context()
    await expect(say(session, 'm1')).resolves.toMatchObject({ repeated: true })
    await say(session, 'm2')
    await session.context()
    await expect(
      session.append({ id: 'm1', role: 'user', content: 'x' }, { opId: 'other' }),
    ).rejects.toThrow()
    await say(session, 'm3')
    expect(await attested(session, ['m2'])).toEqual({ m2: true })
  })

  it('is attested though something was added to it late', async () => {
    const session = open()
    await say(session, 'm1')
    await session.context()
    await session.append({ id: 'late', role: 'assistant', content: 'Late.' }, { round: 'm1' })
    await say(session, 'm2')
    const { context, verified } = await contextAt(session, 'm1')
    expect([verified, context.blocks.flatMap(({ from }) => from)]).toEqual([true, ['m1']])
  })
})

describe('forgetting', () => {
  it('takes the hashes of all contexts that may have held the message, and all that could check others', async () => {
    const store = mapStore()
    const session = open(store)
    const { m1, m3 } = await talk(session)
    const marked = await marks(store)
    await forget(session, 'm2')
    expect(await contextsIn(store)).toEqual([['a1', marked(m1)], ['a2'], ['a3']])
    expect(JSON.stringify(await store.open(SCOPE).changesSince(0))).not.toContain(marked(m3))
    for (const one of [session, open(store)])
      expect(await attested(one, ['m1', 'm3'])).toEqual({ m1: 'forgotten', m3: 'forgotten' })
    // What comes after it is attested again.
    await say(session, 'm4')
    await session.context()
    await say(session, 'a4')
    expect(await attested(session, ['m1', 'm3', 'm4'])).toEqual({
      m1: 'forgotten',
      m3: 'forgotten',
      m4: true,
    })
  })

  it('of a fact takes all of them', async () => {
    const store = mapStore()
    const session = open(store)
    const { fact } = await session.facts.remember({ kind: 'finding', text: 'The door is open.' })
    await talk(session)
    await forget(session, fact.id)
    expect(await contextsIn(store)).toEqual([['a1'], ['a2'], ['a3']])
    expect(await attested(session, ['m1', 'm2', 'm3'])).toEqual({
      m1: 'forgotten',
      m2: 'forgotten',
      m3: 'forgotten',
    })
  })

  it('by another session object leaves no hash of a context that was handed out before', async () => {
    const store = mapStore()
    const [session, other] = [open(store), open(store)]
    await talk(session)
    await say(session, 'm4')
    const { hash } = await session.context()
    await forget(other, 'm4')
    await say(session, 'a4')
    expect(JSON.stringify(await store.open(SCOPE).changesSince(0))).not.toContain(hash)
    expect(await attested(session, ['m1', 'm4'])).toEqual({ m1: 'forgotten', m4: 'forgotten' })
  })

  it('a session leaves none', async () => {
    const store = mapStore()
    const memory = memoryOver(store)
    const session = memory.session(SCOPE)
    await say(session, 'm1')
    const { hash } = await session.context()
    await deleteSession(memory, { userId: 'ada' }, 'trip')
    await say(session, 'm2')
    expect(JSON.stringify(await store.open(SCOPE).changesSince(0))).not.toContain(hash)
  })
})

describe('an import', () => {
  it('of a session attests nothing that was handed out elsewhere', async () => {
    const [store, target] = [mapStore(), mapStore()]
    await talk(open(store))
    const lines: string[] = []
    for await (const line of exportFrom(memoryOver(store), SCOPE)) lines.push(line)
    await importInto(memoryOver(target), SCOPE, lines, { trust: 'user' })
    const copy = open(target)
    expect(await attested(copy, ['m1', 'm2'])).toEqual({ m1: 'unrecorded', m2: 'unrecorded' })
    const { context } = await contextAt(copy, 'm1')
    expect(context.blocks).toEqual((await contextAt(open(store), 'm1')).context.blocks)
  })
})
