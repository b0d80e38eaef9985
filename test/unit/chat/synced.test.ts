/** Sessions of a service that are in this browser, too. */
import { expect, it, vi } from 'vitest'
import type { Chat } from '../../../src/chat/open-chat.ts'
import { contextAt } from '../../../src/operations/context-at.ts'
import { pictureOf } from '../../everywhere/pictures.ts'
import { idle, said, talked, until } from './states.ts'
import { allTexts, browser, SRC, TestNetwork, syncedTab as tab, tokenOf } from './support.ts'
import { TestService } from './test-service.ts'

const deliveries = (chat: Chat): readonly string[] =>
  chat.conversation.getSnapshot().messages.map(({ delivery }) => delivery)

it('shows the list, the history and what was said after a reload without a network', async () => {
  const [place, service] = [browser(), new TestService()]
  const chat = tab(place, service)
  const id = await talked(chat, 'Two seats to Turin.')
  expect(said(chat.conversation.getSnapshot())).toEqual([
    'user: Two seats to Turin.',
    'assistant: Reply to Two seats to Turin.',
  ])
  expect(deliveries(chat)).toEqual(['sent', 'sent'])
  await chat.close()
  place.network.set(false)
  service.isThere = false
  const again = tab(place, service)
  await again.conversation.open(id)
  expect(await again.conversation.send('By the window.')).toBe(true)
  expect(said(again.conversation.getSnapshot())).toHaveLength(3)
  expect(deliveries(again)).toEqual(['sent', 'sent', 'queued'])
  expect(again.conversation.getSnapshot()).toMatchObject({ reply: undefined, problem: undefined })
  const [asked] = again.conversation.getSnapshot().messages.slice(-1)
  expect(await again.sessions.search('window')).toMatchObject([
    { sessionId: id, messageId: asked?.message.id },
  ])
  await again.close()
  const third = tab(place, service)
  await third.conversation.open(id)
  expect(deliveries(third)).toEqual(['sent', 'sent', 'queued'])
  await third.sessions.search('')
  expect(third.conversation.getSnapshot()).toMatchObject({ reply: undefined, problem: undefined })
  service.isThere = true
  place.network.set(true)
  await until(third, (state) => idle(state) && state.messages.length === 4)
  expect(deliveries(third)).toEqual(['sent', 'sent', 'sent', 'sent'])
  expect((await service.history('ada', id)).map(({ content }) => content)).toEqual([
    'Two seats to Turin.',
    'Reply to Two seats to Turin.',
    'By the window.',
    'Reply to By the window.',
  ])
  await third.close()
})

it('has what was said without a network answered once, in each tab, whichever is open', async () => {
  const [place, service] = [browser(), new TestService()]
  const one = tab(place, service)
  const id = await talked(one, 'Hello.')
  const two = tab(place, service)
  await two.conversation.open(id)
  place.network.set(false)
  await one.conversation.send('From the first.')
  await until(two, ({ messages }) => messages.length === 3)
  await two.conversation.send('From the second.')
  await until(one, ({ messages }) => messages.length === 4)
  expect(deliveries(one)).toEqual(['sent', 'sent', 'queued', 'queued'])
  place.network.set(true)
  for (const each of [one, two]) {
    const state = await until(each, (now) => idle(now) && now.messages.length === 5)
    expect(said(state).at(-1)).toBe('assistant: Reply to From the second.')
  }
  expect(said(one.conversation.getSnapshot())).toEqual(said(two.conversation.getSnapshot()))
  expect(await service.history('ada', id)).toHaveLength(5)
  // For both at once, by one tab.
  expect(service.asked.filter((line) => line.endsWith('/chat'))).toHaveLength(2)
  await Promise.all([one.close(), two.close()])
})

it('has conversations answered that do not show when they are sent', async () => {
  const [place, service] = [browser(), new TestService()]
  place.network.set(false)
  const chat = tab(place, service)
  const first = await chat.conversation.create()
  await chat.conversation.send('In the first.')
  await chat.conversation.create()
  await chat.conversation.send('In the second.')
  await chat.close()
  const again = tab(place, service)
  const third = await again.conversation.create()
  expect((await again.sessions.search('')).map(({ title }) => title)).toEqual([
    'In the second.',
    'In the first.',
  ])
  place.network.set(true)
  await expect.poll(() => service.history('ada', first)).toHaveLength(2)
  await again.conversation.open(first)
  expect(said(await until(again, idle)).at(-1)).toBe('assistant: Reply to In the first.')
  expect(again.conversation.getSnapshot().session?.sessionId).not.toBe(third)
  const chats = service.asked.filter((line) => line.endsWith(`${first}/chat`))
  expect(chats).toHaveLength(1)
  await again.close()
})

it('has all answered that was said without a network, in however many conversations', async () => {
  const [place, service] = [browser(), new TestService()]
  place.network.set(false)
  const chat = tab(place, service)
  const first = await chat.conversation.create()
  await chat.conversation.send('In the first.')
  for (let count = 0; count < 20; count++) {
    await chat.conversation.create()
    await chat.conversation.send('In another one.')
  }
  place.network.set(true)
  await expect.poll(() => service.history('ada', first), { timeout: 5_000 }).toHaveLength(2)
  await chat.close()
})

it('has what was said at one service answered there after a page of another service was open', async () => {
  const [place, service, other] = [browser(), new TestService(), new TestService()]
  place.network.set(false)
  const chat = tab(place, service)
  const id = await chat.conversation.create()
  await chat.conversation.send('Here.')
  await chat.close()
  place.network.set(true)
  const there = tab(place, other, { src: 'https://other.test' })
  await talked(there, 'There.')
  await there.close()
  const again = tab(place, service)
  await again.conversation.create()
  await expect.poll(() => service.history('ada', id)).toHaveLength(2)
  await again.close()
})

it('shows on another device what is there, and what is said meanwhile', async () => {
  const service = new TestService()
  const chat = tab(browser(), service)
  const id = await talked(chat, 'Hello.')
  let answer = (): void => {}
  service.until = new Promise((done) => (answer = done))
  const asked = service.asked.length
  const other = tab(browser(), service)
  const listed = other.sessions.search('')
  await expect.poll(() => service.asked.length).toBeGreaterThan(asked)
  answer()
  expect((await listed).map(({ title }) => title)).toEqual(['Hello.'])
  await other.conversation.open(id)
  expect(said(await until(other, idle))).toEqual(['user: Hello.', 'assistant: Reply to Hello.'])
  expect(other.conversation.getSnapshot().session?.title).toBe('Hello.')
  await other.conversation.open('nowhere')
  expect(other.conversation.getSnapshot()).toMatchObject({ isMissing: true, problem: undefined })
  await Promise.all([chat.close(), other.close()])
})

it('fetches conversations ahead, so that they are here without a network', async () => {
  const service = new TestService()
  const chat = tab(browser(), service)
  const id = await talked(chat, 'Two seats to Genoa.')
  await chat.close()
  const place = browser()
  const other = tab(place, service)
  other.sessions.subscribe(() => {})
  await expect.poll(() => allTexts(place)).toContain('Reply to Two seats to Genoa.')
  service.isThere = false
  place.network.set(false)
  await other.conversation.open(id)
  expect(said(other.conversation.getSnapshot())).toHaveLength(2)
  await other.close()
})

