/** What is said is said in the conversation that showed then, or nowhere. */
import { describe, expect, it } from 'vitest'
import { ChatConversation } from '../../../src/chat/conversation/conversation.ts'
import { ChatSessionList } from '../../../src/chat/conversation/session-list.ts'
import type { Home } from '../../../src/chat/homes/home.ts'
import type { HomeKind } from '../../../src/chat/ports.ts'
import { mapStore, type Store } from '../../../src/index.ts'
import { idle, said, until } from './states.ts'
import { allTexts, browser, homeOver, TestNetwork, tokenOf } from './support.ts'

const TEXT = 'Between us two.'

function gate(): { readonly open: () => void; readonly opened: Promise<void> } {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}

/**
 * A busy edge that has one conversation, and takes no message.
 *
 * @param sent gets what it was asked to take
 */
function listing(id: () => string, sent: string[] = []) {
  const removed = { sessions: { count: 0, first: [] } }
  return async (url: string, { method = 'GET', body }: RequestInit = {}): Promise<Response> => {
    const { pathname, searchParams } = new URL(url)
    if (method === 'DELETE')
      return Response.json({ action: 'erase', target: id(), removed, confirmed: [], pending: [] })
    if (method === 'GET' && pathname === '/v1/sessions') {
      const sessions = [{ session_id: id(), title: '', created_at: 1 }]
      return Response.json({ sessions: searchParams.has('after') ? [] : sessions })
    }
    if (method === 'POST' && pathname.endsWith('/messages')) sent.push(String(body))
    return Response.json({ code: 'ERR_OVERLOADED', detail: 'busy' }, { status: 503 })
  }
}

/** Two homes over a map each; what is asked of them may be slow, or fail. */
function twoHomes(changed: (home: Home) => Promise<Home> = async (home) => home, reply = async () => 'Yes.') {
  let ids = 0
  const stores: Record<HomeKind, Store> = { local: mapStore(), edge: mapStore() }
  const homeOf = (kind: HomeKind): Home => ({ ...homeOver(stores[kind], reply), kind })
  const homes = { local: homeOf('local'), edge: homeOf('edge') }
  const conversation = new ChatConversation({
    home: (kind) => changed(homes[kind]),
    kinds: () => ['local', 'edge'],
    defaultHome: 'edge',
    model: (home) => home.model(),
    platform: {
      newId: () => `id-${++ids}`,
      now: () => 7,
      network: new TestNetwork(),
      sleep: async () => {},
    },
    emit: () => {},
    begun: { read: () => '', write: () => {} },
    onListed: () => {},
  })
  /** All that a home holds, as text. */
  const heldBy = async (kind: HomeKind): Promise<string> => {
    const rows: unknown[] = []
    for (const scope of await stores[kind].scopes()) {
      const open = stores[kind].open(scope)
      rows.push(await open.entries(), await open.registers(''))
    }
    return JSON.stringify(rows)
  }
  return { conversation, homes, heldBy }
}

describe('a conversation that is to stay on this device', () => {
  /** Also an edge, whose sessions nobody may ask for. */
  function choosing(local: (home: Home) => Promise<Home>) {
    const homes: HomeKind[] = []
    const { conversation } = twoHomes(async (home) => {
      homes.push(home.kind)
      return home.kind === 'local' ? local(home) : Promise.reject(new Error('the edge was asked'))
    })
    return { conversation, homes }
  }

  it('gets what is said while it is still being opened', async () => {
    const { conversation, homes } = choosing(async (home) => home)
    const creating = conversation.create({ home: 'local' })
    expect(await conversation.send('Between us two.')).toBe(true)
    const { session } = conversation.getSnapshot()
    expect(session).toMatchObject({ sessionId: await creating, home: 'local' })
    expect(said(await until({ conversation }, idle))).toEqual(['user: Between us two.', 'assistant: Yes.'])
    expect(homes).toEqual(['local'])
  })

  it('is opened again for what is said, where that failed, and is never at the edge instead', async () => {
    let isOpenable = false
    const { conversation, homes } = choosing(async (home) => {
      if (!isOpenable) throw new Error('not loaded')
      return home
    })
    const sessionId = await conversation.create({ home: 'local' })
    expect(await conversation.send('Between us two.')).toBe(false)
    expect(conversation.getSnapshot()).toMatchObject({ problem: { message: 'not loaded' } })
    isOpenable = true
    expect(await conversation.send('Between us two.')).toBe(true)
    const state = await until({ conversation }, idle)
    expect(said(state)).toEqual(['user: Between us two.', 'assistant: Yes.'])
    expect(state.session).toMatchObject({ sessionId, home: 'local' })
    expect(homes).toEqual(['local', 'local', 'local'])
  })
})

