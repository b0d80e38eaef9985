/** A browser whose user forbids all that sites store. */
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { pagePlatform } from '../../../src/chat/homes/platform.ts'
import type { Chat } from '../../../src/chat/open-chat.ts'
import * as memoryMode from '../../../src/stores/memory-mode.ts'
import { idle, said, until } from './states.ts'
import { browser } from './support.ts'
import { TestService } from './test-service.ts'

/** More than any step of these conversations needs, by far. */
const MOST_COMMITS = 1_000

const denied = () => new DOMException('The request was denied.', 'SecurityError')

afterEach(() => {
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

/** A tab at a service, and the commits to what it has in memory. */
function tab(service: TestService) {
  const { factory, open } = browser()
  vi.stubGlobal('navigator', { onLine: true, locks: { request: async () => Promise.reject(denied()) } })
  const { commit } = memoryMode.MemoryModeScope.prototype
  const commits = vi.spyOn(memoryMode.MemoryModeScope.prototype, 'commit').mockImplementation(function (
    this: memoryMode.MemoryModeScope,
    ...given
  ) {
    // What commits for ever lets no timer of a test run.
    if (commits.mock.calls.length > MOST_COMMITS) return new Promise(() => {})
    return commit.apply(this, given)
  })
  const indexedDB = {
    open: () => {
      throw denied()
    },
    cmp: (one: unknown, other: unknown) => factory.cmp(one, other),
  } as unknown as IDBFactory
  const { fetch } = service
  const { locks } = pagePlatform()
  const platform = { fetch, WebSocket: undefined, indexedDB, locks }
  const chat: Chat = open({ src: 'https://edge.test', synced: true, getToken: () => 'ada', platform })
  return { chat, commits }
}

it('is a platform also where to name its stores throws', () => {
  for (const name of ['localStorage', 'indexedDB']) {
    const before = Object.getOwnPropertyDescriptor(globalThis, name)
    onTestFinished(() => {
      if (before) Object.defineProperty(globalThis, name, before)
      else Reflect.deleteProperty(globalThis, name)
    })
    Object.defineProperty(globalThis, name, {
      configurable: true,
      get() {
        throw denied()
      },
    })
  }
  const { storage, indexedDB } = pagePlatform()
  storage.setItem('key', 'value')
  expect([storage.getItem('key'), indexedDB]).toEqual(['value', undefined])
})

it('has messages answered at a service without a database and locks, and then rests', async () => {
  const service = new TestService()
  const { chat, commits } = tab(service)
  const id = await chat.conversation.create()
  expect(await chat.conversation.send('Two seats to Turin.')).toBe(true)
  await until(chat, idle)
  expect(await chat.conversation.send('By the window.')).toBe(true)
  const state = await until(chat, (now) => idle(now) && now.messages.length === 4)
  expect(said(state).at(-1)).toBe('assistant: Reply to By the window.')
  expect(state.storage).toBe('memory')
  expect(await service.history('ada', id)).toHaveLength(4)
  expect(commits.mock.calls.length).toBeLessThan(MOST_COMMITS)
  await chat.close()
})

it('says at a sign-out and where all is to be erased that there is nothing to delete', async () => {
  const refuse = (): never => {
    throw denied()
  }
  const indexedDB = { open: refuse, deleteDatabase: refuse } as unknown as IDBFactory
  const chat = browser().open({ model: () => 'Yes.', platform: { indexedDB } })
  await chat.conversation.create()
  expect(await chat.conversation.send('Hello.')).toBe(true)
  await until(chat, idle)
  const panel = await chat.memory()
  await expect(panel.eraseAll()).rejects.toMatchObject({ code: 'ERR_STORAGE' })
  await expect(chat.signOut({ force: true })).rejects.toMatchObject({ code: 'ERR_STORAGE' })
  expect(chat.conversation.getSnapshot().messages).toEqual([])
  await chat.close()
})