it('keeps what is said by a link to what is not in this browser in that conversation', async () => {
  const [place, service] = [browser(), new TestService()]
  place.network.set(false)
  service.isThere = false
  const chat = tab(place, service)
  void chat.conversation.open('linked')
  await until(chat, ({ problem }) => problem?.code === 'ERR_OFFLINE')
  expect(await chat.conversation.send('Written offline.')).toBe(true)
  await chat.close()
  const again = tab(place, service)
  await again.conversation.open('linked')
  expect(again.conversation.getSnapshot()).toMatchObject({
    session: { sessionId: 'linked', home: 'edge' },
    messages: [{ delivery: 'queued', message: { content: 'Written offline.' } }],
  })
  await again.close()
})

it('says what the service refuses, and sends it again or lets it go', async () => {
  const [place, service] = [browser(), new TestService()]
  const chat = tab(place, service)
  const id = await talked(chat, 'Hello.')
  service.refuses = (text) => text.includes('Long')
  await chat.conversation.send('Long, one.')
  const failed = (count: number) =>
    until(chat, ({ messages }) => messages.filter(({ delivery }) => delivery === 'failed').length === count)
  const state = await failed(1)
  expect(state.messages.at(-1)?.problem?.code).toBe('ERR_ENTRY_TOO_LARGE')
  await chat.conversation.send('Long, two.')
  await failed(2)
  await chat.close()
  const again = tab(place, service)
  await again.conversation.open(id)
  const shown = again.conversation.getSnapshot().messages.filter(({ delivery }) => delivery === 'failed')
  expect(shown.map(({ message: { content } }) => content)).toEqual(['Long, one.', 'Long, two.'])
  const [one, two] = shown.map(({ message }) => message.id)
  await again.conversation.drop(one ?? '')
  service.refuses = () => false
  await again.conversation.retry(two)
  await until(again, (now) => idle(now) && now.messages.length === 4)
  expect(said(again.conversation.getSnapshot()).slice(2)).toEqual([
    'user: Long, two.',
    'assistant: Reply to Long, two.',
  ])
  await again.close()
})

it('has what is sent again answered where another tab was at its last look meanwhile', async () => {
  const [place, service] = [browser(), new TestService()]
  const { storage } = place.platform
  if (!storage) throw new Error('no storage')
  const chat = tab(place, service)
  await talked(chat, 'Hello.')
  service.refuses = (text) => text.includes('Long')
  await chat.conversation.send('Long, two.')
  const { messages } = await until(chat, (now) => now.messages.at(-1)?.delivery === 'failed')
  service.refuses = () => false
  const write = storage.setItem.bind(storage)
  let isDone = false
  storage.setItem = (key, value) => {
    write(key, value)
    if (!key.includes('/unasked/') || isDone) return
    isDone = true
    queueMicrotask(() => storage.removeItem(key))
  }
  await chat.conversation.retry(messages.at(-1)?.message.id)
  await until(chat, (now) => idle(now) && now.messages.length === 4)
  expect(isDone).toBe(true)
  await chat.close()
})

it('lets go of what was not sent, and the service never has it', async () => {
  const [place, service] = [browser(), new TestService()]
  const chat = tab(place, service)
  const id = await talked(chat, 'Hello.')
  place.network.set(false)
  await chat.conversation.send('SWORDFISH')
  const { messages } = await until(chat, (state) => state.messages.length === 3)
  await chat.conversation.drop(messages[2]?.message.id ?? '')
  await until(chat, (state) => state.messages.length === 2)
  place.network.set(true)
  await chat.conversation.send('Hello again.')
  await until(chat, (state) => idle(state) && state.messages.length === 4)
  expect(JSON.stringify(await service.history('ada', id))).not.toContain('SWORDFISH')
  await chat.close()
})

it('shows the reply that there was where another one cannot be asked for', async () => {
  const [place, service] = [browser(), new TestService()]
  const chat = tab(place, service)
  await talked(chat, 'Hello.')
  place.network.set(false)
  await chat.conversation.regenerate()
  const state = await until(chat, idle)
  expect(said(state)).toEqual(['user: Hello.', 'assistant: Reply to Hello.'])
  expect(state.problem?.code).toBe('ERR_OFFLINE')
  place.network.set(true)
  service.reply = () => 'Another one.'
  await chat.conversation.regenerate()
  await until(chat, (now) => idle(now) && said(now)[1] === 'assistant: Another one.')
  await chat.close()
})

it('says that nobody is signed in, and sends and has it answered once somebody is', async () => {
  const [place, service] = [browser(), new TestService()]
  service.isKnown = false
  const chat = tab(place, service)
  await chat.conversation.create()
  expect(await chat.conversation.send('Hello.')).toBe(true)
  const state = await until(chat, ({ problem }) => problem !== undefined)
  expect(state).toMatchObject({
    problem: { code: 'ERR_UNAUTHENTICATED' },
    messages: [{ delivery: 'queued' }],
  })
  service.isKnown = true
  await chat.conversation.retry()
  await until(chat, idle)
  await chat.close()
})

it('asks once for an answer that fails, and again when somebody does', async () => {
  const [place, service] = [browser(), new TestService()]
  const chat = tab(place, service)
  await talked(chat, 'Hello.')
  const before = service.asked.length
  service.reply = () => Promise.reject(new Error('no model'))
  await chat.conversation.send('And now?')
  await until(chat, ({ problem }) => problem !== undefined)
  const pulls = (): number => service.asked.filter((line) => line.endsWith('/pull')).length
  for (let times = 0; times < 3; times++) {
    const known = pulls()
    place.network.set(true)
    await expect.poll(pulls).toBeGreaterThan(known)
  }
  const chats = (): number => service.asked.slice(before).filter((line) => line.endsWith('/chat')).length
  expect(chats()).toBe(1)
  service.reply = () => 'Here.'
  await chat.conversation.retry()
  await until(chat, (state) => idle(state) && state.messages.length === 4)
  expect(chats()).toBe(2)
  await chat.close()
})

it('keeps what came of a reply that failed where what was sent for it was recorded', async () => {
  const service = new TestService()
  service.partial = 'Once upon'
  service.reply = () => Promise.reject(new Error('the model failed'))
  const chat = tab(browser(), service)
  const id = await chat.conversation.create({ home: 'edge' })
  await chat.conversation.send('Tell me a story')
  const { messages } = await until(chat, idle)
  expect(said(chat.conversation.getSnapshot())).toEqual(['user: Tell me a story', 'assistant: Once upon'])
  const at = await contextAt(service.session('ada', id), messages[0]?.message.id ?? '')
  expect(at).toMatchObject({ verified: true })
  await chat.close()
})

