import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isPlimsollError, type Message, mapStore, type Store, versionsIn } from '../../src/index.ts'
import { readBranches, switchTo } from '../../src/operations/branches.ts'
import { forget } from '../../src/operations/forget/forget.ts'
import { editMessage, rewind, undo } from '../../src/operations/rewind.ts'
import { type FullSession, fullMemory } from '../contract/full-memory.ts'
import { changedStore } from '../everywhere/changed-store.ts'
import { limit, runs } from './support/runs.ts'

const scope = { userId: 'ada', sessionId: 'trip' }

let ids = 0

function open(store: Store = mapStore()): FullSession {
  return fullMemory({ store, budget: 16_000, clock: () => 7, newId: () => `id-${++ids}` }).session(scope)
}

const failing = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  )

const say = (id: string) => ({ id, role: 'user' as const, content: id })
const reply = (id: string) => ({ id, role: 'assistant' as const, content: id })
const shown = async (session: FullSession): Promise<readonly string[]> =>
  (await session.history({ messages: 10_000 })).map(({ id }) => id)
const versions = async (session: FullSession) =>
  versionsIn(await session.history({ messages: 10_000 }), await readBranches(session), true)

describe('editMessage', () => {
  it('says another thing in the place of a message, in one commit', async () => {
    const store = mapStore()
    const commits: number[] = []
    const session = open(
      changedStore(store, (inner) => ({
        commit: (ops, decide) => {
          commits.push(ops.length)
          return inner.commit(ops, decide)
        },
      })),
    )
    await session.append([say('u1'), reply('a1'), say('u2'), reply('a2')])
    commits.length = 0
    await editMessage(session, 'u2', say('u2b'))
    expect(commits).toEqual([2])
    expect(await shown(session)).toEqual(['u1', 'a1', 'u2b'])
    expect(await readBranches(session)).toEqual([{ after: 'a1', versions: ['u2'] }])
    expect((await versions(session)).get('u2b')).toEqual({ index: 2, count: 2, versions: ['u2', 'u2b'] })
  })

  it('hides nothing more when it is written again', async () => {
    const store = mapStore()
    const session = open(store)
    await session.append([say('u1'), reply('a1')])
    await editMessage(session, 'u1', say('u1b'))
    await session.append(reply('a1b'))
    for (const one of [session, open(store)])
      expect(await editMessage(one, 'u1', say('u1b'))).toMatchObject({ repeated: true })
    expect(await shown(session)).toEqual(['u1b', 'a1b'])
    expect(await readBranches(session)).toEqual([{ after: null, versions: ['u1'] }])
  })

  it('writes nothing where the message does not show, or what is said opens no round', async () => {
    const session = open()
    await session.append([say('u1'), reply('a1')])
    expect(await failing(editMessage(session, 'nowhere', say('x')))).toMatchObject({
      code: 'ERR_NOT_FOUND',
    })
    expect(await failing(editMessage(session, 'a1', reply('x')))).toMatchObject({
      code: 'ERR_INVALID_ARGUMENT',
      argument: 'messages',
    })
    expect(await shown(session)).toEqual(['u1', 'a1'])
  })
})

