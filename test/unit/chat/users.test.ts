/** What one user of the widget said and nobody sent is not another one's, nor lost. */
import { IDBDatabase as FakeDatabase } from 'fake-indexeddb'
import { expect, it, vi } from 'vitest'
import type { Chat } from '../../../src/chat/open-chat.ts'
import type { ChatPlatform, ChatSettings, ChatStorage } from '../../../src/chat/settings.ts'
import { idle, said, talked, until } from './states.ts'
import { allTexts, type Browser, browser, tokenOf } from './support.ts'
import { absent, TestService } from './test-service.ts'

const SRC = 'https://edge.test'

/** Tells what was said to a service: by whom, and in which session. */
function listening() {
  const heard: { readonly by: string; readonly sessionId: string; readonly text: string }[] = []
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const request = new Request(url, init)
    const { pathname } = new URL(url)
    const [, sessionId = ''] = /^\/v1\/sessions\/([^/]+)\/messages$/.exec(pathname) ?? []
    if (request.method === 'POST' && pathname === '/v1/guests')
      return Response.json({ token: 'guest', userId: 'guest', expiresAt: 0 })
    if (request.method === 'POST' && sessionId !== '') {
      const by = request.headers.get('authorization')?.replace('Bearer ', '') ?? ''
      heard.push({ by, sessionId, text: await request.text() })
      return Response.json({ messages: [] })
    }
    if (pathname === '/v1/me/claim') return Response.json({ sessions: [], facts: 0 })
    if (request.method === 'POST' && pathname === '/v1/sessions') return Response.json({ sessionId: '' })
    return absent()
  }
  return {
    fetch,
    saidBy: (by: string): readonly string[] =>
      heard.filter((one) => one.by === by).map(({ text }) => JSON.stringify(text)),
  }
}

function plainTab(place: Browser, fetch: TestService['fetch'], more: ChatSettings = {}): Chat {
  return place.open({ src: SRC, ...more, platform: { fetch, WebSocket: undefined } })
}

it('sends what waits by the token of who said it alone, and shows it to nobody else', async () => {
  const [place, service] = [browser(), listening()]
  let token = tokenOf('ada')
  const getToken = (): string => token
  const first = plainTab(place, service.fetch, { getToken })
  await first.sessions.search('')
  place.network.set(false)
  const id = await first.conversation.create()
  expect(await first.conversation.send('SWORDFISH')).toBe(true)
  await first.close()
  token = tokenOf('bob')
  const other = plainTab(place, service.fetch, { getToken })
  await other.sessions.search('')
  place.network.set(true)
  await other.conversation.create()
  expect(await other.conversation.send('Of Bob.')).toBe(true)
  await expect.poll(() => service.saidBy(tokenOf('bob'))).toHaveLength(1)
  await other.conversation.open(id)
  expect(said(other.conversation.getSnapshot())).toEqual([])
  await other.close()
  expect(await allTexts(place)).toContain('SWORDFISH')
  token = tokenOf('ada')
  const again = plainTab(place, service.fetch, { getToken })
  await expect.poll(() => service.saidBy(tokenOf('ada')).join()).toContain('SWORDFISH')
  await again.close()
  expect(service.saidBy(tokenOf('bob')).join()).not.toContain('SWORDFISH')
  expect(await allTexts(place)).not.toContain('SWORDFISH')
})

it('asks the page whose a message is when it is said', async () => {
  const [place, service] = [browser(), listening()]
  let token = tokenOf('ada')
  const chat = plainTab(place, service.fetch, { getToken: () => token })
  await chat.sessions.search('')
  place.network.set(false)
  await chat.conversation.create()
  expect(await chat.conversation.send('Of Ada.')).toBe(true)
  token = tokenOf('bob')
  await chat.conversation.create()
  expect(await chat.conversation.send('Of Bob.')).toBe(true)
  place.network.set(true)
  await expect.poll(() => service.saidBy(tokenOf('bob'))).toHaveLength(1)
  expect(service.saidBy(tokenOf('ada'))).toEqual([])
  token = tokenOf('ada')
  await chat.sessions.search('')
  await expect.poll(() => service.saidBy(token)).toHaveLength(1)
  expect(service.saidBy(tokenOf('bob'))).toHaveLength(1)
  await chat.close()
})

it('keeps a message though the page does not say whose it is', async () => {
  const place = browser()
  const chat = place.open({
    src: SRC,
    getToken: () => new Promise<string>(() => {}),
    platform: { fetch: listening().fetch, WebSocket: undefined, sleep: async () => {} },
  })
  await chat.conversation.create()
  expect(await chat.conversation.send('Hello.')).toBe(true)
  await chat.close()
})

it('sends what a user said by no guest’s token, after a reload', async () => {
  const [place, service] = [browser(), listening()]
  const chat = plainTab(place, service.fetch)
  await chat.identify({ token: tokenOf('ada') })
  await chat.sessions.search('')
  place.network.set(false)
  await chat.conversation.create()
  await chat.conversation.send('Of Ada.')
  await chat.close()
  place.network.set(true)
  const again = plainTab(place, service.fetch)
  await again.conversation.create()
  await again.conversation.send('Of Ada, too.')
  await again.sessions.search('')
  await again.identify({ token: tokenOf('ada') })
  await expect.poll(() => service.saidBy(tokenOf('ada'))).toHaveLength(2)
  expect(service.saidBy('guest')).toEqual([])
  await again.close()
})