it('keeps what came of a reply where the service does not take it now', async () => {
  const service = new TestService()
  service.partial = 'Once upon'
  service.reply = () => Promise.reject(new Error('the model failed'))
  const fetch: typeof service.fetch = async (url, init) =>
    url.endsWith('/messages')
      ? Response.json({ code: 'ERR_CONFLICT', detail: 'others write to it' }, { status: 409 })
      : service.fetch(url, init)
  const chat = tab(browser(), service, { platform: { fetch } })
  const id = await chat.conversation.create()
  await chat.conversation.send('Tell me a story')
  await until(chat, idle)
  expect(said(chat.conversation.getSnapshot())).toEqual(['user: Tell me a story', 'assistant: Once upon'])
  // It is sent like all that is written here.
  await expect.poll(() => service.history('ada', id)).toHaveLength(2)
  await chat.close()
})

it.each(['fails', 'fails, and that tab is closed', 'is left'] as const)(
  'has a message answered that another tab said during a reply that %s',
  async (how) => {
    const [place, service] = [browser(), new TestService()]
    const one = tab(place, service)
    const id = await talked(one, 'Hello.')
    const two = tab(place, service)
    await two.conversation.open(id)
    let fail = (): void => {}
    service.reply = (text) =>
      text === 'First.'
        ? new Promise((_, reject) => {
            fail = () => reject(new Error('no model'))
          })
        : `Reply to ${text}`
    const chats = (): number => service.asked.filter((line) => line.endsWith('/chat')).length
    await one.conversation.send('First.')
    await expect.poll(chats).toBe(2)
    await two.conversation.send('Second.')
    await expect.poll(() => service.history('ada', id)).toHaveLength(4)
    // It is left to the first tab, which answers.
    await until(two, ({ reply, messages }) => reply === undefined && messages.length === 4)
    if (how.endsWith('closed')) await two.close()
    if (how === 'is left') await one.close()
    else fail()
    const open = how === 'fails' ? [one, two] : how === 'is left' ? [two] : [one]
    for (const each of open)
      await until(each, (state) => idle(state) && said(state).at(-1) === 'assistant: Reply to Second.')
    expect(chats()).toBe(3)
    fail()
    await Promise.all([one.close(), two.close()])
  },
)

it('shows the reply of the service all the time from its first word on', async () => {
  const chat = tab(browser(), new TestService())
  await talked(chat, 'Hello.')
  const shown: boolean[] = []
  chat.conversation.subscribe(() => {
    const { reply, messages } = chat.conversation.getSnapshot()
    shown.push(reply?.text === 'Reply to Again.' || messages.length === 4)
  })
  await chat.conversation.send('Again.')
  await until(chat, (state) => idle(state) && state.messages.length === 4)
  expect(shown.slice(shown.indexOf(true))).not.toContain(false)
  await chat.close()
})

it('tells what signing out would lose, and does nothing then', async () => {
  const [place, service] = [browser(), new TestService()]
  const chat = tab(place, service)
  const id = await talked(chat, 'Hello.')
  place.network.set(false)
  await chat.conversation.send('SWORDFISH')
  const told = await chat.signOut({ erase: true, force: true, dryRun: true })
  const kept = await chat.signOut({ erase: true })
  expect(told).toEqual(kept)
  expect(kept).toEqual({ done: false, lost: [{ sessionId: id, waiting: 1, refused: 0 }] })
  expect(said(chat.conversation.getSnapshot())).toHaveLength(3)
  expect(await allTexts(place)).toContain('SWORDFISH')
  expect(await chat.signOut({ erase: true, force: true })).toEqual({ done: true, lost: [] })
  expect(await allTexts(place)).not.toContain('SWORDFISH')
  expect(await allTexts(place)).not.toContain('Hello.')
  expect(chat.conversation.getSnapshot().messages).toEqual([])
  place.network.set(true)
  expect(await service.history('ada', id)).toHaveLength(2)
  await chat.close()
})

it('leaves nothing of the service in this browser when it signs out, in no tab', async () => {
  const [place, service] = [browser(), new TestService()]
  const chat = tab(place, service)
  const id = await talked(chat, 'SWORDFISH')
  const other = tab(place, service)
  await other.conversation.open(id)
  expect(await chat.signOut()).toEqual({ done: true, lost: [] })
  expect(await allTexts(place)).not.toContain('SWORDFISH')
  const asked = service.asked.length
  place.network.set(true)
  await other.conversation.open(id)
  expect(service.asked.slice(asked).filter((line) => line.includes('/v1/'))).toEqual([])
  expect(other.conversation.getSnapshot().messages).toEqual([])
  expect(await allTexts(place)).not.toContain('SWORDFISH')
  await other.close()
  await chat.conversation.open(id)
  await until(chat, idle)
  expect(await service.history('ada', id)).toHaveLength(2)
  await chat.close()
})

it('keeps nothing that arrives after another tab has signed out', async () => {
  const [place, service] = [browser(), new TestService()]
  const chat = tab(place, service)
  const id = await talked(chat, 'Hello.')
  const arrives = async (text: string, meanwhile = (): void => {}): Promise<void> => {
    let resolve = (): void => {}
    const promise = new Promise<void>((done) => {
      resolve = done
    })
    await service.session('ada', id).append([{ role: 'user', content: text }])
    const asked = service.asked.length
    service.until = promise
    place.network.set(true)
    await expect.poll(() => service.asked.slice(asked).some((line) => line.endsWith('/pull'))).toBe(true)
    meanwhile()
    resolve()
  }
  await arrives('MAGPIE')
  await expect.poll(() => allTexts(place)).toContain('MAGPIE')
  await arrives('SWORDFISH', () => place.platform.storage?.removeItem('plimsoll-chat/identity'))
  await expect.poll(() => chat.conversation.getSnapshot().problem).toBeDefined()
  expect(await allTexts(place)).not.toContain('SWORDFISH')
  await chat.close()
})

it('removes what another tab fetches while it signs out', async () => {
  const [place, service] = [browser(), new TestService()]
  const { factory } = place
  let isEmptied = (): void => {}
  const emptied = new Promise<void>((resolve) => {
    isEmptied = resolve
  })
  let goOn: (() => void) | undefined
  const slow = new Proxy(factory, {
    get: (_, key: keyof IDBFactory) =>
      key === 'deleteDatabase' && !goOn
        ? () => {
            const told = {} as IDBOpenDBRequest
            goOn = () => told.onsuccess?.call(told, new Event('success'))
            isEmptied()
            return told
          }
        : factory[key].bind(factory),
  })
  const chat = tab(place, service, { platform: { indexedDB: slow } })
  const id = await talked(chat, 'SWORDFISH')
  const other = tab(place, service)
  await other.conversation.open(id)
  const left = chat.signOut({ erase: true })
  await emptied
  const isBack = async (): Promise<boolean> => {
    place.network.set(true)
    return (await allTexts(place)).includes('SWORDFISH')
  }
  await expect.poll(isBack).toBe(true)
  goOn?.()
  expect(await left).toEqual({ done: true, lost: [] })
  expect((await allTexts(place)).includes('SWORDFISH')).toBe(false)
  await Promise.all([chat.close(), other.close()])
})