describe('branches and switchTo', () => {
  it('are none where what a rewind hid shows again, whatever is forgotten then', async () => {
    const session = open()
    await session.append([say('u1'), reply('a1'), say('u2'), reply('a2')])
    await rewind(session, 'u2')
    await undo(session)
    expect(await readBranches(session)).toEqual([])
    await forget(session, 'u2')
    expect(await shown(session)).toEqual(['u1', 'a1', 'a2'])
    expect(await versions(session)).toEqual(new Map())
  })

  it('are none where both versions show, one after the other', async () => {
    const session = open()
    await session.append([say('u1'), reply('a1'), say('u2'), reply('a2')])
    await editMessage(session, 'u2', say('u2b'))
    await rewind(session, 'u2b')
    await undo(session)
    await undo(session)
    expect(await shown(session)).toEqual(['u1', 'a1', 'u2', 'a2', 'u2b'])
    expect(await versions(session)).toEqual(new Map())
  })

  it('come back to an old version with all that followed it, and to the new one', async () => {
    const session = open()
    await session.append([say('u1'), reply('a1'), say('u2'), reply('a2'), say('u3'), reply('a3')])
    await editMessage(session, 'u2', say('u2b'))
    await session.append(reply('a2b'))
    await switchTo(session, 'u2')
    expect(await shown(session)).toEqual(['u1', 'a1', 'u2', 'a2', 'u3', 'a3'])
    await session.append([say('u4'), reply('a4')])
    await switchTo(session, 'u2b')
    expect(await shown(session)).toEqual(['u1', 'a1', 'u2b', 'a2b'])
    await switchTo(session, 'u2')
    expect(await shown(session)).toEqual(['u1', 'a1', 'u2', 'a2', 'u3', 'a3', 'u4', 'a4'])
    expect((await versions(session)).get('u2')).toEqual({ index: 1, count: 2, versions: ['u2', 'u2b'] })
  })

  it('count versions of a reply, and keep those inside of a version that is left', async () => {
    const session = open()
    await session.append([say('u1'), reply('a1')])
    for (const id of ['a2', 'a3']) {
      await rewind(session, (await shown(session)).at(-1) ?? '')
      await session.append(reply(id))
    }
    await editMessage(session, 'u1', say('v1'))
    await switchTo(session, 'u1')
    expect(await shown(session)).toEqual(['u1', 'a3'])
    await switchTo(session, 'a1')
    expect(await shown(session)).toEqual(['u1', 'a1'])
    expect(Object.fromEntries(await versions(session))).toEqual({
      u1: { index: 1, count: 2, versions: ['u1', 'v1'] },
      a1: { index: 1, count: 3, versions: ['a1', 'a2', 'a3'] },
    })
  })

  it('do nothing where the version shows, and refuse what begins none', async () => {
    const session = open()
    await session.append([say('u1'), reply('a1'), say('u2')])
    await editMessage(session, 'u2', say('u2b'))
    await editMessage(session, 'u1', say('v1'))
    await switchTo(session, 'u1')
    await switchTo(session, 'u1')
    expect(await shown(session)).toEqual(['u1', 'a1', 'u2b'])
    expect(await failing(switchTo(session, 'nowhere'))).toMatchObject({
      code: 'ERR_NOT_FOUND',
      id: 'nowhere',
    })
    await switchTo(session, 'v1')
    expect(await failing(switchTo(session, 'a1'))).toMatchObject({ code: 'ERR_NOT_FOUND', id: 'a1' })
    // What it follows does not show.
    expect(await failing(switchTo(session, 'u2'))).toMatchObject({ code: 'ERR_NOT_FOUND', id: 'a1' })
  })

  it('begin with what shows, and a result that shows nowhere begins none', async () => {
    const session = open()
    const result = { type: 'tool-result', callId: 'nobody', output: 'late' } as const
    await session.append([{ id: 't', role: 'tool', content: [result] }, say('u1'), reply('a1')])
    await editMessage(session, 'u1', say('v1'))
    await switchTo(session, 'u1')
    expect(await readBranches(session)).toEqual([{ after: null, versions: ['u1', 'v1'], shown: 'u1' }])
    await switchTo(session, 'v1')
    expect(await shown(session)).toEqual(['v1'])
    expect((await versions(session)).get('v1')).toEqual({ index: 2, count: 2, versions: ['u1', 'v1'] })
  })

  it('begin with what shows first, where a message of an older round was added last', async () => {
    const session = open()
    await session.append([say('u1'), say('u2')])
    await session.append(reply('a1'), { round: 'u1' })
    await forget(session, 'u1')
    await rewind(session, 'a1')
    await session.append(say('v1'))
    await switchTo(session, 'a1')
    await switchTo(session, 'v1')
    await switchTo(session, 'a1')
    expect(await shown(session)).toEqual(['a1', 'u2'])
    expect(await readBranches(session)).toEqual([{ after: null, versions: ['a1', 'v1'], shown: 'a1' }])
  })

  it('stay as many where what began the one that came back is forgotten', async () => {
    const session = open()
    await session.append([say('u1'), reply('a1')])
    await editMessage(session, 'u1', say('v1'))
    await session.append(reply('b1'))
    await switchTo(session, 'u1')
    await switchTo(session, 'v1')
    await forget(session, 'v1')
    expect(await shown(session)).toEqual(['b1'])
    const second = { index: 2, count: 2, versions: ['u1', 'v1'] }
    expect((await versions(session)).get('b1')).toEqual(second)
    await switchTo(session, 'u1')
    expect(await shown(session)).toEqual(['u1', 'a1'])
    expect((await versions(session)).get('u1')).toEqual({ ...second, index: 1 })
    await switchTo(session, 'v1')
    expect(await shown(session)).toEqual(['b1'])
    await session.append([say('v2'), reply('b2')])
    await forget(session, 'b1')
    await editMessage(session, 'v2', say('w1'))
    expect((await versions(session)).get('w1')).toEqual({ index: 2, count: 3, versions: ['u1', 'v1', 'v2'] })
    await switchTo(session, 'v2')
    expect(await shown(session)).toEqual(['v2', 'b2'])
    await switchTo(session, 'v1')
    expect(await shown(session)).toEqual(['w1'])
  })

  it('do not count one of which nothing is left, once another one shows', async () => {
    const session = open()
    await session.append([say('u1'), reply('a1')])
    await editMessage(session, 'u1', say('u2'))
    await editMessage(session, 'u2', say('u3'))
    await switchTo(session, 'u2')
    await forget(session, 'u2')
    expect(await shown(session)).toEqual([])
    await switchTo(session, 'u3')
    expect((await versions(session)).get('u3')).toEqual({ index: 2, count: 2, versions: ['u1', 'u3'] })
    await switchTo(session, 'u1')
    expect((await versions(session)).get('u1')).toEqual({ index: 1, count: 2, versions: ['u1', 'u3'] })
  })

  it('do once what is asked for twice under one op id', async () => {
    const session = open()
    await session.append([say('u1'), reply('a1')])
    await editMessage(session, 'u1', say('v1'))
    await switchTo(session, 'u1', { opId: 'back' })
    await switchTo(session, 'v1', { opId: 'forth' })
    await switchTo(session, 'u1', { opId: 'back' })
    expect(await shown(session)).toEqual(['v1'])
  })

  it('switch in one commit: one that fails leaves what showed', async () => {
    const store = mapStore()
    const session = open(store)
    await session.append([say('u1'), reply('a1')])
    await editMessage(session, 'u1', say('v1'))
    const scopeStore = store.open(scope)
    const before = (await scopeStore.head()).seq
    await switchTo(session, 'u1')
    const after = (await scopeStore.head()).seq
    expect(after - before).toBe(2)
    // Each op has a number, and the commit wrote both or neither: see contract/commits for what a
    // crash leaves.
    expect(await shown(open(store))).toEqual(['u1', 'a1'])
  })

  it('read no message, however long the session', async () => {
    const store = mapStore()
    const session = open(store)
    await session.append(Array.from({ length: 600 }, (_, index) => say(`m${index}`)))
    await editMessage(session, 'm599', say('n'))
    let rows = 0
    const counted = open(
      changedStore(store, (inner) => ({
        entries: async (query) => {
          const page = await inner.entries(query)
          rows += page.rows.length
          return page
        },
      })),
    )
    expect(await readBranches(counted)).toEqual([{ after: 'm598', versions: ['m599'] }])
    expect(rows).toBe(1)
  })
})

