import { describe, expect, it } from 'vitest'
import { Identity } from '../../../src/chat/homes/identity.ts'
import { moveLocal, type Place } from '../../../src/chat/homes/move-local.ts'
import { memoryStorage } from '../../../src/chat/homes/platform.ts'
import type { Chat } from '../../../src/chat/open-chat.ts'
import type { ChatStorage } from '../../../src/chat/settings.ts'
import { mapStore } from '../../../src/index.ts'
import { readBranches } from '../../../src/operations/branches.ts'
import { editMessage } from '../../../src/operations/rewind.ts'
import { listSessions, titleSession } from '../../../src/operations/sessions.ts'
import { fullMemory } from '../../contract/full-memory.ts'
import { FailingStore } from '../support/failing-store.ts'
import { idle, said, talked, until } from './states.ts'
import { allTexts, type Browser, browser } from './support.ts'

const model = (): string => 'Noted.'

const titles = async (chat: Chat): Promise<readonly string[]> =>
  (await chat.sessions.search('')).map(({ title }) => title).sort()

const IDENTITY = 'plimsoll-chat/identity'

/** A browser whose page ended once the move to Ada was noted, and before anything was moved. */
async function leftAtSignIn(): Promise<Browser> {
  const device = browser()
  const chat = device.open({ model })
  await talked(chat, 'I am a guest')
  await chat.close()
  const { storage } = device.platform
  const kept = JSON.parse(storage?.getItem(IDENTITY) ?? '')
  storage?.setItem(IDENTITY, JSON.stringify({ ...kept, moving: { from: kept.guestId, to: 'ada' } }))
  return device
}

describe('a guest', () => {
  it('knows when the edge erases what it has, from the token that the edge gave', async () => {
    const token = `e30.${btoa(JSON.stringify({ sub: 'guest_g', exp: 1_800_000_000 }))}.x`
    const identity = new Identity({ storage: memoryStorage(), newId: () => 'one' }, 'test', () => {})
    expect(identity.guestEnd).toBe(undefined)
    identity.guestToken = token
    expect(identity.guestEnd).toBe(1_800_000_000_000)
    identity.guestToken = 'opaque'
    expect(identity.guestEnd).toBe(undefined)
    identity.guestToken = token
    identity.subject = 'ada'
    expect(identity.guestEnd).toBe(undefined)
  })

  it('is the same after a reload', async () => {
    const device = browser()
    const chat = device.open({ model })
    await talked(chat, 'Hello')
    await chat.close()
    const again = device.open({ model })
    expect(await titles(again)).toEqual(['Hello'])
    await again.close()
  })

  it('who signs in takes the sessions along, once, and what shows stays', async () => {
    const device = browser()
    const chat = device.open({ model })
    const id = await talked(chat, 'I am a guest')
    await chat.identify({ userId: 'ada' })
    const state = await until(chat, idle)
    expect(state.session?.sessionId).toBe(id)
    expect(said(state)).toEqual(['user: I am a guest', 'assistant: Noted.'])
    await chat.identify({ userId: 'ada' })
    expect(await titles(chat)).toEqual(['I am a guest'])
    await chat.close()
    const again = device.open({ model })
    expect(await titles(again)).toEqual(['I am a guest'])
    // Nothing of the guest's own is left.
    expect((await device.factory.databases()).map(({ name }) => name)).toEqual(['plimsoll-chat/ada'])
    await again.close()
  })

  it('adds to what the user has already', async () => {
    const device = browser()
    const chat = device.open({ model })
    await chat.identify({ userId: 'ada' })
    await talked(chat, 'As Ada')
    await chat.signOut()
    expect(await titles(chat)).toEqual([])
    await talked(chat, 'As a guest')
    await chat.identify({ userId: 'ada' })
    expect(await titles(chat)).toEqual(['As Ada', 'As a guest'])
    await chat.close()
  })

  it('is not another user’s: who is signed in signs out first', async () => {
    const chat = browser().open({ model })
    await chat.identify({ userId: 'ada' })
    await expect(chat.identify({ userId: 'bob' })).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
    await chat.close()
  })
})