it('keeps what is said in a tab that opens while another one signs out', async () => {
  const [place, service] = [browser(), new TestService()]
  const chat = tab(place, service)
  await talked(chat, 'SWORDFISH')
  place.network.set(false)
  let opened: Chat | undefined
  const storage = place.platform.storage as Storage
  const removeItem = storage.removeItem.bind(storage)
  vi.spyOn(storage, 'removeItem').mockImplementation((key) => {
    removeItem(key)
    if (key === 'plimsoll-chat/identity') opened ??= tab(place, service, { getToken: undefined })
  })
  expect(await chat.signOut()).toEqual({ done: true, lost: [] })
  await opened?.conversation.create()
  expect(await opened?.conversation.send('MAGPIE')).toBe(true)
  expect(opened?.conversation.getSnapshot()).toMatchObject({ storage: 'ok', problem: undefined })
  await Promise.all([chat.close(), opened?.close()])
  const texts = await allTexts(place)
  expect(['MAGPIE', 'SWORDFISH'].filter((text) => texts.includes(text))).toEqual(['MAGPIE'])
})

it.each([false, true])('goes on in a second tab that hears of a sign-out; erase: %s', async (erase) => {
  const [place, service] = [browser({ hears: true }), new TestService()]
  const open = (): Chat => tab(place, service, { getToken: undefined })
  const [chat, other] = [open(), open()]
  const id = await talked(chat, 'SWORDFISH')
  await other.conversation.open(id)
  expect(await chat.signOut({ erase })).toEqual({ done: true, lost: [] })
  await until(other, ({ session, loaded }) => loaded && session !== undefined && session.sessionId !== id)
  expect(await other.conversation.send('MAGPIE')).toBe(true)
  const shown = await until(other, (state) => idle(state) && said(state).length === 2)
  expect(shown).toMatchObject({ storage: 'ok', problem: undefined })
  expect(said(shown)).toEqual(['user: MAGPIE', 'assistant: Reply to MAGPIE'])
  await Promise.all([chat.close(), other.close()])
})

it('notes nothing of a reply that is left by a sign-out in another tab', async () => {
  const [place, service] = [browser({ hears: true }), new TestService()]
  const open = (): Chat => tab(place, service, { getToken: undefined })
  const [chat, other] = [open(), open()]
  const id = await talked(chat, 'Hello.')
  await other.conversation.open(id)
  service.reply = () => new Promise(() => {})
  await other.conversation.send('And now?')
  await expect.poll(() => service.asked.filter((line) => line.endsWith('/chat'))).toHaveLength(2)
  place.network.set(false)
  service.isThere = false
  expect(await chat.signOut({ erase: true, force: true })).toEqual({ done: true, lost: [] })
  await until(other, ({ session, loaded }) => loaded && session?.sessionId !== id)
  await other.close()
  expect(place.platform.storage?.getItem(`plimsoll-chat/unasked/${SRC}`)).toBeNull()
  await chat.close()
})

it('shows in each tab that a message was sent while its reply is waited for', async () => {
  const [place, service] = [browser(), new TestService()]
  const one = tab(place, service)
  const id = await talked(one, 'Hello.')
  const two = tab(place, service)
  await two.conversation.open(id)
  let answer = (_: string): void => {}
  service.reply = () =>
    new Promise((resolve) => {
      answer = resolve
    })
  await one.conversation.send('And now?')
  await expect.poll(() => service.asked.filter((line) => line.endsWith('/chat'))).toHaveLength(2)
  for (const each of [one, two]) await expect.poll(() => deliveries(each)).toEqual(['sent', 'sent', 'sent'])
  answer('Yes.')
  await until(two, (state) => idle(state) && state.messages.length === 4)
  await Promise.all([one.close(), two.close()])
})

it('comes to an end of each of several sign-ins at once, of who is signed in already too', async () => {
  const [place, service] = [browser(), new TestService()]
  const chat = tab(place, service, { getToken: () => tokenOf('ada') })
  await chat.identify({ userId: 'ada' })
  await talked(chat, 'Hello.')
  await Promise.all(Array.from({ length: 5 }, () => chat.identify({ userId: 'ada' })))
  await chat.conversation.create({ home: 'edge' })
  expect(await chat.conversation.send('Again.')).toBe(true)
  await until(chat, idle)
  await chat.close()
})

it('gives what a guest wrote and nobody sent to who signs in', async () => {
  const [place, service] = [browser(), new TestService()]
  service.isThere = false
  place.network.set(false)
  const chat = tab(place, service, { getToken: undefined })
  const id = await chat.conversation.create()
  await chat.conversation.send('As a guest.')
  await chat.identify({ token: tokenOf('ada') })
  expect(said(chat.conversation.getSnapshot())).toEqual(['user: As a guest.'])
  service.isThere = true
  place.network.set(true)
  await until(chat, idle)
  expect(service.asked).not.toContain('POST /v1/guests')
  expect(await service.history(tokenOf('ada'), id)).toHaveLength(2)
  await chat.close()
})

it('gives what a guest has at the service to who signs in, once all of it is there', async () => {
  const [place, service] = [browser(), new TestService()]
  const chat = tab(place, service, { getToken: undefined })
  const id = await talked(chat, 'As a guest.')
  place.network.set(false)
  await chat.conversation.send('Offline.')
  await expect(chat.identify({ token: tokenOf('ada') })).rejects.toMatchObject({ code: 'ERR_STORAGE' })
  place.network.set(true)
  await expect.poll(() => service.history('guest-1', id)).toHaveLength(4)
  const other = tab(place, service, { getToken: undefined })
  await other.conversation.open(id)
  await chat.identify({ token: tokenOf('ada') })
  expect(said(await until(chat, idle))).toHaveLength(4)
  // The guest's tab does not become another guest.
  place.network.set(true)
  await other.conversation.open(id)
  expect(service.asked.filter((line) => line === 'POST /v1/guests')).toHaveLength(1)
  await other.close()
  expect(await service.history('guest-1', id)).toEqual([])
  await chat.close()
})

it('gives what a guest said once, where another tab asks for the guest’s token meanwhile', async () => {
  const [place, service] = [browser(), new TestService()]
  const { locks } = place.platform
  if (!locks) throw new Error('no locks')
  place.network.set(false)
  let isAsked = false
  let isClaimed = false
  let give = (): void => {}
  const isGiven = new Promise<void>((resolve) => {
    give = resolve
  })
  const fetch: typeof service.fetch = async (url, init) => {
    if (isClaimed && new Headers(init.headers).get('authorization') === 'Bearer guest-1')
      return Response.json({ code: 'ERR_UNAUTHENTICATED', detail: 'it was claimed' }, { status: 401 })
    isClaimed ||= url.endsWith('/v1/me/claim')
    const answer = await service.fetch(url, init)
    isAsked ||= url.endsWith('/v1/guests')
    if (url.endsWith('/v1/guests')) await isGiven
    return answer
  }
  const network = new TestNetwork()
  network.set(false)
  // The token comes once somebody signs in.
  const request: typeof locks.request = (name, options, run) =>
    locks.request(name, options, (lock) => {
      if (isAsked && name.endsWith('/user') && !network.isOnline()) {
        give()
        network.set(true)
      }
      return run(lock)
    })
  const chat = tab(place, service, { getToken: undefined, platform: { fetch, network, locks: { request } } })
  await chat.conversation.create()
  await chat.conversation.send('SWORDFISH')
  const other = tab(place, service, { getToken: undefined, platform: { fetch } })
  place.network.set(true)
  await expect.poll(() => isAsked).toBe(true)
  await chat.identify({ token: tokenOf('ada') })
  await expect.poll(() => service.titles(tokenOf('ada'))).toEqual(['SWORDFISH'])
  expect(await service.titles('guest-1')).toEqual([])
  await Promise.all([chat.close(), other.close()])
})

