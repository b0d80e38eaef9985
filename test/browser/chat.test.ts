/** What is behind the widget, over IndexedDB, locks and storage of a real browser. */
import { afterEach, describe, expect, it } from 'vitest'
import { type Chat, openChat } from '../../src/chat/open-chat.ts'
import type { ChatSettings } from '../../src/chat/settings.ts'
import { pictureOf } from '../everywhere/pictures.ts'
import { idle, said, until } from '../unit/chat/states.ts'
import { TestService } from '../unit/chat/test-service.ts'

const opened: Chat[] = []
const names: string[] = []

function open(name: string, settings: ChatSettings = {}): Chat {
  const chat = openChat({ name, model: (messages) => `You said ${messages.at(-1)?.content}`, ...settings })
  opened.push(chat)
  return chat
}

function freshName(): string {
  const name = `chat-${crypto.randomUUID()}`
  names.push(name)
  return name
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((chat) => chat.close()))
  for (const { name } of await indexedDB.databases())
    if (name && names.some((one) => name.startsWith(one))) indexedDB.deleteDatabase(name)
  names.length = 0
})

const isLoaded = (file: string): boolean =>
  performance.getEntriesByType('resource').some(({ name }) => new URL(name).pathname.endsWith(file))

describe('a conversation in a real browser', () => {
  // First: what it asks for is loaded by others, too.
  it('of a service has what takes files, and keeps them, loaded ahead of them', async () => {
    const parts = ['/src/chat/homes/local-changes.ts', '/src/chat/homes/added.ts']
    performance.clearResourceTimings()
    performance.setResourceTimingBufferSize(1_000)
    const platform = { fetch: new TestService().fetch, WebSocket: undefined }
    const chat = open(freshName(), {
      src: 'https://edge.test',
      synced: true,
      getToken: () => 'ada',
      platform,
    })
    await chat.conversation.create()
    chat.conversation.prepare()
    await expect.poll(() => parts.filter(isLoaded)).toEqual(parts)
  })

  it('is there after a reload, with its versions', async () => {
    const name = freshName()
    const chat = open(name)
    const id = await chat.conversation.create()
    await chat.conversation.send('One')
    const first = (await until(chat, idle)).messages[0]?.message.id ?? ''
    await chat.conversation.edit(first, 'Two')
    await until(chat, (state) => idle(state) && said(state)[0] === 'user: Two')
    await chat.close()
    const again = open(name)
    await again.conversation.open(id)
    const state = await until(again, idle)
    expect(said(state)).toEqual(['user: Two', 'assistant: You said Two'])
    expect(state.messages[0]?.version).toEqual({ index: 2, count: 2 })
    await again.conversation.switchVersion(state.messages[0]?.message.id ?? '', 1)
    expect(said(again.conversation.getSnapshot())).toEqual(['user: One', 'assistant: You said One'])
  })

  it('is answered once, though two tabs have it open and one of them was told', async () => {
    const name = freshName()
    let replies = 0
    const model = async (): Promise<string> => `Reply ${++replies}`
    const [one, two] = [open(name, { model }), open(name, { model })]
    const id = await one.conversation.create()
    await one.conversation.send('Hello')
    await until(one, idle)
    await two.conversation.open(id)
    await until(two, idle)
    await one.conversation.send('Again')
    for (const tab of [one, two])
      expect(said(await until(tab, (state) => idle(state) && state.messages.length === 4))).toEqual([
        'user: Hello',
        'assistant: Reply 1',
        'user: Again',
        'assistant: Reply 2',
      ])
    expect(replies).toBe(2)
  })

  it('sends a picture with a message, and keeps it', async () => {
    const chat = open(freshName())
    await chat.conversation.send('Look', {
      uploads: [{ mediaType: 'image/png', bytes: pictureOf('image/png'), name: 'dot.png' }],
    })
    const state = await until(chat, idle)
    expect(state.messages[0]?.message.content).toMatchObject([
      { type: 'text', text: 'Look' },
      { type: 'media', mediaType: 'image/png', name: 'dot.png' },
    ])
  })

  it('opens 2 000 messages at the newest, a page at a time, and lets go of the older ones', async () => {
    const chat = open(freshName(), { model: () => 'Yes.' })
    const panel = await chat.memory()
    const lines = [
      { type: 'export', format: 'plimsoll', v: 2, of: 'user', parts: ['log'] },
      { type: 'user' },
      { type: 'session', sessionId: 'long', title: 'Long', createdAt: 0 },
      ...Array.from({ length: 2_000 }, (_, index) => ({
        type: 'message',
        seq: index + 1,
        opId: `op-${index}`,
        round: `m-${index}`,
        id: `m-${index}`,
        message: { role: 'user', content: `Number ${index}`, createdAt: 0, trust: 'user' },
      })),
    ]
    const file = [...lines, { type: 'end', lines: lines.length }].map((line) => `${JSON.stringify(line)}\n`)
    await panel.import(
      (async function* () {
        yield* file
      })(),
      'local',
    )
    await chat.conversation.open('long')
    const newest = await until(chat, ({ loaded }) => loaded)
    expect(newest.messages.length).toBe(50)
    expect(newest.hasOlder).toBe(true)
    expect(newest.messages.at(-1)?.message.id).toBe('m-1999')
    for (let page = 2; page <= 4; page++) {
      await chat.conversation.showOlder()
      expect(chat.conversation.getSnapshot().messages.length).toBe(50 * page)
    }
    chat.conversation.releaseOlder(60)
    const released = chat.conversation.getSnapshot()
    expect(released.messages.length).toBe(60)
    expect(released.messages[0]?.message.id).toBe('m-1940')
    expect(released.hasOlder).toBe(true)
  })

  it('says that the store is full, keeps the text in the composer, and goes on once there is room', async () => {
    const chat = open(freshName())
    await chat.conversation.create()
    await chat.conversation.send('One')
    await until(chat, idle)
    const { put, add } = IDBObjectStore.prototype
    const full = (): never => {
      throw new DOMException('no room', 'QuotaExceededError')
    }
    Object.assign(IDBObjectStore.prototype, { put: full, add: full })
    try {
      expect(await chat.conversation.send('Two')).toBe(false)
    } finally {
      Object.assign(IDBObjectStore.prototype, { put, add })
    }
    const state = chat.conversation.getSnapshot()
    expect(state.problem?.code).toBe('ERR_STORAGE_FULL')
    expect(state.storage).toBe('full')
    expect(said(state)).toEqual(['user: One', 'assistant: You said One'])
    expect(await chat.conversation.send('Two')).toBe(true)
    const after = await until(chat, (state) => idle(state) && state.messages.length === 4)
    expect(after.storage).toBe('ok')
    expect(after.problem).toBeUndefined()
  })

  it('of a service is here without a network, and two tabs send and show the same', async () => {
    const [name, service] = [freshName(), new TestService()]
    const settings = {
      ...{ src: 'https://edge.test', synced: true, getToken: () => 'ada' },
      platform: { fetch: service.fetch, WebSocket: undefined },
    }
    const chat = open(name, settings)
    const id = await chat.conversation.create()
    await chat.conversation.send('Two seats to Turin.')
    await until(chat, idle)
    await chat.close()
    service.isThere = false
    const [one, two] = [open(name, settings), open(name, settings)]
    await Promise.all([one.conversation.open(id), two.conversation.open(id)])
    expect(await one.conversation.send('By the window.')).toBe(true)
    const { messages } = await until(two, (state) => state.messages.length === 3)
    expect(messages.map(({ delivery }) => delivery)).toEqual(['sent', 'sent', 'queued'])
    expect((await two.sessions.search('window')).map(({ sessionId }) => sessionId)).toEqual([id])
    service.isThere = true
    dispatchEvent(new Event('online'))
    for (const each of [one, two])
      expect(said(await until(each, (state) => idle(state) && state.messages.length === 4)).slice(2)).toEqual(
        ['user: By the window.', 'assistant: Reply to By the window.'],
      )
    await one.signOut({ erase: true })
    expect((await service.history('ada', id)).length).toBe(4)
  })

  it('is erased with its databases', async () => {
    const name = freshName()
    const chat = open(name)
    await chat.conversation.send('SWORDFISH')
    await until(chat, idle)
    await chat.signOut({ erase: true })
    await chat.close()
    expect((await indexedDB.databases()).filter((one) => one.name?.startsWith(name))).toEqual([])
    expect(Object.keys(localStorage).filter((key) => key.includes(name))).toEqual([])
  })
})