describe('the move of a guest’s sessions', () => {
  const fill = async ({ memory, userId }: Place): Promise<void> => {
    for (const sessionId of ['one', 'two']) {
      const session = memory.session({ userId, sessionId })
      await session.append([
        { id: `${sessionId}-u`, role: 'user', content: `Hello from ${sessionId}` },
        { id: `${sessionId}-a`, role: 'assistant', content: 'Hello.' },
      ])
      const edited = { id: `${sessionId}-v`, role: 'user', content: 'Edited' } as const
      await editMessage(session, `${sessionId}-u`, edited)
      await titleSession(memory, { userId }, sessionId, sessionId)
    }
    await memory
      .user({ userId })
      .facts.remember({ kind: 'preference', text: 'I prefer window seats.', trust: 'user' })
    await memory.user({ userId }).profile.set('MEMORY.md', 'Travels light.')
  }
  const told = async ({ memory, userId }: Place): Promise<unknown> => {
    const sessions = await listSessions(memory, { userId })
    const logs = []
    for (const { sessionId } of sessions) {
      const session = memory.session({ userId, sessionId })
      logs.push(await session.history(), await readBranches(session))
    }
    const user = memory.user({ userId })
    return [
      sessions,
      logs,
      (await user.facts.list()).map(({ text, trust }) => [text, trust]),
      await user.profile.list(),
    ]
  }
  const memoryOf = (store: ReturnType<typeof mapStore>) =>
    fullMemory({ store, budget: 16_000, clock: () => 7 })

  it('is finished by the same call after a crash anywhere, and nothing is lost or there twice', async () => {
    const plain = { memory: memoryOf(mapStore()), userId: 'guest' }
    await fill(plain)
    const expected = JSON.stringify(await told(plain), (key, value) =>
      key === 'version' ? undefined : value,
    )
    let at = 1
    for (; ; at++) {
      const [source, target] = [mapStore(), mapStore()]
      await fill({ memory: memoryOf(source), userId: 'guest' })
      const ends = { at, when: at % 2 === 0 ? 'before' : 'after', isEnd: true } as const
      const failing = [new FailingStore(source, ends), new FailingStore(target, ends)] as const
      const progress = {
        isCopied: false,
        onCopied() {
          this.isCopied = true
        },
      }
      const crashed = await moveLocal(
        { memory: memoryOf(failing[0].store), userId: 'guest' },
        { memory: memoryOf(failing[1].store), userId: 'ada' },
        progress,
      ).then(
        () => false,
        () => true,
      )
      if (!crashed && failing.every(({ calls }) => calls < at)) break
      // Until the copy is whole, all of it is where it was.
      const from = { memory: memoryOf(source), userId: 'guest' }
      const to = { memory: memoryOf(target), userId: 'ada' }
      await moveLocal(from, to, progress)
      const moved = JSON.stringify(await told(to), (key, value) => (key === 'version' ? undefined : value))
      expect({ at, moved }).toEqual({ at, moved: expected })
      expect(await listSessions(from.memory, { userId: 'guest' })).toEqual([])
    }
    expect(at).toBeGreaterThan(20)
  }, 60_000)

  it('erases nothing where a session is at both places and is not the same', async () => {
    const [from, to] = [
      { memory: memoryOf(mapStore()), userId: 'guest' },
      { memory: memoryOf(mapStore()), userId: 'ada' },
    ]
    for (const { memory, userId } of [from, to])
      await memory.session({ userId, sessionId: 'trip' }).append({ role: 'user', content: `I am ${userId}` })
    await expect(moveLocal(from, to, { isCopied: false, onCopied() {} })).rejects.toMatchObject({
      code: 'ERR_CONFLICT',
    })
    const left = await from.memory.session({ userId: 'guest', sessionId: 'trip' }).history()
    expect(left.map(({ content }) => content)).toEqual(['I am guest'])
  })

  it('is made by one page, while another one that finds it waits', async () => {
    const device = browser()
    const storage = device.platform.storage as ChatStorage
    const [chat, other] = [device.open({ model }), device.open({ model })]
    for (const text of ['First', 'Second', 'Third']) await talked(chat, text)
    const { setItem } = storage
    let opened: Promise<void> | undefined
    storage.setItem = (key, value) => {
      setItem(key, value)
      if (value.includes('moving')) opened ??= other.conversation.open('none', { home: 'local' })
    }
    await chat.identify({ userId: 'ada' })
    await opened
    expect(other.conversation.getSnapshot().problem).toBeUndefined()
    for (const each of [chat, other]) expect(await titles(each)).toEqual(['First', 'Second', 'Third'])
    await Promise.all([chat.close(), other.close()])
  })

  it('that a crash interrupted is finished when the page is opened again', async () => {
    const device = await leftAtSignIn()
    const again = device.open({ model })
    expect(await titles(again)).toEqual(['I am a guest'])
    expect(JSON.parse(device.platform.storage?.getItem(IDENTITY) ?? '')).toMatchObject({ userId: 'ada' })
    expect((await device.factory.databases()).map(({ name }) => name)).toEqual(['plimsoll-chat/ada'])
    await again.close()
  })
})