it.each([true, false])(
  'gives what a guest has to the user once, whose tokens come first; with identify(): %s',
  async (isIdentified) => {
    const [place, service] = [browser(), new TestService()]
    const guest = tab(place, service, { getToken: undefined })
    const id = await talked(guest, 'SWORDFISH')
    await guest.close()
    const chat = tab(place, service, { getToken: () => tokenOf('ada') })
    await chat.conversation.open(id)
    if (isIdentified) await chat.identify({ token: tokenOf('ada') })
    await expect.poll(() => service.history(tokenOf('ada'), id)).toHaveLength(2)
    expect(said(await until(chat, idle))).toHaveLength(2)
    expect(await service.titles(tokenOf('ada'))).toEqual(['SWORDFISH'])
    expect(await service.titles('guest-1')).toEqual([])
    await talked(chat, 'As a user.')
    expect((await service.titles(tokenOf('ada'))).toSorted()).toEqual(['As a user.', 'SWORDFISH'])
    await chat.close()
  },
)

it('says that a guest is not the user yet, sends nothing as theirs, and tries again', async () => {
  const [place, service] = [browser(), new TestService()]
  const guest = tab(place, service, { getToken: undefined })
  const id = await talked(guest, 'SWORDFISH')
  await guest.close()
  let isThere = false
  const fetch: typeof service.fetch = async (url, init) =>
    url.endsWith('/v1/me/claim') && !isThere ? new Response('', { status: 503 }) : service.fetch(url, init)
  const chat = tab(place, service, { getToken: () => tokenOf('ada'), platform: { fetch } })
  await chat.conversation.open(id)
  await until(chat, ({ problem }) => problem !== undefined)
  expect(await service.titles('guest-1')).toEqual(['SWORDFISH'])
  expect(await service.titles(tokenOf('ada'))).toEqual([])
  isThere = true
  place.network.set(true)
  await expect.poll(() => service.titles(tokenOf('ada'))).toEqual(['SWORDFISH'])
  expect(await service.titles('guest-1')).toEqual([])
  await chat.close()
})

it('opens nothing again where it is closed while somebody signs in', async () => {
  const [place, service] = [browser(), new TestService()]
  let isAsked = false
  let answer = (): void => {}
  const isAnswered = new Promise<void>((resolve) => {
    answer = resolve
  })
  const fetch: typeof service.fetch = async (url, init) => {
    const response = await service.fetch(url, init)
    isAsked ||= url.endsWith('/v1/me/claim')
    if (url.endsWith('/v1/me/claim')) await isAnswered
    return response
  }
  const chat = tab(place, service, { getToken: undefined, platform: { fetch } })
  await talked(chat, 'SWORDFISH')
  const identified = chat.identify({ token: tokenOf('ada') })
  await expect.poll(() => isAsked).toBe(true)
  await chat.close()
  answer()
  await identified
  const asked = service.asked.length
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(service.asked).toHaveLength(asked)
  const next = tab(place, service, { getToken: () => tokenOf('ada') })
  await expect.poll(() => next.sessions.search('')).toMatchObject([{ title: 'SWORDFISH' }])
  await next.close()
})

it.each([false, true])(
  'has answered as the user’s what a guest said that their sign-in sends; with another tab: %s',
  async (hasOther) => {
    const [place, service] = [browser(), new TestService()]
    let claim = (): void => {}
    const isClaimed = new Promise<void>((resolve) => {
      claim = resolve
    })
    let ask = (): void => {}
    const isAsked = new Promise<void>((resolve) => {
      ask = resolve
    })
    let late = 0
    const fetch: typeof service.fetch = async (url, init) => {
      const isGuests = new Headers(init.headers).get('authorization') === 'Bearer guest-1'
      if (isGuests && url.endsWith('/chat') && String(init.body).includes('Offline')) {
        ask()
        await isClaimed
        late++
        return Response.json({ code: 'ERR_UNAUTHENTICATED', detail: 'it was claimed' }, { status: 401 })
      }
      const isClaim = url.endsWith('/v1/me/claim')
      if (isClaim && hasOther) await isAsked
      const answer = await service.fetch(url, init)
      if (isClaim) claim()
      return answer
    }
    const open = (): Chat => tab(place, service, { getToken: undefined, platform: { fetch } })
    const [chat, other] = [open(), hasOther ? open() : undefined]
    const id = await talked(chat, 'As a guest.')
    await other?.conversation.open(id)
    place.network.set(false)
    await chat.conversation.send('Offline.')
    place.network.set(true)
    await chat.identify({ token: tokenOf('ada') })
    await expect.poll(() => service.history(tokenOf('ada'), id)).toHaveLength(4)
    expect(said(await until(chat, idle))).toHaveLength(4)
    expect(late > 0).toBe(hasOther)
    await Promise.all([chat.close(), other?.close()])
  },
)

it('makes no other guest of one whom another tab has signed in', async () => {
  const [place, service] = [browser(), new TestService()]
  let refused = 0
  let isClaimed = false
  let answer = (): void => {}
  const isAnswered = new Promise<void>((resolve) => {
    answer = resolve
  })
  const fetch: typeof service.fetch = async (url, init) => {
    const isGuests = new Headers(init.headers).get('authorization') === 'Bearer guest-1'
    if (isClaimed && isGuests) {
      refused++
      return Response.json({ code: 'ERR_UNAUTHENTICATED', detail: 'it was claimed' }, { status: 401 })
    }
    const response = await service.fetch(url, init)
    if (!url.endsWith('/v1/me/claim')) return response
    isClaimed = true
    await isAnswered
    return response
  }
  const open = (): Chat => tab(place, service, { getToken: undefined, platform: { fetch } })
  const [chat, other] = [open(), open()]
  const id = await talked(chat, 'SWORDFISH')
  await other.conversation.open(id)
  const identified = chat.identify({ token: tokenOf('ada') })
  await expect.poll(() => isClaimed).toBe(true)
  place.network.set(true)
  await expect.poll(() => refused).toBeGreaterThan(0)
  await new Promise((resolve) => setTimeout(resolve, 100))
  answer()
  await identified
  expect(service.asked.filter((line) => line.endsWith('/v1/guests'))).toHaveLength(1)
  expect(await service.titles('guest-2')).toEqual([])
  expect(await service.titles(tokenOf('ada'))).toEqual(['SWORDFISH'])
  await Promise.all([chat.close(), other.close()])
})

