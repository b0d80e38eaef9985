import { describe, expect, it } from 'vitest'
import { ChatConversation } from '../../../src/chat/conversation/conversation.ts'
import { NOTHING, released, withNewest, withOlder } from '../../../src/chat/conversation/pages.ts'
import type { Home, HomeSession } from '../../../src/chat/homes/home.ts'
import { problemOf } from '../../../src/chat/homes/problem.ts'
import type { ConversationState, Upload } from '../../../src/chat/ports.ts'
import { titleOf } from '../../../src/chat/text.ts'
import { RequestError } from '../../../src/client/error.ts'
import {
  type MediaPart,
  type Message,
  mapStore,
  type Part,
  PlimsollError,
  type Store,
  utf8Bound,
} from '../../../src/index.ts'
import { countMessage } from '../../../src/kernel/count.ts'
import { deleteSession } from '../../../src/operations/delete-session.ts'
import { forget } from '../../../src/operations/forget/forget.ts'
import { titleSession } from '../../../src/operations/sessions.ts'
import { placeholder } from '../../../src/render/parts.ts'
import { type FullMemory, fullMemory } from '../../contract/full-memory.ts'
import { changedStore } from '../../everywhere/changed-store.ts'
import { pictureOf } from '../../everywhere/pictures.ts'
import { idle, said, until } from './states.ts'
import { browser, homeOver, TestNetwork } from './support.ts'
import { absent } from './test-service.ts'

const message = (id: string): Message => ({ id, role: 'user', content: id, createdAt: 0, trust: 'user' })
const run = (from: number, to: number): readonly Message[] =>
  Array.from({ length: to - from }, (_, index) => message(`m${from + index}`))

function over(
  store: Store,
  reply?: () => string,
  memory?: () => Promise<FullMemory>,
  changed: (home: Home) => Home = (home) => home,
  sleep = async (): Promise<void> => {},
) {
  let ids = 0
  const home = homeOver(store, reply, memory)
  const conversation = new ChatConversation({
    home: async () => changed(home),
    kinds: () => ['local'],
    defaultHome: 'local',
    model: (home) => home.model(),
    platform: {
      newId: () => `id-${++ids}`,
      now: () => 7,
      network: new TestNetwork(),
      sleep,
    },
    emit: () => {},
    begun: { read: () => '', write: () => {} },
    onListed: () => {},
  })
  return { conversation }
}

it('says what is said while a link is opened in that conversation, though the edge does not answer', async () => {
  const place = browser()
  const here = place.open({ model: () => 'Yes.' })
  await here.conversation.send('Kept on this device.')
  await until(here, idle)
  await here.close()
  place.network.set(false)
  const asked: string[] = []
  const fetch = async (url: string): Promise<Response> => {
    asked.push(url)
    throw new TypeError('no network')
  }
  const chat = place.open({ src: 'https://edge.test', getToken: () => 'token', platform: { fetch } })
  void chat.conversation.open('linked')
  expect(await chat.conversation.send('Written offline.')).toBe(true)
  const { session, messages } = chat.conversation.getSnapshot()
  expect([session?.sessionId, session?.home]).toEqual(['linked', 'edge'])
  expect(messages).toMatchObject([{ delivery: 'queued', message: { content: 'Written offline.' } }])
  await chat.close()
  const again = place.open({ src: 'https://edge.test', getToken: () => 'token', platform: { fetch } })
  void again.conversation.open('linked')
  await until(again, (state) => state.messages.length === 1)
  expect(again.conversation.getSnapshot().session?.sessionId).toBe('linked')
  await again.close()
})

it('asks no edge for a conversation that was begun here and holds nothing yet', async () => {
  const place = browser()
  const asked: string[] = []
  const fetch = async (url: string): Promise<Response> => {
    asked.push(url)
    return absent()
  }
  const open = () => place.open({ src: 'https://edge.test', getToken: () => 'token', platform: { fetch } })
  const first = open()
  const sessionId = await first.conversation.create()
  await first.close()
  const again = open()
  await again.conversation.open(sessionId)
  expect(again.conversation.getSnapshot()).toMatchObject({ loaded: true, isMissing: false, messages: [] })
  expect(asked.filter((url) => url.includes(sessionId))).toEqual([])
  await again.conversation.send('Said.')
  await again.close()
  const later = open()
  await later.conversation.open(sessionId)
  expect(asked.filter((url) => url.includes(sessionId))).not.toEqual([])
  await later.close()
})