it('a sign-in ends what an earlier page left though this one is about to', async () => {
  const again = (await leftAtSignIn()).open({ model })
  const listed = again.sessions.search('')
  await again.identify({ userId: 'ada' })
  await listed
  expect(await titles(again)).toEqual(['I am a guest'])
  await again.close()
})

describe('signing out', () => {
  it('with erase leaves nothing readable in this browser', async () => {
    const device = browser()
    const chat = device.open({ model })
    await talked(chat, 'My secret is SWORDFISH')
    await chat.identify({ userId: 'ada-lovelace' })
    await talked(chat, 'SWORDFISH again')
    expect(await allTexts(device)).toContain('SWORDFISH')
    await chat.signOut({ erase: true })
    const left = await allTexts(device)
    expect(left).not.toContain('SWORDFISH')
    expect(left).not.toContain('ada-lovelace')
    expect(chat.conversation.getSnapshot()).toMatchObject({ session: undefined, messages: [] })
    expect(await titles(chat)).toEqual([])
    await chat.close()
  })

  it('with erase deletes the user’s database though another tab shows it', async () => {
    const device = browser({ hears: true })
    const [chat, other] = [device.open({ model }), device.open({ model })]
    await chat.identify({ userId: 'ada-lovelace' })
    const id = await talked(chat, 'My secret is SWORDFISH')
    await other.conversation.open(id)
    await other.sessions.search('')
    await chat.signOut({ erase: true })
    await until(other, ({ session, loaded }) => loaded && session?.sessionId !== id)
    const names = async (): Promise<string> => JSON.stringify(await device.factory.databases())
    await new Promise((done) => setTimeout(done, 300))
    expect(await names()).not.toContain('ada-lovelace')
    await Promise.all([chat.close(), other.close()])
  })

  it('with erase says what waits, and with force empties the outbox: that is never sent', async () => {
    const device = browser()
    device.network.set(false)
    const sent: string[] = []
    const chat = device.open({
      src: 'https://edge.test',
      getToken: () => 'token',
      platform: {
        fetch: async (url, { method }) => {
          sent.push(`${method} ${url}`)
          throw new TypeError('fetch failed')
        },
      },
    })
    const sessionId = await chat.conversation.create()
    expect(await chat.conversation.send('SWORDFISH')).toBe(true)
    const lost = [{ sessionId, waiting: 1, refused: 0 }]
    expect(await chat.signOut({ erase: true })).toEqual({ done: false, lost })
    expect(await allTexts(device)).toContain('SWORDFISH')
    expect(await chat.signOut({ erase: true, force: true })).toEqual({ done: true, lost: [] })
    expect(await allTexts(device)).not.toContain('SWORDFISH')
    device.network.set(true)
    await chat.close()
    expect(sent.filter((call) => call.startsWith('POST '))).toEqual([])
  }, 20_000)

  it('without erase shows nothing of the user’s to who comes next', async () => {
    const device = browser()
    const chat = device.open({ model })
    await chat.identify({ userId: 'ada' })
    await talked(chat, 'As Ada')
    await chat.signOut()
    expect(await titles(chat)).toEqual([])
    await chat.identify({ userId: 'ada' })
    expect(await titles(chat)).toEqual(['As Ada'])
    await chat.close()
  })
})