describe('what is said while its conversation is being opened', () => {
  it.each([
    [
      'another one is chosen',
      (conversation: ChatConversation) => conversation.open('other', { home: 'local' }),
    ],
    ['a new one is begun at the edge', (conversation: ChatConversation) => conversation.create()],
    ['somebody signs out', (conversation: ChatConversation) => conversation.whileAway(async () => {}, true)],
  ] as const)('is not said where %s meanwhile', async (_, leave) => {
    const slow = gate()
    let isSlow = true
    const { conversation, heldBy } = twoHomes(async (home) => {
      if (isSlow) await slow.opened
      return home
    })
    void conversation.create({ home: 'local' })
    const sending = conversation.send(TEXT)
    isSlow = false
    await leave(conversation)
    slow.open()
    expect(await sending).toBe(false)
    expect((await heldBy('local')) + (await heldBy('edge'))).not.toContain(TEXT)
    await conversation.close()
  })

  it('is said there, twice where it is said twice', async () => {
    const { conversation, heldBy } = twoHomes()
    const all = Promise.all([conversation.send('One.'), conversation.send('Two.')])
    expect(await all).toEqual([true, true])
    await until({ conversation }, idle)
    expect(said(conversation.getSnapshot()).filter((each) => each.startsWith('user'))).toHaveLength(2)
    expect(await heldBy('local')).not.toContain('One.')
  })
})

it('nothing of another conversation shows while one is looked for by its id alone', async () => {
  const slow = gate()
  const { conversation } = twoHomes(async (home) => ({
    ...home,
    find: async (id) => {
      if (id === 'linked') await slow.opened
      return home.find(id)
    },
  }))
  await conversation.create({ home: 'local' })
  await conversation.send('Hello.')
  const { session } = await until({ conversation }, idle)
  const opening = conversation.open('linked')
  expect(conversation.getSnapshot()).toMatchObject({ session: undefined, messages: [] })
  const sending = conversation.send(TEXT, { session })
  slow.open()
  await opening
  expect(await sending).toBe(false)
})

it('a home that cannot say whether a conversation is its own is taken for that one’s', async () => {
  const { conversation, heldBy } = twoHomes(async (home) => {
    if (home.kind === 'local') throw new Error('not loaded')
    return home
  })
  await conversation.open('kept-here')
  expect(await conversation.send(TEXT)).toBe(false)
  expect(conversation.getSnapshot()).toMatchObject({
    session: { home: 'local' },
    problem: { message: 'not loaded' },
  })
  expect(await heldBy('edge')).not.toContain(TEXT)
})

it('nothing is edited in a conversation that was begun while a reply was stopped', async () => {
  const slow = gate()
  const asked: HomeKind[] = []
  const noting = async (home: Home): Promise<Home> => ({
    ...home,
    session(id) {
      const session = home.session(id)
      return {
        ...session,
        append(...all) {
          asked.push(home.kind)
          return session.append(...all)
        },
      }
    },
  })
  const { conversation } = twoHomes(noting, async () => {
    await slow.opened
    return 'Yes.'
  })
  await conversation.create({ home: 'local' })
  await conversation.send(TEXT)
  const { messages } = await until({ conversation }, ({ reply }) => reply !== undefined)
  const editing = conversation.edit(messages[0]?.message.id ?? '', `${TEXT} Edited.`)
  await conversation.create()
  slow.open()
  expect(await editing).toBe(false)
  await conversation.close()
  expect(asked).toEqual(['local'])
})

it('its title and its problems are those of no conversation that is opened meanwhile', async () => {
  const slow = gate()
  const { conversation, homes } = twoHomes(async (home) => ({
    ...home,
    rename: async (...all) => {
      await slow.opened
      return home.rename(...all)
    },
    session: (id) => ({
      ...home.session(id),
      append: async () => {
        await slow.opened
        throw new Error('not kept')
      },
    }),
  }))
  await homes.local.session('a').append({ id: 'm1', role: 'user', content: 'Of A.' }, {})
  void conversation.open('a', { home: 'local' })
  await until({ conversation }, ({ messages }) => messages.length > 0)
  const sending = conversation.send(TEXT)
  await conversation.open('b', { home: 'local' })
  slow.open()
  expect(await sending).toBe(false)
  expect(conversation.getSnapshot()).toMatchObject({
    session: { sessionId: 'b', title: '' },
    problem: undefined,
  })
})