describe('a run of messages', () => {
  it('grows at its end where the newest page meets it', () => {
    const shown = { messages: run(0, 60), hasOlder: true }
    expect(withNewest(shown, run(20, 70), 50)).toEqual({ messages: run(0, 70), hasOlder: true })
  })

  it('has no gaps: a page that does not meet it stands alone', () => {
    const shown = { messages: run(0, 50), hasOlder: false }
    expect(withNewest(shown, run(80, 130), 50)).toEqual({ messages: run(80, 130), hasOlder: true })
    expect(withNewest(shown, [], 50)).toEqual(NOTHING)
  })

  it('shows no more what was hidden at its end', () => {
    const shown = { messages: run(0, 10), hasOlder: false }
    expect(withNewest(shown, run(0, 4), 50)).toEqual({ messages: run(0, 4), hasOlder: false })
  })

  it('takes older pages in, and lets go of them', () => {
    const both = withOlder({ messages: run(50, 100), hasOlder: true }, run(0, 50), 50)
    expect(both).toEqual({ messages: run(0, 100), hasOlder: true })
    expect(withOlder(both, [], 50).hasOlder).toBe(false)
    expect(released(both, 30)).toEqual({ messages: run(70, 100), hasOlder: true })
    expect(released(both, 100)).toBe(both)
  })
})

describe('what was said', () => {
  it('shows where the memory cannot be loaded, whatever is remembered', async () => {
    const store = mapStore()
    const session = fullMemory({ store, budget: 16_000 }).session({ userId: 'ada', sessionId: 'tea' })
    await session.append([
      { role: 'user', content: 'Tea, please.' },
      { role: 'assistant', content: 'Here it is.' },
    ])
    await session.facts.remember({ kind: 'preference', text: 'Likes tea.' })
    const { conversation } = over(store, undefined, () => Promise.reject(new Error('there is no network')))
    await conversation.open('tea')
    const state = conversation.getSnapshot()
    expect(state.loaded).toBe(true)
    expect(said(state)).toEqual(['user: Tea, please.', 'assistant: Here it is.'])
    expect(state.problem).toBeUndefined()
    await conversation.close()
  })

  it('loads no memory where nothing was remembered, though a session was deleted once', async () => {
    const store = mapStore()
    const memory = fullMemory({ store, budget: 16_000 })
    await memory.session({ userId: 'ada', sessionId: 'old' }).append({ role: 'user', content: 'Hello' })
    await deleteSession(memory, { userId: 'ada' }, 'old')
    await memory.session({ userId: 'ada', sessionId: 'tea' }).append([
      { role: 'user', content: 'Tea, please.' },
      { role: 'assistant', content: 'Here it is.' },
    ])
    await titleSession(memory, { userId: 'ada' }, 'tea', 'Tea')
    let loads = 0
    const { conversation } = over(store, undefined, async () => {
      loads++
      return memory
    })
    await conversation.open('tea')
    await new Promise((resolve) => setTimeout(resolve))
    expect(conversation.getSnapshot().loaded).toBe(true)
    expect(loads).toBe(0)
    await conversation.close()
  })

  it('is refused at once under an id that no session can have', async () => {
    const { conversation } = over(mapStore())
    await conversation.open('x'.repeat(400))
    expect(conversation.getSnapshot().problem?.code).toBe('ERR_INVALID_ARGUMENT')
    await conversation.close()
  })
})