it('finds what waits again after a sign-out, and tells a guest that it would be lost', async () => {
  const [place, service] = [browser(), listening()]
  const chat = plainTab(place, service.fetch, { getToken: () => tokenOf('ada') })
  await chat.sessions.search('')
  place.network.set(false)
  await chat.conversation.create()
  await chat.conversation.send('Of Ada.')
  expect(await chat.signOut()).toEqual({ done: true, lost: [] })
  await chat.close()
  const guest = plainTab(place, service.fetch)
  const sessionId = await guest.conversation.create()
  await guest.conversation.send('SWORDFISH')
  const lost = [{ sessionId, waiting: 1, refused: 0 }]
  expect(await guest.signOut()).toEqual({ done: false, lost })
  expect(await guest.signOut({ force: true })).toEqual({ done: true, lost: [] })
  // As to a new visitor, for whom nothing is opened yet.
  expect(guest.conversation.getSnapshot()).toMatchObject({ session: undefined, loaded: true, messages: [] })
  expect(await allTexts(place)).not.toContain('SWORDFISH')
  await guest.close()
  place.network.set(true)
  const again = plainTab(place, service.fetch, { getToken: () => tokenOf('ada') })
  await expect.poll(() => service.saidBy(tokenOf('ada'))).toHaveLength(1)
  await again.close()
})

it('does nothing where it is only asked what signing out would do', async () => {
  const [place, service] = [browser(), listening()]
  const guestEnd = 4_102_444_800_000
  const token = `x.${btoa(JSON.stringify({ sub: 'guest', exp: guestEnd / 1_000 }))}.x`
  const fetch = async (url: string, init: RequestInit): Promise<Response> =>
    url.endsWith('/guests')
      ? Response.json({ token, userId: 'guest', expiresAt: guestEnd })
      : service.fetch(url, init)
  const chat = plainTab(place, fetch)
  await chat.sessions.search('')
  const options = { erase: true, force: true, dryRun: true }
  expect(await chat.signOut(options)).toEqual({ done: false, lost: [], guestEnd })
  expect(chat.guestEnd()).toBe(guestEnd)
  place.network.set(false)
  const sessionId = await chat.conversation.create()
  await chat.conversation.send('SWORDFISH')
  const told = { done: false, lost: [{ sessionId, waiting: 1, refused: 0 }], guestEnd }
  expect(await chat.signOut(options)).toEqual(told)
  expect(said(chat.conversation.getSnapshot())).toEqual(['user: SWORDFISH'])
  expect(await allTexts(place)).toContain('SWORDFISH')
  expect(await chat.signOut({ erase: true })).toEqual(told)
  await chat.close()
})

it.each([{ src: undefined }, { src: SRC }, { src: SRC, synced: true }])(
  'tells that what stands in a field would be lost: $src, synced: $synced',
  async (settings) => {
    const [place, service] = [browser(), new TestService()]
    const { fetch } = service
    const getToken = () => tokenOf('ada')
    const more = settings.src === undefined ? { model: () => 'Yes.' } : { getToken, ...settings }
    const chat = place.open({ ...more, platform: { fetch, WebSocket: undefined } })
    await chat.sessions.search('')
    place.network.set(false)
    const sessionId = await chat.conversation.create()
    await chat.conversation.send('Of Ada.')
    await chat.conversation.create()
    const shown = chat.conversation.getSnapshot().session
    const home = shown?.home
    // As the field does.
    chat.drafts.subscribe((event) => {
      if (event === 'asked') chat.drafts.write(`${home}/${sessionId}`, 'Half a')
    })
    await (await chat.added()).write('new', { files: [], pasted: ['SWORDFISH'] })
    const draft = { waiting: 0, refused: 0, draft: true }
    const told = await chat.signOut({ dryRun: true })
    const [one, shared] = settings.synced ? [1, 2] : [0, 0]
    const lost = [
      { sessionId, ...draft, waiting: one },
      { ...draft, waiting: shared },
    ]
    expect(told).toEqual({ done: false, lost })
    expect(await chat.signOut()).toEqual(told)
    expect(chat.conversation.getSnapshot().session?.sessionId).toBe(shown?.sessionId)
    expect(await allTexts(place)).toContain('SWORDFISH')
    expect(await chat.signOut({ force: true })).toEqual({ done: true, lost: [] })
    expect(await allTexts(place)).not.toContain('SWORDFISH')
    await chat.close()
  },
)

it('tells who erases this browser what of others would be lost', async () => {
  const [place, service] = [browser(), listening()]
  let token = tokenOf('ada')
  const chat = plainTab(place, service.fetch, { getToken: () => token })
  await chat.sessions.search('')
  place.network.set(false)
  const sessionId = await chat.conversation.create()
  await chat.conversation.send('Of Ada.')
  token = tokenOf('bob')
  await chat.sessions.search('')
  expect(await chat.signOut({ erase: true })).toMatchObject({ done: false, lost: [{ sessionId }] })
  await chat.close()
})