describe('a conversation of this device', () => {
  it.each([false, true])(
    'is there after a reload, though its database cannot be read: %s',
    async (isBroken) => {
      const place = browser()
      const sent: string[] = []
      const fetch = async (_: string, { body }: RequestInit = {}): Promise<Response> => {
        sent.push(String(body))
        return new Response('{}', { status: 404 })
      }
      const open = (own: object = {}) =>
        place.open({
          ...{ src: 'https://edge.test', getToken: () => tokenOf('ada'), model: () => 'Yes.' },
          platform: { fetch, WebSocket: undefined, ...own },
        })
      const first = open()
      const sessionId = await first.conversation.create({ home: 'local' })
      if (isBroken) {
        await first.conversation.send('Kept on this device.')
        await until(first, idle)
      }
      await first.close()
      const refused = new Proxy(place.factory, {
        get() {
          throw new DOMException('not to be had', 'UnknownError')
        },
      })
      const again = open(isBroken ? { indexedDB: refused } : {})
      await again.conversation.open(sessionId)
      expect(again.conversation.getSnapshot().session?.home).toBe('local')
      await again.conversation.send(TEXT)
      await again.close()
      expect(sent.join()).not.toContain(TEXT)
    },
  )

  it('gets what is said while somebody asks to sign out, who stays', async () => {
    const place = browser()
    const chat = place.open({
      ...{ src: 'https://edge.test', getToken: () => tokenOf('ada'), model: () => 'Yes.' },
      platform: { fetch: async () => Promise.reject(new TypeError('no network')), WebSocket: undefined },
    })
    await chat.conversation.create()
    expect(await chat.conversation.send('Waits.')).toBe(true)
    const sessionId = await chat.conversation.create({ home: 'local' })
    const leaving = chat.signOut({ erase: true })
    expect(await chat.conversation.send(TEXT)).toBe(true)
    expect(await leaving).toMatchObject({ done: false })
    expect(chat.conversation.getSnapshot().session).toMatchObject({ sessionId, home: 'local' })
    expect(await chat.conversation.send(TEXT)).toBe(true)
    await chat.close()
  })
})

describe('what waits for an edge', () => {
  it.each([
    [
      'its conversation is deleted',
      (chat: ReturnType<ReturnType<typeof browser>['open']>, id: string) => chat.sessions.delete(id),
    ],
    [
      'everything is erased',
      async (chat: ReturnType<ReturnType<typeof browser>['open']>) => (await chat.memory()).eraseAll(),
    ],
  ] as const)('goes when %s, and does not make it again', async (_, remove) => {
    const place = browser()
    let id = ''
    const sent: string[] = []
    const fetch = listing(() => id, sent)
    const chat = place.open({
      ...{ src: 'https://edge.test', getToken: () => tokenOf('ada') },
      platform: { fetch, WebSocket: undefined, sleep: async () => new Promise(() => {}) },
    })
    id = await chat.conversation.create()
    expect(await chat.conversation.send(TEXT)).toBe(true)
    await remove(chat, id)
    expect(await allTexts(place)).not.toContain(TEXT)
    sent.length = 0
    place.network.set(false)
    place.network.set(true)
    await chat.close()
    expect(sent).toEqual([])
  })

  it('is there no more where it was still being kept as its conversation was deleted', async () => {
    const place = browser()
    const token = gate()
    let isSlow = false
    const getToken = async (): Promise<string> => {
      if (isSlow) await token.opened
      return tokenOf('ada')
    }
    const chat = place.open({
      ...{ src: 'https://edge.test', getToken, synced: false },
      platform: { fetch: listing(() => id), WebSocket: undefined, sleep: async () => new Promise(() => {}) },
    })
    const id = await chat.conversation.create()
    await chat.conversation.send('Hello.')
    isSlow = true
    const sending = chat.conversation.send(TEXT)
    const deleting = chat.sessions.delete(id)
    token.open()
    await Promise.all([sending, deleting])
    await chat.close()
    expect(await allTexts(place)).not.toContain(TEXT)
  })

  it('is of the home that was named, where two have a conversation of one id', async () => {
    const { homes } = twoHomes()
    const deleted: HomeKind[] = []
    const list = new ChatSessionList({
      kinds: () => ['local', 'edge'],
      home: async (kind) => homes[kind],
      onDelete: async (_, kind) => void deleted.push(kind),
      onRead: () => {},
    })
    for (const kind of ['local', 'edge'] as const)
      await homes[kind].session('same').append({ id: 'm', role: 'user', content: kind }, { title: kind })
    for (const home of ['local', 'edge'] as const) await list.rename('same', `At ${home}`, { home })
    expect(list.getSnapshot().sessions).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ home: 'local', title: 'At local' }),
        expect.objectContaining({ home: 'edge', title: 'At edge' }),
      ]),
    )
    for (const kind of ['local', 'edge'] as const)
      homes[kind].search = async () => [{ sessionId: 'same', messageId: `in ${kind}`, excerpt: kind }]
    expect(await list.search('said')).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ home: 'local', messageId: 'in local' }),
        expect.objectContaining({ home: 'edge', messageId: 'in edge' }),
      ]),
    )
    await list.delete('same', { home: 'edge' })
    expect([deleted, list.getSnapshot().sessions.map(({ home }) => home)]).toEqual([['edge'], ['local']])
  })
})