describe('a message that could not be kept', () => {
  it('though it was, is the same message when it is said again', async () => {
    const store = mapStore()
    let fails = 0
    const { conversation } = over(
      changedStore(store, (inner) => ({
        commit: async (ops, decide) => {
          const results = await inner.commit(ops, decide)
          if (ops.some(({ envelope }) => envelope.kind === 'append') && fails++ === 0)
            throw new PlimsollError('ERR_STORAGE', 'commit: nobody heard of it')
          return results
        },
      })),
    )
    await conversation.create()
    expect(await conversation.send('Hello')).toBe(false)
    expect(conversation.getSnapshot().problem).toMatchObject({ code: 'ERR_STORAGE', retryable: true })
    expect(await conversation.send('Hello')).toBe(true)
    const state = await until({ conversation }, idle)
    expect(said(state)).toEqual(['user: Hello', 'assistant: Yes.'])
    await conversation.close()
  })

  it('is the same with the same files, and another one with others', async () => {
    const store = mapStore()
    let fails = true
    const files = new Set<string>()
    const { conversation } = over(
      changedStore(store, (inner) => ({
        attach: (attachment, at) => {
          files.add(attachment.id)
          return inner.attach(attachment, at)
        },
        commit: async (ops, decide) => {
          const results = await inner.commit(ops, decide)
          if (fails && ops.some(({ envelope }) => envelope.kind === 'append'))
            throw new PlimsollError('ERR_STORAGE', 'commit: nobody heard of it')
          return results
        },
      })),
    )
    const say = (...texts: readonly string[]) => {
      const bytes = texts.map((text) => new TextEncoder().encode(text))
      const uploads = bytes.map((each) => ({ mediaType: 'text/plain', bytes: each, name: 'tides.txt' }))
      return conversation.send('Look', { uploads })
    }
    await conversation.create()
    expect(await say('low', 'high')).toBe(false)
    expect(await say('low', 'tide')).toBe(false)
    fails = false
    expect(await say('low', 'tide')).toBe(true)
    const look = 'user: Look [media] [media]'
    expect(said(await until({ conversation }, idle))).toEqual([look, look, 'assistant: Yes.'])
    expect(files.size).toBe(4)
    await conversation.close()
  })

  it('keeps its files where its text is edited', async () => {
    const { conversation } = over(mapStore())
    const bytes = new TextEncoder().encode('low')
    await conversation.send('Look', { uploads: [{ mediaType: 'text/plain', bytes, name: 'tides.txt' }] })
    const { messages } = await until({ conversation }, idle)
    const [asked] = messages
    expect(await conversation.edit(asked?.message.id ?? '', 'Look again')).toBe(true)
    const [edited] = (await until({ conversation }, idle)).messages
    const [, file] = asked?.message.content ?? []
    expect(edited?.message.content).toEqual([{ type: 'text', text: 'Look again' }, file])
    await conversation.close()
  })

  it('counts as what a model is told of it, where that is its name and type', async () => {
    const store = mapStore()
    const { conversation } = over(store)
    const uploads = [
      { mediaType: 'text/plain', bytes: new TextEncoder().encode('low'), name: 'tides.txt' },
      { mediaType: 'image/png', bytes: pictureOf('image/png'), name: 'dot.png' },
    ]
    await conversation.send('Look', { uploads })
    const [asked] = (await until({ conversation }, idle)).messages
    const [words, file, picture] = (asked?.message.content ?? []) as readonly Part[]
    const counted = (part: Part) => countMessage(utf8Bound, { content: [part] })
    expect(words?.type).toBe('text')
    expect(counted(file as Part)).toBeLessThan(250)
    expect(counted(file as Part)).toBeGreaterThan(placeholder(file as MediaPart).length)
    expect(counted(picture as Part)).toBeGreaterThan(1_600)
    await conversation.close()
  })

  it('is not begun where a picture is not of its type', async () => {
    const { conversation } = over(mapStore())
    await conversation.create()
    const uploads = [{ mediaType: 'image/png', bytes: pictureOf('image/jpeg'), name: 'dot.png' }]
    expect(await conversation.send('Look', { uploads })).toBe(false)
    expect(conversation.getSnapshot()).toMatchObject({
      messages: [],
      problem: { code: 'ERR_UNSUPPORTED_MEDIA_TYPE', retryable: false, id: 'dot.png' },
    })
    expect(
      await conversation.send('Look', { uploads: [{ ...uploads[0], mediaType: 'image/jpeg' } as Upload] }),
    ).toBe(true)
    await conversation.close()
  })
})