it.each([false, true])(
  'makes another guest of one whose sign-in was not heard of for what was said since alone: %s',
  async (isSaid) => {
    const [place, service] = [browser(), new TestService()]
    let refused = 0
    let claims = 0
    let isLost = true
    const fetch: typeof service.fetch = async (url, init) => {
      if (claims > 0 && new Headers(init.headers).get('authorization') === 'Bearer guest-1') {
        refused++
        return Response.json({ code: 'ERR_UNAUTHENTICATED', detail: 'it was claimed' }, { status: 401 })
      }
      if (!url.endsWith('/v1/me/claim')) return service.fetch(url, init)
      if (++claims === 1) await service.fetch(url, init)
      return isLost
        ? Response.json({ code: 'ERR_INTERNAL', detail: 'the answer is lost' }, { status: 500 })
        : Response.json({ sessions: [], facts: 0 })
    }
    const chat = tab(place, service, { getToken: undefined, platform: { fetch } })
    const id = await talked(chat, 'SWORDFISH')
    const token = tokenOf('ada')
    await expect(chat.identify({ token })).rejects.toThrow()
    isLost = false
    await chat.conversation.open(id)
    if (isSaid) await chat.conversation.send('MAGPIE')
    const before = refused
    place.network.set(true)
    await expect.poll(() => refused).toBeGreaterThan(before)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(service.asked.filter((line) => line.endsWith('/v1/guests'))).toHaveLength(1)
    if (isSaid) {
      // Nobody but a guest may send it.
      await expect(chat.identify({ token })).rejects.toMatchObject({ code: 'ERR_STORAGE' })
      const said = async () => (await service.history('guest-2', id)).map(({ content }) => content)
      await expect.poll(said).toContain('MAGPIE')
    } else {
      await chat.identify({ token })
      expect(await service.titles(token)).toEqual(['SWORDFISH'])
      expect(await service.titles('guest-2')).toEqual([])
    }
    expect(place.platform.storage?.getItem('plimsoll-chat/claimed')).toBeNull()
    await chat.close()
  },
)

it('says that another device was first, and has what that one said', async () => {
  const service = new TestService()
  const place = browser()
  const here = tab(place, service)
  const id = await talked(here, 'Hello.')
  const there = tab(browser(), service)
  await there.sessions.search('')
  place.network.set(false)
  await here.sessions.rename(id, 'Here')
  await there.sessions.rename(id, 'There')
  await expect.poll(() => service.titles('ada')).toEqual(['There'])
  place.network.set(true)
  const { problem } = await until(here, (state) => state.problem !== undefined)
  expect(problem?.code).toBe('ERR_CONFLICT')
  await expect.poll(async () => (await here.sessions.search(''))[0]?.title).toBe('There')
  await Promise.all([here.close(), there.close()])
})

it('gives a conversation its title that the service has listed by what was said in it', async () => {
  const [place, service] = [browser(), new TestService()]
  const chat = tab(place, service)
  const problems: unknown[] = []
  chat.conversation.subscribe(() => problems.push(chat.conversation.getSnapshot().problem))
  place.network.set(false)
  const id = await chat.conversation.create()
  await chat.conversation.send('By the window.')
  await service.list('ada', id)
  place.network.set(true)
  await until(chat, (state) => idle(state) && state.messages.length === 2)
  await expect.poll(() => service.titles('ada')).toEqual(['By the window.'])
  await expect.poll(async () => (await chat.sessions.search(''))[0]?.title).toBe('By the window.')
  expect(problems.filter(Boolean)).toEqual([])
  await chat.close()
})

it('says that a conversation was deleted elsewhere, and gives back what was not sent', async () => {
  const [place, service] = [browser(), new TestService()]
  const chat = tab(place, service)
  const id = await talked(chat, 'Hello.')
  place.network.set(false)
  expect(await chat.conversation.send('By the window.')).toBe(true)
  await service.delete('ada', id)
  place.network.set(true)
  const state = await until(chat, ({ problem }) => problem?.code === 'ERR_NOT_FOUND')
  expect(said(state)).toEqual(['user: By the window.'])
  const [{ message, delivery } = expect.fail()] = state.messages
  expect(delivery).toBe('failed')
  await chat.conversation.retry(message.id)
  await until(chat, (now) => idle(now) && now.messages.length === 2)
  expect(await service.titles('ada')).toEqual(['By the window.'])
  expect(await service.history('ada', id)).toHaveLength(2)
  await service.delete('ada', id)
  await chat.conversation.retry()
  const empty = await until(chat, ({ problem }) => problem?.code === 'ERR_NOT_FOUND')
  expect(empty.messages).toEqual([])
  expect(await until(chat, ({ isMissing }) => isMissing === 'deleted')).toMatchObject({
    session: { title: '' },
  })
  await chat.close()
})

it('says nothing of a message that is let go of before it is sent', async () => {
  const [place, service] = [browser(), new TestService()]
  const chat = tab(place, service)
  place.network.set(false)
  await chat.conversation.create()
  await chat.conversation.send('By the window.')
  await chat.conversation.drop(chat.conversation.getSnapshot().messages[0]?.message.id ?? '')
  await until(chat, ({ messages }) => messages.length === 0)
  place.network.set(true)
  await talked(chat, 'Hello.')
  expect(chat.conversation.getSnapshot().problem).toBeUndefined()
  await chat.close()
})

it('says nothing of a conversation that is deleted in two places', async () => {
  const service = new TestService()
  const place = browser()
  const chat = tab(place, service)
  const id = await talked(chat, 'Hello.')
  const problems: unknown[] = []
  chat.conversation.subscribe(() => problems.push(chat.conversation.getSnapshot().problem?.code))
  place.network.set(false)
  const { pending, arrival } = await chat.sessions.delete(id)
  expect(pending).toContain('store')
  await service.delete('ada', id)
  place.network.set(true)
  // Sent after what was refused.
  await talked(chat, 'Again.')
  await expect.poll(() => service.titles('ada')).toEqual(['Again.'])
  expect(await arrival).toBe(true)
  expect((await chat.sessions.search('')).map(({ title }) => title)).toEqual(['Again.'])
  expect(problems).not.toContain('ERR_CONFLICT')
  await chat.close()
})

it('sends what the page kept before it was synced', async () => {
  const [place, service] = [browser(), new TestService()]
  place.network.set(false)
  const plain = tab(place, service, { synced: false })
  const id = await plain.conversation.create()
  await plain.conversation.send('Kept before.')
  await plain.close()
  const chat = tab(place, service)
  await chat.conversation.open(id)
  expect(chat.conversation.getSnapshot()).toMatchObject({
    session: { title: 'Kept before.' },
    messages: [{ delivery: 'queued', message: { content: 'Kept before.' } }],
  })
  place.network.set(true)
  await until(chat, idle)
  expect(await service.history('ada', id)).toHaveLength(2)
  await chat.close()
})

it('says of what is forgotten without a network that the service still has it', async () => {
  const [place, service] = [browser(), new TestService()]
  const [first, second] = [await service.remember('ada', 'Tea.'), await service.remember('ada', 'Rain.')]
  const chat = tab(place, service)
  await talked(chat, 'Hello.')
  const panel = await chat.memory()
  await expect.poll(() => panel.facts()).toHaveLength(2)
  const there = await panel.forget(first)
  expect([there.confirmed, there.pending.includes('store')]).toEqual([['store'], false])
  place.network.set(false)
  service.isThere = false
  const here = await panel.forget(second)
  expect([here.confirmed, here.pending[0]]).toEqual([[], 'store'])
  service.isThere = true
  place.network.set(true)
  expect(await here.arrival).toBe(true)
  await chat.close()
})