describe('versions, in any order of edits, replies and switches', () => {
  type Step = { readonly does: 'say' | 'edit' | 'again' | 'switch' | 'reopen'; readonly at: number }
  const step: fc.Arbitrary<Step> = fc.record({
    does: fc.constantFrom('say', 'edit', 'again', 'switch', 'switch', 'reopen'),
    at: fc.nat(30),
  })

  it('switch forth and back to the same messages and contexts, and lose nothing', {
    timeout: limit(60_000),
  }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
        const store = mapStore()
        let session = open(store)
        const written: string[] = []
        const write = async (
          message: { id: string; role: 'user' | 'assistant'; content: string },
          replaces?: string,
        ) => {
          written.push(message.id)
          await (replaces === undefined ? session.append(message) : editMessage(session, replaces, message))
        }
        await write(say('u'))
        await write(reply('a'))
        for (const [index, { does, at }] of steps.entries()) {
          const messages = await session.history({ messages: 1000 })
          const pick = (some: readonly Message[]): string | undefined =>
            some[at % Math.max(1, some.length)]?.id
          const asked = pick(messages.filter(({ role }) => role === 'user'))
          const answered = pick(messages.filter(({ role }) => role === 'assistant'))
          if (does === 'say') {
            await write(say(`u${index}`))
            await write(reply(`a${index}`))
          } else if (does === 'edit' && asked !== undefined) {
            await write(say(`e${index}`), asked)
            await write(reply(`f${index}`))
          } else if (does === 'again' && answered !== undefined) {
            const round = messages[messages.findIndex(({ id }) => id === answered) - 1]?.id ?? ''
            await rewind(session, answered)
            written.push(`r${index}`)
            const opener = messages.findLast(({ role, id }) => role === 'user' && id === round)
            await session.append(reply(`r${index}`), opener ? { round: opener.id } : {})
          } else if (does === 'switch') await forthAndBack(session, at)
          else session = open(store)
        }
        // Every message that was ever written shows in some version.
        const seen = new Set<string>()
        await walk(session, seen)
        expect([...seen].sort()).toEqual(written.sort())
      }),
      runs(60),
    )
  })
})

const contextOf = async (session: FullSession): Promise<string> =>
  JSON.stringify(
    (await session.context({ preview: true })).blocks.map(({ role, parts, from }) => [role, parts, from]),
  )

async function forthAndBack(session: FullSession, at: number): Promise<void> {
  const before = await shown(session)
  const context = await contextOf(session)
  const all = [...(await versions(session))]
  const [id, version] = all[at % Math.max(1, all.length)] ?? []
  if (id === undefined || version === undefined) return
  const other = version.versions[at % version.count] ?? id
  await switchTo(session, other)
  expect((await versions(session)).get(other)).toEqual({
    ...version,
    index: version.versions.indexOf(other) + 1,
  })
  const there = await shown(session)
  expect(there.slice(0, before.indexOf(id))).toEqual(before.slice(0, before.indexOf(id)))
  await switchTo(session, id)
  expect(await shown(session)).toEqual(before)
  expect(await contextOf(session)).toBe(context)
}

/** Goes through all versions, place by place. */
async function walk(session: FullSession, seen: Set<string>, from = 0): Promise<void> {
  const messages = await shown(session)
  for (const id of messages) seen.add(id)
  const all = await versions(session)
  for (const [place, id] of messages.entries()) {
    const version = all.get(id)
    if (place < from || !version) continue
    for (const other of version.versions) {
      if (other === id) continue
      await switchTo(session, other).catch((error) => {
        if (!isPlimsollError(error, 'ERR_NOT_FOUND')) throw error
      })
      await walk(session, seen, place + 1)
      await switchTo(session, id)
    }
  }
}