describe('a file of more than 8 MiB', () => {
  it('is refused by its name, and a model is not asked', async () => {
    const { conversation } = over(mapStore())
    await conversation.create()
    const bytes = new Uint8Array(8 * 1024 * 1024 + 1)
    expect(
      await conversation.send('Look', { uploads: [{ mediaType: 'video/mp4', bytes, name: 'harbour.mp4' }] }),
    ).toBe(false)
    expect(conversation.getSnapshot()).toMatchObject({
      messages: [],
      problem: { code: 'ERR_ENTRY_TOO_LARGE', retryable: false, id: 'harbour.mp4' },
    })
    await conversation.close()
  })
})

describe('what waits for an answer', () => {
  it('is answered once, though two tabs are told to go on at once', async () => {
    const device = browser()
    const cut = device.open({ model: () => new Promise<string>(() => {}) })
    const id = await cut.conversation.create()
    await cut.conversation.send('Hello')
    await until(cut, ({ reply }) => reply !== undefined)
    await cut.close()
    let replies = 0
    const model = async (): Promise<string> => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      return `Reply ${++replies}`
    }
    const tabs = [device.open({ model }), device.open({ model })]
    await Promise.all(tabs.map(({ conversation }) => conversation.open(id)))
    await Promise.all(tabs.map(({ conversation }) => conversation.retry()))
    for (const tab of tabs)
      expect(said(await until(tab, idle))).toEqual(['user: Hello', 'assistant: Reply 1'])
    expect(replies).toBe(1)
    await Promise.all(tabs.map((tab) => tab.close()))
  })

  it('goes on being answered when another session is shown', async () => {
    const device = browser()
    let release = (): void => {}
    const chat = device.open({
      model: (messages) =>
        messages.at(-1)?.content === 'Slow'
          ? new Promise((resolve) => {
              release = () => resolve('At last.')
            })
          : 'At once.',
    })
    const slow = await chat.conversation.create()
    await chat.conversation.send('Slow')
    await expect.poll(() => String(release)).toContain('At last')
    await chat.conversation.create()
    await chat.conversation.send('Quick')
    expect(said(await until(chat, idle))).toEqual(['user: Quick', 'assistant: At once.'])
    release()
    await chat.conversation.open(slow)
    expect(said(await until(chat, idle))).toEqual(['user: Slow', 'assistant: At last.'])
    await chat.close()
  })
})

describe('a state', () => {
  it('is the same object until something changes, and keeps messages that did not', async () => {
    const { conversation } = over(mapStore())
    await conversation.send('One')
    const first = await until({ conversation }, idle)
    expect(conversation.getSnapshot()).toBe(first)
    await conversation.send('Two')
    const second = await until({ conversation }, (state) => idle(state) && state.messages.length === 4)
    expect(second.messages[0]).toBe(first.messages[0])
    await conversation.close()
  })

  it('is the same where what is read again is the same', async () => {
    const { conversation } = over(mapStore())
    await conversation.send('One')
    const first = await until({ conversation }, idle)
    conversation.onFacts()
    await new Promise((done) => setTimeout(done, 50))
    expect(conversation.getSnapshot()).toBe(first)
    await conversation.close()
  })

  it('reaches all listeners, whatever one of them throws', async () => {
    const { conversation } = over(mapStore())
    let told = 0
    conversation.subscribe(() => {
      throw new Error('a listener’s own')
    })
    conversation.subscribe(() => told++)
    await conversation.send('One')
    await until({ conversation }, idle)
    expect(told).toBeGreaterThan(0)
    await conversation.close()
  })
})

describe('a problem', () => {
  it('says whether the network is the reason, and whether trying again may help', () => {
    expect(problemOf(new RequestError('ERR_STORAGE', 'GET /v1/sessions: no answer'))).toMatchObject({
      code: 'ERR_OFFLINE',
      retryable: true,
    })
    // A proxy says so, and the edge of itself.
    expect(
      problemOf(new RequestError('ERR_STORAGE', 'GET /v1/sessions: status 500', { status: 500 })),
    ).toMatchObject({
      code: 'ERR_OFFLINE',
      retryable: true,
    })
    expect(
      problemOf(new RequestError('ERR_STORAGE', 'sessions: a row is damaged', { status: 500 })),
    ).toMatchObject({
      code: 'ERR_STORAGE',
      retryable: true,
    })
    expect(problemOf(new PlimsollError('ERR_ENTRY_TOO_LARGE', 'append: too large'))).toMatchObject({
      retryable: false,
    })
    expect(problemOf(new Error('no such model'))).toMatchObject({
      code: 'ERR_MODEL',
      message: 'no such model',
    })
  })
})