it('says that the service is away while there is a network, and no more once it answers', async () => {
  const [place, service] = [browser(), new TestService()]
  const chat = tab(place, service)
  await talked(chat, 'Hello.')
  expect(chat.conversation.getSnapshot().storage).toBe('ok')
  service.isThere = false
  await chat.conversation.send('Are you there?')
  const down = await until(chat, ({ storage }) => storage === 'away')
  expect(down.messages.at(-1)?.delivery).toBe('queued')
  // Without a network that is what is said.
  place.network.set(false)
  await until(chat, ({ online }) => !online)
  service.isThere = true
  place.network.set(true)
  const up = await until(
    chat,
    (state) => state.storage === 'ok' && idle(state) && state.messages.length === 4,
  )
  expect(up.problem).toBe(undefined)
  await chat.close()
})

it('forgets a message without a network, which the service does once there is one', async () => {
  const [place, service] = [browser(), new TestService()]
  const chat = tab(place, service)
  const id = await talked(chat, 'SWORDFISH')
  place.network.set(false)
  service.isThere = false
  const [message] = chat.conversation.getSnapshot().messages
  const here = await chat.conversation.forgetMessage(message?.message.id ?? '')
  expect([here?.confirmed, here?.pending[0]]).toEqual([[], 'store'])
  expect(said(chat.conversation.getSnapshot())).toEqual(['assistant: Reply to SWORDFISH'])
  service.isThere = true
  place.network.set(true)
  await expect
    .poll(async () => (await service.history('ada', id)).map(({ role }) => role))
    .toEqual(['assistant'])
  await chat.close()
})

it('erases everything, here and at the service', async () => {
  const [place, service] = [browser(), new TestService()]
  const chat = tab(place, service)
  const id = await talked(chat, 'SWORDFISH')
  const memory = await chat.memory()
  await memory.eraseAll()
  expect(await chat.sessions.search('')).toEqual([])
  expect(await allTexts(place)).not.toContain('SWORDFISH')
  expect(await service.history('ada', id)).toEqual([])
  await chat.close()
})

it('sends nothing of a user by the token of another one, or of a guest', async () => {
  const [place, service] = [browser(), new TestService()]
  let token = tokenOf('ada')
  const chat = tab(place, service, { getToken: () => token })
  const id = await talked(chat, 'SWORDFISH')
  await chat.close()
  token = tokenOf('bob')
  const other = tab(place, service, { getToken: () => token })
  await other.conversation.open(id)
  await other.conversation.send('Whose is it?')
  const state = await until(other, ({ problem }) => problem !== undefined)
  expect(state.problem?.code).toBe('ERR_UNAUTHENTICATED')
  await other.close()
  const guest = tab(place, service, { getToken: undefined })
  await guest.conversation.open(id)
  place.network.set(true)
  await guest.conversation.retry()
  await until(guest, ({ problem }) => problem?.code === 'ERR_UNAUTHENTICATED')
  await guest.close()
  expect(service.asked).not.toContain('POST /v1/guests')
  expect(await service.history(tokenOf('bob'), id)).toEqual([])
  token = tokenOf('ada')
  const again = tab(place, service, { getToken: () => token })
  await again.conversation.open(id)
  await until(again, (now) => idle(now) && now.messages.length === 4)
  expect(await service.history(token, id)).toHaveLength(4)
  await again.close()
})

it('waits after a reload until the page says again who the user is', async () => {
  const [place, service] = [browser(), new TestService()]
  const chat = tab(place, service, { getToken: undefined })
  await chat.identify({ token: tokenOf('ada') })
  const id = await talked(chat, 'Hello.')
  await chat.close()
  const guests = (): number => service.asked.filter((line) => line === 'POST /v1/guests').length
  const before = guests()
  const again = tab(place, service, { getToken: undefined })
  await again.conversation.open(id)
  await again.conversation.send('And now?')
  await until(again, ({ problem }) => problem?.code === 'ERR_UNAUTHENTICATED')
  await again.identify({ token: tokenOf('ada') })
  expect(said(await until(again, (now) => idle(now) && now.messages.length === 4))).toHaveLength(4)
  expect(guests()).toBe(before)
  await again.close()
})

const FILES = [
  { name: 'seat.png', mediaType: 'image/png', bytes: pictureOf('image/png') },
  { name: 'ticket.pdf', mediaType: 'application/pdf', bytes: new TextEncoder().encode('a ticket') },
]
const AT_SERVICE = [
  `image/png: ${new TextDecoder().decode(pictureOf('image/png'))}`,
  'application/pdf: a ticket',
]

it('sends files with what is said, those too that were added without a network', async () => {
  const [place, service] = [browser(), new TestService()]
  const chat = tab(place, service)
  const id = await talked(chat, 'Hello.')
  expect(chat.conversation.getSnapshot().takesUploads).toBe(true)
  await chat.conversation.send('Both of them.', { uploads: FILES })
  await until(chat, (state) => idle(state) && state.messages.length === 4)
  expect(await service.files('ada', id)).toEqual(AT_SERVICE)
  place.network.set(false)
  service.isThere = false
  expect(await chat.conversation.send('', { uploads: FILES.slice(0, 1) })).toBe(true)
  await chat.close()
  const again = tab(place, service)
  await again.conversation.open(id)
  const { messages } = again.conversation.getSnapshot()
  expect(messages.at(-1)).toMatchObject({
    delivery: 'queued',
    message: { content: [{ type: 'media', mediaType: 'image/png', name: 'seat.png' }] },
  })
  service.isThere = true
  place.network.set(true)
  await until(again, (state) => idle(state) && state.messages.length === 6)
  expect(await service.files('ada', id)).toEqual(AT_SERVICE.slice(0, 1))
  await again.close()
})

it('has a message answered that was said during a reply, once the service has its files', async () => {
  const [place, service] = [browser(), new TestService()]
  let endOther = (): void => {}
  let push = (): void => {}
  const otherEnds = new Promise<void>((done) => (endOther = done))
  const pushes = new Promise<void>((done) => (push = done))
  const heard: string[] = []
  const fetch: typeof service.fetch = async (url, init) => {
    const { pathname } = new URL(url)
    heard.push(`${init.method ?? 'GET'} ${pathname.split('/').at(-1)}`)
    // Another run goes on, until the second message is here and cannot be sent.
    if (pathname.endsWith('/chat') && !heard.includes('GET current'))
      return Response.json(
        { code: 'ERR_CONFLICT', detail: 'a run goes on' },
        {
          status: 409,
          headers: { 'Content-Type': 'application/problem+json' },
        },
      )
    if (pathname.endsWith('/chat/current')) {
      await otherEnds
      return new Response('data: [DONE]\n\n', {
        headers: { 'Content-Type': 'text/event-stream', 'Plimsoll-Run': 'other' },
      })
    }
    if (pathname.endsWith('/push') && heard.includes('GET current')) await pushes
    return service.fetch(url, init)
  }
  const chat = place.open({
    src: SRC,
    synced: true,
    getToken: () => 'ada',
    platform: { fetch, WebSocket: undefined },
  })
  const id = await chat.conversation.create()
  await chat.conversation.send('Hello.')
  await expect.poll(() => heard).toContain('GET current')
  await chat.conversation.send('Both of them.', { uploads: FILES })
  expect(deliveries(chat)).toEqual(['sent', 'queued'])
  endOther()
  // Where it were asked for unsent, it would be by now.
  await new Promise((resolve) => setTimeout(resolve, 50))
  push()
  await until(chat, (state) => idle(state) && state.messages.length === 3)
  expect(service.posted).toEqual([])
  expect(await service.files('ada', id)).toEqual(AT_SERVICE)
  expect(heard.filter((line) => line === 'POST chat')).toHaveLength(2)
  await chat.close()
})