it('ends what shows at a sign-out that cannot clear all, and clears it when it is asked again', async () => {
  const place = browser()
  const { factory } = place
  let isBroken = true
  const indexedDB = new Proxy(factory, {
    get(target, key) {
      if (key === 'deleteDatabase' && isBroken)
        return () => {
          throw new DOMException('no', 'UnknownError')
        }
      const value = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const chat = place.open({ model: async () => 'Yes.', platform: { indexedDB } })
  await chat.conversation.create()
  await chat.conversation.send('Of Ada.')
  await chat.identify({ userId: 'ada' })
  await (await chat.added()).write('new', { files: [], pasted: ['SWORDFISH'] })
  // A place that could not be noted.
  place.platform.storage?.removeItem('plimsoll-chat/added')
  await expect(chat.signOut()).rejects.toMatchObject({ code: 'ERR_STORAGE' })
  expect(place.platform.storage?.getItem('plimsoll-chat/identity')).toBeNull()
  expect(chat.conversation.getSnapshot().session).toBeUndefined()
  await chat.sessions.search('')
  expect(chat.sessions.getSnapshot().sessions).toEqual([])
  isBroken = false
  expect(await chat.signOut()).toEqual({ done: true, lost: [] })
  expect(await allTexts(place)).not.toContain('SWORDFISH')
  await chat.close()
})

it.each([false, true])('signs out again after it has failed half-way; synced: %s', async (synced) => {
  const [place, service] = [browser(), new TestService()]
  let isBroken = false
  const { transaction } = FakeDatabase.prototype
  FakeDatabase.prototype.transaction = function (...how) {
    if (isBroken && /^plimsoll-chat\/[0-9a-f-]{36}$/.test(this.name))
      throw new DOMException('no', 'UnknownError')
    return transaction.apply(this, how)
  }
  try {
    const chat = plainTab(place, service.fetch, { synced, model: async () => 'Yes.' })
    await chat.sessions.search('')
    await chat.conversation.create({ home: 'local' })
    await chat.conversation.send('SWORDFISH')
    await until(chat, idle)
    isBroken = true
    const options = { erase: true, force: true }
    await expect(chat.signOut(options)).rejects.toMatchObject({ code: 'ERR_STORAGE' })
    isBroken = false
    expect(await chat.signOut(options)).toEqual({ done: true, lost: [] })
    expect(await allTexts(place)).not.toContain('SWORDFISH')
    await chat.close()
  } finally {
    FakeDatabase.prototype.transaction = transaction
  }
})

it.each([{ src: undefined }, { src: SRC }, { src: SRC, synced: true }])(
  'signs out once where it is asked twice at once: $src, synced: $synced',
  async (settings) => {
    const [place, { fetch }] = [browser(), new TestService()]
    const chat = place.open({
      ...settings,
      model: async () => 'Yes.',
      platform: { fetch, WebSocket: undefined },
    })
    await chat.sessions.search('')
    await chat.conversation.create({ home: 'local' })
    await chat.conversation.send('SWORDFISH')
    await until(chat, idle)
    const twice = [chat.signOut({ erase: true, force: true }), chat.signOut({ erase: true })]
    const done = { done: true, lost: [] }
    expect(await Promise.all(twice)).toEqual([done, done])
    expect(await allTexts(place)).not.toContain('SWORDFISH')
    await chat.close()
  },
)

it('lets a reply go on where a sign-out does nothing', async () => {
  let goOn = (): void => {}
  const held = new Promise<void>((done) => (goOn = done))
  const chat = browser().open({
    async *model() {
      yield 'one '
      await held
      yield 'two'
    },
  })
  await chat.conversation.create()
  await chat.conversation.send('Hello.')
  await until(chat, ({ reply }) => reply?.text === 'one ')
  chat.drafts.write('new', 'Half a')
  expect(await chat.signOut()).toMatchObject({ done: false })
  goOn()
  expect(said(await until(chat, idle))).toEqual(['user: Hello.', 'assistant: one two'])
  await chat.close()
})

it('shows their conversations of this browser to who comes back at a page with an edge', async () => {
  const [place, service] = [browser(), new TestService()]
  const open = () =>
    plainTab(place, service.fetch, {
      synced: true,
      model: async () => 'Yes.',
      getToken: () => tokenOf('ada'),
    })
  const chat = open()
  await chat.identify({ userId: 'ada' })
  await chat.conversation.create({ home: 'local' })
  await chat.conversation.send('Of Ada.')
  await until(chat, idle)
  await chat.signOut()
  await chat.close()
  const again = open()
  await again.identify({ userId: 'ada' })
  expect(await again.sessions.search('')).toMatchObject([{ home: 'local', title: 'Of Ada.' }])
  await again.signOut({ erase: true })
  expect(place.platform.storage?.getItem('plimsoll-chat/local')).toBeNull()
  await again.close()
})

it('says what somebody typed by the token of nobody else, and keeps it for them', async () => {
  const [place, service] = [browser(), listening()]
  let token = tokenOf('ada')
  const chat = plainTab(place, service.fetch, { getToken: () => token })
  await chat.sessions.search('')
  place.network.set(false)
  await chat.conversation.create()
  chat.drafts.write('new', 'SWORDFISH')
  token = tokenOf('bob')
  expect(await chat.conversation.send('SWORDFISH', { by: chat.drafts.own().by })).toBe(false)
  expect(chat.conversation.getSnapshot().problem?.code).toBe('ERR_UNAUTHENTICATED')
  expect(await allTexts(place)).not.toContain('SWORDFISH')
  expect(chat.drafts.read('new')).toBe('')
  token = tokenOf('ada')
  await chat.sessions.search('')
  expect(chat.drafts.read('new')).toBe('SWORDFISH')
  await chat.close()
})

it('shows no draft of an earlier page before the token says whose it is', async () => {
  const [place, service] = [browser(), listening()]
  const open = (getToken: () => string | Promise<string>) => plainTab(place, service.fetch, { getToken })
  const first = open(() => tokenOf('ada'))
  await first.sessions.search('')
  first.drafts.write('new', 'of Ada')
  await (await first.added()).write('new', { files: [], pasted: ['of Ada'] })
  await first.close()
  const late = open(() => new Promise(() => {}))
  expect([late.drafts.read('new'), late.hasAdded('new')]).toEqual(['', false])
  await late.close()
  for (const [user, text] of [
    ['bob', ''],
    ['ada', 'of Ada'],
  ] as const) {
    const chat = open(() => tokenOf(user))
    const events: string[] = []
    chat.drafts.subscribe((event) => events.push(event))
    await chat.sessions.search('')
    expect([chat.drafts.read('new'), chat.hasAdded('new'), events]).toEqual([text, text !== '', ['named']])
    await chat.close()
  }
})

it('forgets the draft of a conversation that is deleted, and shows it no more', async () => {
  const chat = browser().open({ model: async () => 'Yes.' })
  const id = await chat.conversation.create()
  await chat.conversation.send('Hello.')
  const events: string[] = []
  chat.drafts.subscribe((event) => {
    events.push(event)
    expect(chat.conversation.getSnapshot().session?.sessionId).toBe(id)
  })
  await chat.sessions.search('')
  await chat.sessions.delete(id)
  expect(events).toEqual(['gone'])
  await chat.close()
})

it('forgets nothing of the conversation of the same id in another home', async () => {
  const [place, service] = [browser(), new TestService()]
  const chat = place.open({
    ...{ src: SRC, synced: true, model: async () => 'Yes.', getToken: () => 'ada' },
    platform: { fetch: service.fetch, WebSocket: undefined },
  })
  const id = await chat.conversation.create({ home: 'local' })
  await chat.conversation.send('Hello.')
  for (const home of ['local', 'edge']) {
    chat.drafts.write(`${home}/${id}`, home)
    await (await chat.added()).write(`${home}/${id}`, { files: [], pasted: [home] })
  }
  const draft = { sessionId: id, waiting: 0, refused: 0, draft: true }
  expect((await chat.signOut({ dryRun: true })).lost).toEqual([draft, draft])
  await chat.sessions.search('')
  const unasked = `plimsoll-chat/unasked/${SRC}`
  place.platform.storage?.setItem(unasked, JSON.stringify([[id, 'mark']]))
  await chat.sessions.delete(id, { home: 'local' })
  expect(place.platform.storage?.getItem(unasked)).toContain(id)
  const left = ['local', 'edge'].map((home) => [
    chat.drafts.read(`${home}/${id}`),
    chat.hasAdded(`${home}/${id}`),
  ])
  expect(left).toEqual([
    ['', false],
    ['edge', true],
  ])
  await chat.close()
})

it('shows nothing of who signed out in another tab, at once', async () => {
  let forgotten = (): void => {}
  const place = browser()
  const chat = place.open({
    model: async () => 'Yes.',
    platform: {
      onForgotten: (key, listener) => {
        if (key.endsWith('/identity')) forgotten = listener
        return () => {}
      },
    },
  })
  await chat.conversation.create()
  await chat.conversation.send('Of Ada.')
  forgotten()
  expect(chat.conversation.getSnapshot()).toMatchObject({ session: undefined, messages: [] })
  // As to a new visitor, who may choose where the next one is kept.
  const { takesUploads } = await until(chat, ({ session, loaded }) => session?.home === 'local' && loaded)
  expect(takesUploads).toBe(true)
  await chat.close()
})

it('forgets what is in the field of each tab where all is erased in one', async () => {
  const place = browser({ hears: true })
  const [chat, other] = [place.open({ model: () => 'Yes.' }), place.open({ model: () => 'Yes.' })]
  await chat.conversation.create()
  await chat.conversation.send('Hello.')
  const events: string[] = []
  other.drafts.subscribe((event) => events.push(event))
  const writing = other.drafts.own()
  await (await chat.memory()).eraseAll()
  await expect.poll(() => events).toEqual(['gone'])
  // What was about to be kept.
  writing.write('new', 'SWORDFISH')
  expect(other.drafts.read('new')).toBe('')
  await Promise.all([chat.close(), other.close()])
})

it('shows the newest conversation to who signs in where nothing was said, unless something is typed', async () => {
  const chat = browser().open({ model: () => 'Yes.' })
  await chat.identify({ userId: 'ada' })
  const newest = await chat.conversation.create()
  await chat.conversation.send('Of Ada.')
  await until(chat, idle)
  for (const typed of ['Half a', '']) {
    await chat.signOut()
    const empty = await chat.conversation.create()
    chat.drafts.write('new', typed)
    await chat.identify({ userId: 'ada' })
    expect(chat.conversation.getSnapshot().session?.sessionId).toBe(typed === '' ? newest : empty)
    chat.drafts.write('new', '')
  }
  await chat.close()
})

it.each([false, true])(
  'keeps in the field what a guest’s second tab says meanwhile; synced: %s',
  async (synced) => {
    const [place, service] = [browser(), new TestService()]
    let claim = (): void => {}
    let isAsked = false
    const claimed = new Promise<void>((done) => (claim = done))
    const fetch = async (url: string, init: RequestInit): Promise<Response> => {
      if (url.endsWith('/claim')) {
        isAsked = true
        await claimed
      }
      return service.fetch(url, init)
    }
    const open = (): Chat => plainTab(place, fetch, { synced })
    const [chat, other] = [open(), open()]
    await chat.sessions.search('')
    await other.conversation.create()
    const signedIn = chat.identify({ token: tokenOf('ada') })
    await expect.poll(() => isAsked).toBe(true)
    const sent = other.conversation.send('SWORDFISH')
    claim()
    await signedIn
    expect(await sent).toBe(false)
    expect(other.conversation.getSnapshot().problem?.code).toBe('ERR_UNAUTHENTICATED')
    expect(await allTexts(place)).not.toContain('SWORDFISH')
    expect(service.asked.filter((line) => line === 'POST /v1/guests')).toHaveLength(1)
    // What the page does in the other tab, too.
    await other.identify({ token: tokenOf('ada') })
    await other.conversation.create()
    expect(await other.conversation.send('SWORDFISH')).toBe(true)
    await Promise.all([chat.close(), other.close()])
  },
)

it.each([false, true])(
  'keeps nothing that a second tab says during a sign-out; synced: %s',
  async (synced) => {
    const [place, service] = [browser(), new TestService()]
    let end = (): void => {}
    let isAsked = false
    const ended = new Promise<void>((done) => (end = done))
    const fetch = async (url: string, init: RequestInit): Promise<Response> => {
      if (url.endsWith('/v1/me') && init.method === 'DELETE') {
        isAsked = true
        await ended
      } else if (isAsked) throw new TypeError('there is no network')
      return service.fetch(url, init)
    }
    const open = (): Chat => plainTab(place, fetch, { synced })
    const [chat, other] = [open(), open()]
    await chat.sessions.search('')
    await other.conversation.create()
    const signedOut = chat.signOut({ erase: true })
    await expect.poll(() => isAsked).toBe(true)
    const sent = other.conversation.send('SWORDFISH')
    await new Promise((done) => setTimeout(done, 50))
    end()
    expect(await signedOut).toEqual({ done: true, lost: [] })
    expect(await sent).toBe(false)
    expect(await allTexts(place)).not.toContain('SWORDFISH')
    await Promise.all([chat.close(), other.close()])
  },
)

it.each([false, true])(
  'leaves nothing here though a service takes a guest’s sign-out and never answers; synced: %s',
  async (synced) => {
    const [place, service] = [browser(), new TestService()]
    let isSilent = false
    const asked: string[] = []
    const fetch = async (url: string, init: RequestInit): Promise<Response> => {
      if (!isSilent) return service.fetch(url, init)
      const by = new Request(url, init).headers.get('authorization')
      asked.push(`${init.method} ${new URL(url).pathname} ${by}`)
      return new Promise((_, reject) => {
        init.signal?.addEventListener('abort', () => reject(init.signal?.reason))
      })
    }
    const platform: Partial<ChatPlatform> = { fetch, WebSocket: undefined }
    const chat = place.open({ src: SRC, synced, model: async () => 'Yes.', platform })
    await chat.sessions.search('')
    await expect.poll(() => place.platform.storage?.getItem('plimsoll-chat/identity')).toContain('guest-1')
    await chat.conversation.create({ home: 'local' })
    await chat.conversation.send('SWORDFISH')
    await until(chat, idle)
    await chat.conversation.create()
    chat.drafts.write('new', 'SWORDFISH')
    isSilent = true
    const signedOut = chat.signOut({ erase: true, force: true })
    await expect.poll(() => asked, { timeout: 5_000 }).toContain('DELETE /v1/me Bearer guest-1')
    const left = `${await allTexts(place)} ${place.platform.storage?.getItem('plimsoll-chat/drafts')}`
    expect(left).not.toMatch(/SWORDFISH|guest-1/)
    expect(await signedOut).toEqual({ done: true, lost: [] })
    await chat.close()
  },
)

it.each([{ src: SRC, synced: true }, { src: undefined }])(
  'leaves nothing of who signed in where a tab that was opened before signs out: $src',
  async (settings) => {
    const [place, { fetch }] = [browser(), new TestService()]
    const open = (): Chat =>
      place.open({ ...settings, model: () => 'Yes.', platform: { fetch, WebSocket: undefined } })
    const [chat, other] = [open(), open()]
    await talked(chat, 'As a guest.')
    await other.sessions.search('')
    await chat.identify({ token: tokenOf('ada') })
    await talked(chat, 'SWORDFISH')
    const { factory } = place
    // A database that is open in a tab is deleted once that one is closed, if ever.
    const deletion = vi.spyOn(factory, 'deleteDatabase').mockImplementation(() => {
      const told = {} as IDBOpenDBRequest
      queueMicrotask(() => told.onblocked?.call(told, new Event('blocked') as IDBVersionChangeEvent))
      return told
    })
    expect(await other.signOut({ erase: true, force: true })).toEqual({ done: true, lost: [] })
    deletion.mockRestore()
    expect(await allTexts(place)).not.toContain('SWORDFISH')
    await Promise.all([chat.close(), other.close()])
  },
)

it.each([false, true])(
  'takes what a guest is given after the sign-out for nobody’s who comes next; synced: %s',
  async (synced) => {
    const [place, service] = [browser(), new TestService()]
    let give = (): void => {}
    const given = new Promise<void>((done) => (give = done))
    const fetch = async (url: string, init: RequestInit): Promise<Response> => {
      const isHeld = url.endsWith('/guests') && !service.asked.includes('POST /v1/guests')
      const answer = await service.fetch(url, init)
      if (isHeld) await given
      return answer
    }
    const chat = plainTab(place, fetch, { synced })
    await chat.conversation.create()
    await chat.conversation.send('SWORDFISH')
    await expect.poll(() => service.asked).toContain('POST /v1/guests')
    expect(await chat.signOut({ erase: true, force: true })).toEqual({ done: true, lost: [] })
    const next = plainTab(place, fetch, { synced })
    const searched = next.sessions.search('')
    give()
    await searched
    await expect.poll(() => place.platform.storage?.getItem('plimsoll-chat/identity')).toContain('guest-2')
    expect(await service.titles('guest-1')).toEqual([])
    await Promise.all([chat.close(), next.close()])
  },
)

it.each([false, true])(
  'takes whom a token names that comes after the sign-out for nobody who comes next; synced: %s',
  async (synced) => {
    const [place, service] = [browser(), new TestService()]
    let asked: (() => void)[] | undefined
    const getToken = async (): Promise<string> => {
      await new Promise<void>((done) => (asked ? asked.push(done) : done()))
      return tokenOf('ada@')
    }
    const identity = (): string => place.platform.storage?.getItem('plimsoll-chat/identity') ?? ''
    const chat = plainTab(place, service.fetch, { synced, getToken })
    await chat.sessions.search('')
    await expect.poll(identity).toContain('ada@')
    const late: (() => void)[] = []
    asked = late
    place.network.set(true)
    void chat.sessions.search('').catch(() => {})
    await expect.poll(() => late.length).toBeGreaterThan(0)
    expect(await chat.signOut({ force: true })).toEqual({ done: true, lost: [] })
    const next = place.open()
    await next.sessions.search('')
    for (const give of late) give()
    await new Promise((done) => setTimeout(done, 20))
    expect(identity()).not.toContain('ada@')
    await Promise.all([chat.close(), next.close()])
  },
)

it.each([{ src: undefined }, { src: SRC, synced: true }])(
  'gives what a guest has to one of two users who sign in at once: $src',
  async (settings) => {
    const [place, { fetch }] = [browser(), new TestService()]
    const open = (): Chat =>
      place.open({ ...settings, model: () => 'Yes.', platform: { fetch, WebSocket: undefined } })
    const [chat, other] = [open(), open()]
    await talked(chat, 'As a guest.')
    await other.sessions.search('')
    const both = [chat.identify({ token: tokenOf('ada') }), other.identify({ token: tokenOf('bob') })]
    const ends = await Promise.allSettled(both)
    // Either may be the first.
    const won = ends.findIndex(({ status }) => status === 'fulfilled')
    const [first, second, next] =
      won === 0 ? ([chat, other, 'bob'] as const) : ([other, chat, 'ada'] as const)
    expect(ends[1 - won]).toMatchObject({ status: 'rejected', reason: { code: 'ERR_INVALID_ARGUMENT' } })
    expect(await first.sessions.search('')).toMatchObject([{ title: 'As a guest.' }])
    await first.signOut()
    await second.identify({ token: tokenOf(next) })
    expect(await second.sessions.search('')).toEqual([])
    await Promise.all([chat.close(), other.close()])
  },
)

it('comes to an end of each of several sign-ins and sign-outs of one tab at once', async () => {
  const [place, { fetch }] = [browser(), new TestService()]
  const [chat, other] = [0, 1].map(() =>
    place.open({ src: SRC, synced: true, platform: { fetch, WebSocket: undefined } }),
  ) as [Chat, Chat]
  await talked(chat, 'As a guest.')
  await other.sessions.search('')
  for (let times = 0; times < 5; times++) {
    const token = tokenOf('ada')
    const all = [
      other.identify({ token }),
      chat.identify({ token }),
      chat.identify({ token }),
      chat.signOut(),
      chat.identify({ token }),
    ]
    expect((await Promise.allSettled(all)).map(({ status }) => status)).not.toContain('rejected')
  }
  await Promise.all([chat.close(), other.close()])
})

it('ends what was left of a sign-in before anybody else signs in, or out', async () => {
  for (const isLeaving of [true, false]) {
    const place = browser()
    const storage = place.platform.storage as ChatStorage
    let isDead = false
    const crashing: ChatStorage = {
      ...storage,
      setItem(key, value) {
        if (!isDead) storage.setItem(key, value)
        isDead ||= value.includes('isCopied')
        if (isDead) throw new Error('the page is gone')
      },
    }
    const open = (platform = {}): Chat => place.open({ model: () => 'Yes.', platform })
    const [chat, crashed] = [open(), open({ storage: crashing })]
    await talked(chat, 'SWORDFISH')
    await expect(crashed.identify({ userId: 'ada' })).rejects.toThrow()
    expect(isDead).toBe(true)
    if (isLeaving) {
      expect(await chat.signOut({ erase: true, force: true })).toEqual({ done: true, lost: [] })
      expect(await allTexts(place)).not.toContain('SWORDFISH')
    } else {
      await expect(chat.identify({ userId: 'bob' })).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
      await chat.identify({ userId: 'ada' })
      expect(await chat.sessions.search('')).toMatchObject([{ title: 'SWORDFISH' }])
    }
    await Promise.all([chat.close(), crashed.close()])
  }
})

it('removes nothing where the part that erases this browser is not there, and has it ahead', async () => {
  const path = '../../../src/chat/homes/erase-browser.ts'
  let isThere = false
  let loads = 0
  vi.doMock(path, async (original) => {
    loads++
    if (!isThere) throw new TypeError('Failed to fetch dynamically imported module')
    return original()
  })
  const [place, { fetch }] = [browser(), new TestService()]
  const chat = plainTab(place, fetch, { synced: true, getToken: () => tokenOf('ada') })
  const sessionId = await talked(chat, 'SWORDFISH')
  await expect.poll(() => loads).toBe(1)
  const options = { erase: true, force: true }
  await expect(chat.signOut(options)).rejects.toMatchObject({ code: 'ERR_NOT_LOADED' })
  expect(chat.conversation.getSnapshot().session).toMatchObject({ sessionId })
  expect(await allTexts(place)).toContain('SWORDFISH')
  isThere = true
  expect(await chat.signOut(options)).toEqual({ done: true, lost: [] })
  await chat.close()
  vi.doUnmock(path)
})

it.each([
  { synced: false, waits: false },
  { synced: false, waits: true },
  { synced: true, waits: false },
  { synced: true, waits: true },
])(
  'gives up a sign-in that a service never answers: synced: $synced, a message waits: $waits',
  async ({ synced, waits }) => {
    const [place, service] = [browser(), new TestService()]
    let isSilent = false
    let answer = (): void => {}
    const answered = new Promise<void>((done) => (answer = done))
    const fetch = async (url: string, init: RequestInit): Promise<Response> => {
      if (isSilent) await answered
      return service.fetch(url, init)
    }
    // Seconds pass in hundredths of one.
    const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
      new Promise((resolve, reject) => {
        setTimeout(resolve, ms / 100)
        signal.addEventListener('abort', () => reject(signal.reason))
      })
    const chat = place.open({ src: SRC, synced, platform: { fetch, WebSocket: undefined, sleep } })
    await chat.sessions.search('')
    await expect.poll(() => place.platform.storage?.getItem('plimsoll-chat/identity')).toContain('guest-1')
    isSilent = true
    place.network.set(true)
    await chat.conversation.create()
    if (waits) await chat.conversation.send('SWORDFISH')
    const code = waits ? 'ERR_STORAGE' : 'ERR_TIMEOUT'
    await expect(chat.identify({ token: tokenOf('ada') })).rejects.toMatchObject({ code })
    const other = place.open({ src: SRC, synced, platform: { fetch, WebSocket: undefined, sleep } })
    expect(await other.signOut({ force: true })).toEqual({ done: true, lost: [] })
    answer()
    await Promise.all([chat.close(), other.close()])
  },
)

it('keeps what is typed in another tab while a sign-out waits for what is on its way', async () => {
  const [place, service] = [browser(), new TestService()]
  const getToken = (): string => tokenOf('ada')
  const other = plainTab(place, service.fetch, { synced: true, getToken })
  let isLeaving = false
  const sleep = async (): Promise<void> => {
    // It waits before it looks at what would be lost.
    if (isLeaving) other.drafts.write('new', 'SWORDFISH')
  }
  const platform = { fetch: service.fetch, WebSocket: undefined, sleep }
  const chat = place.open({ src: SRC, synced: true, getToken, platform })
  await talked(chat, 'Hello.')
  let answer = (): void => {}
  service.until = new Promise((done) => (answer = done))
  place.network.set(true)
  const lost = [{ waiting: 0, refused: 0, draft: true }]
  isLeaving = true
  expect(await chat.signOut()).toEqual({ done: false, lost })
  expect(other.drafts.read('new')).toBe('SWORDFISH')
  answer()
  await Promise.all([chat.close(), other.close()])
})

it('tells of what a guest has in this browser alone, and removes it: nobody could show it again', async () => {
  const place = browser()
  const chat = place.open({ model: () => 'Yes.' })
  const id = await talked(chat, 'SWORDFISH')
  const lost = [{ sessionId: id, waiting: 0, refused: 0, local: true }]
  expect(await chat.signOut({ dryRun: true })).toEqual({ done: false, lost })
  expect(await chat.signOut()).toEqual({ done: false, lost })
  expect(await allTexts(place)).toContain('SWORDFISH')
  expect(await chat.signOut({ dryRun: true, erase: true })).toEqual({ done: false, lost: [] })
  expect(await chat.signOut({ force: true })).toEqual({ done: true, lost: [] })
  expect(await allTexts(place)).not.toContain('SWORDFISH')
  await chat.identify({ userId: 'ada' })
  await talked(chat, 'MAGPIE')
  expect(await chat.signOut()).toEqual({ done: true, lost: [] })
  expect(await allTexts(place)).toContain('MAGPIE')
  await chat.close()
})

it('signs in nobody while a guest’s message waits, which would be lost', async () => {
  const [place, service] = [browser(), listening()]
  const chat = plainTab(place, service.fetch)
  await chat.sessions.search('')
  place.network.set(false)
  await chat.conversation.create()
  await chat.conversation.send('As a guest.')
  await expect(chat.identify({ token: tokenOf('ada') })).rejects.toMatchObject({ code: 'ERR_STORAGE' })
  place.network.set(true)
  await expect.poll(() => service.saidBy('guest')).toHaveLength(1)
  await chat.identify({ token: tokenOf('ada') })
  await chat.close()
})

it.each<readonly [string, Parameters<Chat['identify']>[0], ChatSettings]>([
  ['a token', { token: tokenOf('ada') }, {}],
  ['a name', { userId: 'ada' }, { getToken: () => tokenOf('ada') }],
])('loses nothing of a guest who was never at the edge, and signs in by %s', async (_, user, more) => {
  const [place, service] = [browser(), listening()]
  place.network.set(false)
  const guest = plainTab(place, service.fetch)
  await guest.conversation.create()
  expect(await guest.conversation.send('As a guest.')).toBe(true)
  await guest.close()
  const chat = plainTab(place, service.fetch, more)
  await chat.identify(user)
  place.network.set(true)
  await chat.sessions.search('')
  await expect.poll(() => service.saidBy(tokenOf('ada'))).toHaveLength(1)
  expect(service.saidBy('guest')).toEqual([])
  expect(await allTexts(place)).not.toContain('As a guest.')
  await chat.close()
})

it('takes what waits into a synced copy of who said it alone', async () => {
  const [place, service] = [browser(), new TestService()]
  let token = tokenOf('ada')
  const getToken = (): string => token
  const plain = plainTab(place, service.fetch, { getToken })
  await plain.sessions.search('')
  place.network.set(false)
  const id = await plain.conversation.create()
  await plain.conversation.send('SWORDFISH')
  token = tokenOf('bob')
  await plain.sessions.search('')
  await plain.close()
  const synced = plainTab(place, service.fetch, { getToken, synced: true })
  await synced.conversation.open(id)
  expect(said(synced.conversation.getSnapshot())).toEqual([])
  await synced.close()
  expect(await allTexts(place)).toContain('SWORDFISH')
})

it('shows the newest conversation of who comes back after a sign-out, and an empty one to who is new', async () => {
  const place = browser()
  const chat = place.open({ model: () => 'Yes.' })
  await chat.identify({ userId: 'ada' })
  const sessionId = await chat.conversation.create()
  await chat.conversation.send('Of Ada.')
  await until(chat, idle)
  await chat.signOut()
  await chat.identify({ userId: 'bob' })
  const ofBob = chat.conversation.getSnapshot()
  expect([ofBob.loaded, ofBob.session?.home, said(ofBob)]).toEqual([true, 'local', []])
  await chat.signOut()
  await chat.identify({ userId: 'ada' })
  const { session } = await until(chat, idle)
  expect(session).toMatchObject({ sessionId, home: 'local' })
  expect(said(chat.conversation.getSnapshot())).toEqual(['user: Of Ada.', 'assistant: Yes.'])
  await chat.close()
})