describe('a title', () => {
  it('is the beginning of the first line, to the end of a word', () => {
    expect(titleOf('  Trains to\tTurin \n and back')).toBe('Trains to Turin')
    expect(titleOf('')).toBe('')
    const long = titleOf(
      'When does the next train leave for the coast, and how long does it take to get there?',
    )
    expect(long).toBe('When does the next train leave for the coast, and how long…')
    expect([...titleOf('🚂'.repeat(100))].length).toBe(61)
  })
})

describe('what is read at once', () => {
  it('is of the conversation that is open, whatever comes late of the one before', async () => {
    const store = mapStore()
    const memory = fullMemory({ store, budget: 16_000 })
    for (const sessionId of ['one', 'other']) {
      await memory.session({ userId: 'ada', sessionId }).append({ role: 'user', content: sessionId })
      await titleSession(memory, { userId: 'ada' }, sessionId, sessionId)
    }
    let answer = (): void => {}
    const slow = new Promise<void>((done) => {
      answer = done
    })
    const { conversation } = over(
      store,
      undefined,
      async () => memory,
      (home) => ({
        ...home,
        find: async (sessionId) => {
          if (sessionId === 'one') await slow
          return home.find(sessionId)
        },
      }),
    )
    const first = conversation.open('one')
    await expect.poll(() => conversation.getSnapshot().messages.length).toBe(1)
    await conversation.open('other')
    answer()
    await first
    expect(conversation.getSnapshot().session).toMatchObject({ sessionId: 'other', title: 'other' })
    await conversation.close()
  })

  it('is as much as was shown, where something was hidden', async () => {
    const store = mapStore()
    const memory = fullMemory({ store, budget: 16_000 })
    const session = memory.session({ userId: 'ada', sessionId: 'long' })
    for (let round = 0; round < 60; round++)
      await session.append([
        { role: 'user', content: `Ask ${round}` },
        { role: 'assistant', content: `Say ${round}` },
      ])
    const { conversation } = over(store, undefined, async () => memory)
    await conversation.open('long')
    await conversation.showOlder()
    expect(conversation.getSnapshot().messages).toHaveLength(100)
    await conversation.regenerate()
    await expect.poll(() => conversation.getSnapshot().reply).toBe(undefined)
    expect(conversation.getSnapshot().messages.length).toBeGreaterThanOrEqual(100)
    await conversation.close()
  })
})

it('shows a message no more that is forgotten elsewhere while it reads', async () => {
  const store = mapStore()
  const memory = fullMemory({ store, budget: 16_000 })
  const session = memory.session({ userId: 'ada', sessionId: 'trip' })
  const { messages } = await session.append([
    { role: 'user', content: 'SWORDFISH' },
    { role: 'assistant', content: 'Noted.' },
  ])
  let go = (): void => {}
  let gate: Promise<void> | undefined
  let readings = 0
  const { conversation } = over(
    store,
    undefined,
    async () => memory,
    (home) => ({
      ...home,
      session: (sessionId) => {
        const opened = home.session(sessionId)
        return {
          ...opened,
          async history(options) {
            const page = await opened.history(options)
            readings++
            await gate
            return page
          },
        }
      },
    }),
  )
  await conversation.open('trip')
  gate = new Promise((done) => {
    go = done
  })
  const before = readings
  await session.append({ role: 'assistant', content: 'Anything else?' })
  await expect.poll(() => readings).toBeGreaterThan(before)
  await forget(session, messages[0]?.id ?? '')
  go()
  await expect
    .poll(() => said(conversation.getSnapshot()))
    .toEqual(['assistant: Noted.', 'assistant: Anything else?'])
  await conversation.close()
})