it('says again what was refused with its files', async () => {
  const [place, service] = [browser(), new TestService()]
  const chat = tab(place, service)
  const id = await talked(chat, 'Hello.')
  service.refuses = (text) => text.includes('Both')
  await chat.conversation.send('Both of them.', { uploads: FILES })
  const { messages } = await until(chat, (state) =>
    state.messages.some(({ delivery }) => delivery === 'failed'),
  )
  service.refuses = () => false
  await chat.conversation.retry(messages.at(-1)?.message.id)
  await until(chat, (state) => idle(state) && state.messages.length === 4)
  expect(await service.files('ada', id)).toEqual(AT_SERVICE)
  await chat.close()
})

it('keeps what was said with files where the service has its text alone, and says it again', async () => {
  const [place, service] = [browser(), new TestService()]
  const chat = tab(place, service)
  const id = await talked(chat, 'Hello.')
  place.network.set(false)
  await chat.conversation.send('Both of them.', { uploads: FILES })
  const message = chat.conversation.getSnapshot().messages.at(-1)?.message
  // As an app does that asks for the answer itself.
  await service.say('ada', id, 'Both of them.', { id: message?.id })
  place.network.set(true)
  const isRefused = ({ delivery }: { readonly delivery: string }): boolean => delivery === 'failed'
  const { messages } = await until(
    chat,
    (state) => state.messages.length === 5 && state.messages.some(isRefused),
  )
  expect(
    messages.map(({ message: { content }, delivery, problem }) => [content, delivery, problem?.code]),
  ).toEqual([
    ['Hello.', 'sent', undefined],
    ['Reply to Hello.', 'sent', undefined],
    ['Both of them.', 'sent', undefined],
    ['Reply to Both of them.', 'sent', undefined],
    ['Both of them.', 'failed', 'ERR_CONFLICT'],
  ])
  await chat.conversation.retry(messages.at(-1)?.message.id)
  await until(chat, (state) => idle(state) && state.messages.every(({ delivery }) => delivery === 'sent'))
  expect(await service.files('ada', id)).toEqual(AT_SERVICE)
  await chat.close()
})

it('signs in nobody while something of the guest is refused, which would be lost', async () => {
  const [place, service] = [browser(), new TestService()]
  const chat = tab(place, service, { getToken: undefined })
  await talked(chat, 'As a guest.')
  service.refuses = (text) => text.includes('Long')
  await chat.conversation.send('Long.')
  const { messages } = await until(chat, (state) =>
    state.messages.some(({ delivery }) => delivery === 'failed'),
  )
  await expect(chat.identify({ token: tokenOf('ada') })).rejects.toMatchObject({ code: 'ERR_STORAGE' })
  await chat.conversation.drop(messages.at(-1)?.message.id ?? '')
  await chat.identify({ token: tokenOf('ada') })
  expect(said(await until(chat, idle))).toHaveLength(2)
  await chat.close()
})

it('says without a network, and after a reload, that a script answers there, until one does no more', async () => {
  const [place, service] = [browser(), new TestService()]
  const model = { id: 'demo', isDemo: true }
  service.isDemo = true
  const chat = tab(place, service)
  await talked(chat, 'Hello.')
  await until(chat, (state) => state.model !== undefined)
  await chat.close()
  service.isThere = false
  place.network.set(false)
  const again = tab(place, service)
  await again.conversation.create()
  expect(again.conversation.getSnapshot().model).toEqual(model)
  await again.close()
  service.isDemo = false
  service.isThere = true
  place.network.set(true)
  const third = tab(place, service)
  await third.conversation.create()
  await until(third, (state) => state.model === undefined)
  await third.close()
})

it('says that there is no connection where a request is asked for that only the service makes', async () => {
  const [place, service] = [browser(), new TestService()]
  place.network.set(false)
  const chat = tab(place, service)
  await chat.conversation.create()
  expect(await chat.conversation.inspected()).toBeUndefined()
  await chat.conversation.send('Hello.')
  await expect(chat.conversation.inspected()).rejects.toMatchObject({ code: 'ERR_OFFLINE' })
  place.network.set(true)
  await until(chat, idle)
  expect(await chat.conversation.inspected()).toMatchObject({ home: 'edge' })
  await chat.close()
})

it('is refused without a service', () => {
  expect(() => browser().open({ synced: true })).toThrow(/synced needs src/u)
})

it.each(['waits', 'is refused'])('is not called after a message that %s and is dropped', async (how) => {
  const [place, service] = [browser(), new TestService()]
  const chat = tab(place, service)
  await talked(chat, 'Hello.')
  const id = await chat.conversation.create()
  const isRefused = how === 'is refused'
  service.refuses = (text) => text.includes('"role":"user"')
  service.isThere = isRefused
  place.network.set(isRefused)
  await chat.conversation.send('My word is SWORDFISH')
  const isSo = isRefused ? 'failed' : 'queued'
  const { messages } = await until(chat, (state) => state.messages.at(-1)?.delivery === isSo)
  await expect.poll(() => chat.sessions.getSnapshot().sessions[0]?.title).toBe('My word is SWORDFISH')
  await chat.conversation.drop(messages[0]?.message.id ?? '')
  await expect.poll(() => chat.sessions.getSnapshot().sessions[0]?.title).toBe('')
  const { session } = await until(chat, (state) => state.messages.length === 0)
  expect(session).toMatchObject({ sessionId: id, title: '' })
  service.isThere = true
  place.network.set(true)
  await expect.poll(() => service.titles('ada')).toEqual(['Hello.', ''])
  expect(await allTexts(place)).not.toContain('SWORDFISH')
  service.refuses = () => false
  await chat.conversation.send('Which trains are there?')
  await until(chat, idle)
  await expect.poll(() => service.titles('ada')).toContain('Which trains are there?')
  await chat.close()
})

it('shows a first message that is refused once, and says of no conversation that it was deleted', async () => {
  const [place, service] = [browser(), new TestService()]
  const chat = tab(place, service)
  const told: string[] = []
  chat.onEvent((event) => {
    if (event.type === 'error') told.push(event.problem.code)
  })
  await talked(chat, 'Hello.')
  await chat.conversation.create()
  service.refuses = (text) => text.includes('"role":"user"')
  // What showed is read again while it is sent.
  place.network.set(true)
  await chat.conversation.send('My word is SWORDFISH')
  await until(chat, ({ messages }) => messages.at(-1)?.delivery === 'failed')
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(chat.conversation.getSnapshot().messages).toMatchObject([
    { delivery: 'failed', problem: { code: 'ERR_ENTRY_TOO_LARGE' } },
  ])
  expect(told).toEqual([])
  await chat.close()
})