describe('a reply that another tab asked for', () => {
  /** A conversation over one that others write in. @param join answers each look for their reply */
  async function followed(
    join: HomeSession['join'],
    reply: HomeSession['reply'] = async () => {},
  ): Promise<{
    readonly conversation: ChatConversation
    readonly write: (text: string) => Promise<unknown>
    readonly answer: (text: string) => Promise<unknown>
    /** Ends the waits for the next look. */
    readonly wake: () => void
  }> {
    const store = mapStore()
    const memory = fullMemory({ store, budget: 16_000 })
    const session = memory.session({ userId: 'ada', sessionId: 'trip' })
    await session.append([
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'Hello.' },
    ])
    let waits: (() => void)[] = []
    const { conversation } = over(
      store,
      undefined,
      async () => memory,
      (home) => ({ ...home, session: (id) => ({ ...home.session(id), join, reply }) }),
      () => new Promise((done) => waits.push(done)),
    )
    await conversation.open('trip')
    return {
      conversation,
      write: (content) => session.append({ role: 'user', content }),
      answer: (content) => session.append({ role: 'assistant', content }),
      wake() {
        for (const done of waits) done()
        waits = []
      },
    }
  }
  const aborted = (signal: AbortSignal) =>
    new Promise<void>((done) => signal.addEventListener('abort', () => done()))
  const shows = ({ reply }: ConversationState): boolean => reply?.text === 'It leaves at'
  const follow: HomeSession['join'] = async ({ tell, leave }) => {
    const left = new Promise((done) => leave.addEventListener('abort', done))
    await tell({ type: 'text', text: 'It leaves at' })
    await left
    return true
  }

  it('is found where more was said while it was looked for', async () => {
    let end = (): void => {}
    const looks: number[] = []
    const { conversation, write } = await followed(async (options) => {
      if (looks.push(looks.length) > 1) return follow(options)
      await new Promise<void>((done) => {
        end = done
      })
      return false
    })
    await write('When?')
    await until({ conversation }, ({ messages }) => messages.length === 3)
    await expect.poll(() => looks).toHaveLength(1)
    await write('And from where?')
    await until({ conversation }, ({ messages }) => messages.length === 4)
    end()
    await until({ conversation }, shows)
    await conversation.close()
  })

  it('is found after the end of the one before', async () => {
    let looks = 0
    const { conversation, write, wake } = await followed(async (options) =>
      ++looks === 1 ? true : follow(options),
    )
    await write('When?')
    await expect.poll(() => looks).toBe(1)
    await until({ conversation }, ({ reply }) => reply === undefined)
    await expect
      .poll(() => {
        wake()
        return shows(conversation.getSnapshot())
      })
      .toBe(true)
    await conversation.close()
  })

  it('is found once this tab has left it to that one', async () => {
    let isLeft = false
    let leave = (): void => {}
    const { conversation, write } = await followed(
      async (options) => isLeft && follow(options),
      () => new Promise((done) => (leave = done)),
    )
    expect(await conversation.send('When?')).toBe(true)
    await write('And from where?')
    await until({ conversation }, ({ messages }) => messages.length === 4)
    isLeft = true
    leave()
    await until({ conversation }, shows)
    await conversation.close()
  })

  it('is found at the last of four looks, and is looked for no more', async () => {
    let looks = 0
    const { conversation, write, wake } = await followed(async () => {
      looks++
      return false
    })
    await write('When?')
    for (const count of [1, 2, 3, 4]) {
      await expect.poll(() => looks).toBe(count)
      await new Promise((done) => setTimeout(done, 5))
      wake()
    }
    await new Promise((done) => setTimeout(done, 20))
    expect(looks).toBe(4)
    // Who wrote may be slow to ask.
    expect(conversation.getSnapshot().problem).toBeUndefined()
    await conversation.close()
  })

  it('is said to have been cut off where it ended without an answer, and no other began', async () => {
    let looks = 0
    const { conversation, write, wake } = await followed(async () => ++looks === 2)
    await write('When?')
    for (const count of [1, 2, 3]) {
      await expect.poll(() => looks).toBe(count)
      expect(conversation.getSnapshot().problem).toBeUndefined()
      await new Promise((done) => setTimeout(done, 5))
      wake()
    }
    const { problem } = await until({ conversation }, (state) => state.problem !== undefined)
    expect(problem).toMatchObject({ code: 'ERR_INTERRUPTED', retryable: true })
    await conversation.close()
  })

  it('is said to have been cut off at once where it is stopped before its first word, in either tab', async () => {
    let isThere = false
    const { conversation, write } = await followed(
      async ({ signal, tell }) => {
        if (!isThere) {
          await new Promise((done) => setTimeout(done, 5))
          return false
        }
        await tell({ type: 'step' })
        await aborted(signal)
        isThere = false
        return true
      },
      ({ signal }) => aborted(signal),
    )
    const stopped = async (): Promise<void> => {
      await until({ conversation }, ({ reply }) => reply !== undefined)
      await conversation.stop()
      await until({ conversation }, ({ problem }) => problem?.code === 'ERR_INTERRUPTED')
    }
    await conversation.send('When?')
    await stopped()
    isThere = true
    await write('And from where?')
    await stopped()
    await conversation.close()
  })

  it('ends what was said of one that failed here, once it begins', async () => {
    let isAsked = false
    const { conversation, write } = await followed(
      async (options) => isAsked && follow(options),
      () => Promise.reject(new PlimsollError('ERR_MODEL', 'model: it is overloaded')),
    )
    await conversation.send('When?')
    await until({ conversation }, ({ problem }) => problem?.code === 'ERR_MODEL')
    isAsked = true
    await write('When?')
    await until({ conversation }, shows)
    expect(conversation.getSnapshot().problem).toBeUndefined()
    await conversation.close()
  })

  it('leaves what was said of something else, as of an edit', async () => {
    const { conversation, write } = await followed(follow, () =>
      Promise.reject(new PlimsollError('ERR_MODEL', 'model: it is overloaded')),
    )
    await conversation.edit('gone', 'When?')
    await until({ conversation }, ({ problem }) => problem?.code === 'ERR_NOT_FOUND')
    await write('When?')
    await until({ conversation }, shows)
    expect(conversation.getSnapshot().problem?.code).toBe('ERR_NOT_FOUND')
    await conversation.close()
  })

  it('ends what was said of one that failed here, once it is whole', async () => {
    const { conversation, write, answer } = await followed(
      async () => false,
      () => Promise.reject(new PlimsollError('ERR_MODEL', 'model: it is overloaded')),
    )
    await conversation.send('When?')
    await until({ conversation }, ({ problem }) => problem?.code === 'ERR_MODEL')
    await write('At what time?')
    await until({ conversation }, ({ messages }) => messages.length === 4)
    expect(conversation.getSnapshot().problem?.code).toBe('ERR_MODEL')
    await answer('At nine.')
    await until({ conversation }, ({ problem }) => problem === undefined)
    await conversation.close()
  })
})

it('a fact that could not be forgotten is remembered as before', async () => {
  const store = mapStore()
  const memory = fullMemory({ store, budget: 16_000 })
  const session = memory.session({ userId: 'ada', sessionId: 'trip' })
  const { messages } = await session.append([
    { role: 'user', content: 'I like trains' },
    { role: 'assistant', content: 'So do I.' },
  ])
  await session.facts.remember({ kind: 'finding', text: 'Likes trains', sources: [messages[0]?.id ?? ''] })
  const { conversation } = over(
    store,
    undefined,
    async () => memory,
    (home) => ({
      ...home,
      session: (sessionId) => ({
        ...home.session(sessionId),
        forget: () => Promise.reject(new PlimsollError('ERR_STORAGE', 'forget: the disk is gone')),
      }),
    }),
  )
  await conversation.open('trip')
  const chips = () => conversation.getSnapshot().messages.flatMap(({ remembered }) => remembered)
  await expect.poll(chips).toHaveLength(1)
  const [kept] = chips()
  await conversation.forget(kept?.factId ?? '')
  expect(chips()).toEqual([kept])
  expect(conversation.getSnapshot().problem?.code).toBe('ERR_STORAGE')
  await conversation.close()
})
