/** What is behind the widget, against a real `wrangler dev`. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Chat } from '../../src/chat/open-chat.ts'
import type { ChatSettings } from '../../src/chat/settings.ts'
import { createClient } from '../../src/client/index.ts'
import { idle, said, until } from '../unit/chat/states.ts'
import { browser } from '../unit/chat/support.ts'
import { EdgeProcess } from './support/edge-process.ts'
import { type ModelServer, modelServer } from './support/model-server.ts'
import { tokenOf } from './support/token.ts'

let model: ModelServer
let edge: EdgeProcess

beforeAll(async () => {
  model = await modelServer()
  edge = await EdgeProcess.start({ MODEL_BASE_URL: model.url, MODEL_ID: 'tests' })
})

afterAll(async () => {
  await edge?.stop()
  await model?.close()
})

let people = 0

const tokenOfSomebody = (): Promise<string> => tokenOf(`chat-${Date.now().toString(36)}-${++people}`)

/** Of one browser, and one person. */
function twoTabs(token: string, settings: ChatSettings = {}): readonly [Chat, Chat] {
  const device = browser()
  const open = (): Chat => device.open({ ...settings, src: edge.url, getToken: () => token })
  return [open(), open()]
}

describe('a conversation at an edge', () => {
  it('is answered there, and is there after a reload', async () => {
    model.queue([{ text: 'It leaves at 9:40.' }])
    const token = await tokenOfSomebody()
    const device = browser()
    const open = (): Chat => device.open({ src: edge.url, getToken: () => token })
    const chat = open()
    const id = await chat.conversation.create()
    expect(await chat.conversation.send('When does it leave?')).toBe(true)
    expect(said(await until(chat, idle))).toEqual([
      'user: When does it leave?',
      'assistant: It leaves at 9:40.',
    ])
    await chat.close()
    const again = open()
    await again.conversation.open(id)
    const state = await until(again, idle)
    expect(said(state)).toEqual(['user: When does it leave?', 'assistant: It leaves at 9:40.'])
    expect(state.session).toMatchObject({ title: 'When does it leave?', home: 'edge' })
    await again.close()
  })

  it('edits, regenerates, and comes back to the old version', async () => {
    model.queue([{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }])
    const token = await tokenOfSomebody()
    const chat = browser().open({ src: edge.url, getToken: () => token })
    await chat.conversation.send('First')
    const first = (await until(chat, idle)).messages[0]?.message.id ?? ''
    await chat.conversation.edit(first, 'Second')
    await until(chat, (state) => idle(state) && said(state)[1] === 'assistant: Two.')
    await chat.conversation.regenerate()
    const state = await until(chat, (state) => idle(state) && said(state)[1] === 'assistant: Three.')
    expect(state.messages.map(({ version }) => version?.count)).toEqual([2, 2])
    await chat.conversation.switchVersion(state.messages[0]?.message.id ?? '', 1)
    expect(said(await until(chat, idle))).toEqual(['user: First', 'assistant: One.'])
    await chat.close()
  })

  it('keeps what is said offline, and sends it in order once there is a network, once', async () => {
    model.queue(Array.from({ length: 8 }, () => ({ text: 'Yes.' })))
    const token = await tokenOfSomebody()
    const device = browser()
    const open = (): Chat => device.open({ src: edge.url, getToken: () => token })
    const chat = open()
    const id = await chat.conversation.create()
    device.network.set(false)
    for (const text of ['One', 'Two', 'Three']) expect(await chat.conversation.send(text)).toBe(true)
    const offline = await until(chat, ({ messages }) => messages.length === 3)
    expect(offline.messages.map(({ delivery }) => delivery)).toEqual(['queued', 'queued', 'queued'])
    expect(offline.online).toBe(false)
    await chat.close()
    // Two tabs of the same browser, when the network is back.
    const tabs = [open(), open()]
    await Promise.all(tabs.map(({ conversation }) => conversation.open(id)))
    device.network.set(true)
    for (const tab of tabs) {
      const state = await until(tab, idle)
      expect(said(state).slice(0, 3)).toEqual(['user: One', 'user: Two', 'user: Three'])
      expect(state.messages.every(({ delivery }) => delivery === 'sent')).toBe(true)
    }
    const messages = await createClient({ baseUrl: edge.url, token }).session(id).messages()
    expect(messages.filter(({ role }) => role === 'user').length).toBe(3)
    await Promise.all(tabs.map((tab) => tab.close()))
  })

  it('moves what a guest did to who signs in', async () => {
    model.queue([{ text: 'Hello.' }])
    const device = browser()
    let guests = 0
    const count = (url: string, init: RequestInit): Promise<Response> => {
      if (url.endsWith('/v1/guests')) guests++
      return fetch(url, init)
    }
    const chat = device.open({ src: edge.url, platform: { fetch: count } })
    // All that asks at once is asked in one guest's name.
    const [id] = await Promise.all([chat.conversation.create(), chat.sessions.search(''), chat.memory()])
    await chat.conversation.send('I am a guest')
    await until(chat, idle)
    expect(guests).toBe(1)
    expect(Math.round(((chat.guestEnd() ?? 0) - Date.now()) / 86_400_000)).toBe(30)
    const token = await tokenOfSomebody()
    await chat.identify({ token })
    await chat.identify({ token })
    const state = await until(chat, idle)
    expect(said(state)).toEqual(['user: I am a guest', 'assistant: Hello.'])
    expect(chat.guestEnd()).toBe(undefined)
    const sessions = await createClient({ baseUrl: edge.url, token }).sessions.list()
    expect(sessions.map(({ sessionId }) => sessionId)).toEqual([id])
    await chat.close()
  })
})

describe('a reply of an edge', () => {
  /** A reply whose last word waits. */
  const slow = (
    text: string,
  ): { readonly reply: { text: string; until: Promise<void> }; readonly end: () => void } => {
    let end = (): void => {}
    const until = new Promise<void>((resolve) => {
      end = resolve
    })
    return { reply: { text, until }, end }
  }

  it('goes on while the page is reloaded, and is followed from there', async () => {
    const { reply, end } = slow('It leaves at 9:40.')
    model.queue([reply])
    const token = await tokenOfSomebody()
    const device = browser()
    const open = (): Chat => device.open({ src: edge.url, getToken: () => token })
    const chat = open()
    const id = await chat.conversation.create()
    await chat.conversation.send('When?')
    await until(chat, ({ reply }) => reply?.text === 'It leaves at')
    await chat.close()
    const again = open()
    await again.conversation.open(id)
    await until(again, ({ reply }) => reply?.text === 'It leaves at')
    end()
    const state = await until(again, idle)
    expect(said(state)).toEqual(['user: When?', 'assistant: It leaves at 9:40.'])
    expect(state.problem).toBeUndefined()
    await again.close()
  })

  it('is followed by another tab, which did not ask', async () => {
    const { reply, end } = slow('It leaves at 9:40.')
    model.queue([{ text: 'Hello.' }, reply])
    const token = await tokenOfSomebody()
    const [one, two] = twoTabs(token)
    const id = await one.conversation.create()
    await one.conversation.send('Hello')
    await until(one, idle)
    await two.conversation.open(id)
    await until(two, idle)
    await one.conversation.send('When?')
    await until(two, ({ reply }) => reply?.text === 'It leaves at')
    end()
    for (const tab of [one, two])
      expect(said(await until(tab, (state) => idle(state) && state.messages.length === 4)).at(-1)).toBe(
        'assistant: It leaves at 9:40.',
      )
    await Promise.all([one.close(), two.close()])
  })

  it('is stopped, and what came of it stays', async () => {
    const { reply, end } = slow('It leaves at 9:40.')
    model.queue([reply, { text: 'Yes.' }])
    const token = await tokenOfSomebody()
    const chat = browser().open({ src: edge.url, getToken: () => token })
    const id = await chat.conversation.create()
    await chat.conversation.send('When?')
    await until(chat, ({ reply }) => reply?.text === 'It leaves at')
    await chat.conversation.stop()
    const state = await until(chat, idle)
    end()
    expect(said(state)).toEqual(['user: When?', 'assistant: It leaves at'])
    expect(state.messages[1]?.message.metadata).toEqual({ stopped: true })
    await chat.conversation.send('Sure?')
    expect(said(await until(chat, (state) => idle(state) && state.messages.length === 4)).at(-1)).toBe(
      'assistant: Yes.',
    )
    expect((await createClient({ baseUrl: edge.url, token }).session(id).messages()).length).toBe(4)
    await chat.close()
  })

  it.each([true, false])(
    'is kept once where two tabs show it as it is stopped; synced: %s',
    async (synced) => {
      const { reply, end } = slow('It leaves at 9:40.')
      model.queue([{ text: 'Hello.' }, reply])
      const token = await tokenOfSomebody()
      const [chat, other] = twoTabs(token, { synced })
      const id = await chat.conversation.create()
      await chat.conversation.send('Hello')
      await until(chat, idle)
      await other.conversation.open(id)
      await chat.conversation.send('When?')
      for (const each of [chat, other]) await until(each, ({ reply }) => reply?.text === 'It leaves at')
      await other.conversation.stop()
      for (const each of [chat, other])
        await until(each, (state) => idle(state) && state.messages.length >= 4)
      end()
      const client = createClient({ baseUrl: edge.url, token }).session(id)
      const kept = (await client.messages()).map(({ content }) => content)
      expect(kept).toEqual(['Hello', 'Hello.', 'When?', 'It leaves at'])
      for (const each of [chat, other])
        await expect.poll(() => said(each.conversation.getSnapshot())).toHaveLength(4)
      await Promise.all([chat.close(), other.close()])
    },
  )

  it('that breaks keeps what had come of it, once among tabs, and is replaced when it is tried again', async () => {
    model.queue([{ text: 'Hello.' }])
    const token = await tokenOfSomebody()
    const [chat, other] = twoTabs(token)
    const id = await chat.conversation.create()
    await chat.conversation.send('Hello')
    await until(chat, idle)
    await other.conversation.open(id)
    model.queue([{ text: 'It leaves at', fails: true }])
    await chat.conversation.send('When?')
    const cut = await until(chat, (state) => idle(state) && state.messages.length === 4)
    expect(said(cut).at(-1)).toBe('assistant: It leaves at')
    expect(cut.messages.at(-1)?.message.metadata).toEqual({ stopped: 'error' })
    await until(other, (state) => idle(state) && state.messages.length === 4)
    model.queue([{ text: 'It leaves at 9:40.' }])
    await chat.conversation.retry()
    const whole = await until(chat, (state) => idle(state) && said(state)[3] !== said(cut)[3])
    expect(said(whole).slice(2)).toEqual(['user: When?', 'assistant: It leaves at 9:40.'])
    await Promise.all([chat.close(), other.close()])
  })

  it('that its model failed at can be asked for again', async () => {
    model.queue([])
    const token = await tokenOfSomebody()
    const chat = browser().open({ src: edge.url, getToken: () => token })
    await chat.conversation.send('When?')
    const { problem } = await until(chat, ({ problem }) => problem !== undefined)
    expect(problem).toMatchObject({ code: 'ERR_MODEL', retryable: true })
    model.queue([{ text: 'At 9:40.' }])
    await chat.conversation.retry()
    expect(said(await until(chat, idle))).toEqual(['user: When?', 'assistant: At 9:40.'])
    await chat.close()
  })
})

describe('what an edge remembers', () => {
  it('shows as a chip, in the panel, and is forgotten by its undo', async () => {
    const call = { name: 'memory_finding', input: { text: 'The 9:40 to Turin is full.' } }
    model.queue([{ calls: [call] }, { text: 'Noted.' }])
    const token = await tokenOfSomebody()
    const chat = browser().open({ src: edge.url, getToken: () => token })
    await chat.conversation.send('Note that the 9:40 to Turin is full')
    const state = await until(
      chat,
      (state) => idle(state) && state.messages.some(({ remembered }) => remembered.length > 0),
    )
    const chip = state.messages.flatMap(({ remembered }) => remembered)[0]
    expect(chip?.text).toBe('The 9:40 to Turin is full.')
    const panel = await chat.memory()
    expect((await panel.facts()).map(({ text, shared, trust }) => ({ text, shared, trust }))).toEqual([
      { text: 'The 9:40 to Turin is full.', shared: false, trust: 'assistant' },
    ])
    await panel.setProfile('MEMORY.md', 'Travels light.')
    expect((await panel.profile()).map(({ name, text }) => ({ name, text }))).toEqual([
      { name: 'MEMORY.md', text: 'Travels light.' },
    ])
    await chat.conversation.forget(chip?.factId ?? '')
    await until(chat, ({ messages }) =>
      messages.every(({ remembered }) =>
        remembered.every(({ text, undo }) => text === '' && undo === 'done'),
      ),
    )
    expect(await panel.facts()).toEqual([])
    await chat.close()
  })

  it('is forgotten with the message that says it, in another tab too; a deleted conversation is said to be', async () => {
    model.queue([{ text: 'Noted.' }])
    const token = await tokenOfSomebody()
    const [chat, other] = twoTabs(token)
    const id = await chat.conversation.create()
    await chat.conversation.send('SWORDFISH')
    const [message] = (await until(chat, idle)).messages
    await other.conversation.open(id)
    await until(other, ({ messages }) => messages.length === 2)
    const certificate = await chat.conversation.forgetMessage(message?.message.id ?? '')
    expect(certificate).toMatchObject({
      action: 'forget',
      removed: { messages: { count: 1 } },
      confirmed: ['store', 'replicas'],
    })
    for (const tab of [chat, other])
      expect(said(await until(tab, ({ messages }) => messages.length === 1))).toEqual(['assistant: Noted.'])
    await chat.sessions.delete(id)
    await other.sessions.search('')
    await until(other, ({ isMissing }) => isMissing === 'deleted')
    await Promise.all([chat.close(), other.close()])
  })

  it('is exported and erased, and another user imports it', async () => {
    model.queue([{ text: 'Yes.' }])
    const [token, otherToken] = [await tokenOfSomebody(), await tokenOfSomebody()]
    const chat = browser().open({ src: edge.url, getToken: () => token })
    const id = await chat.conversation.create()
    await chat.conversation.send('Is this kept?')
    await until(chat, idle)
    const panel = await chat.memory()
    const lines: string[] = []
    for await (const line of panel.export('edge')) lines.push(line)
    expect((await panel.eraseAll()).removed.messages.count).toBe(2)
    expect((await chat.sessions.search('')).length).toBe(0)
    const give = async function* (): AsyncGenerator<string> {
      yield* lines
    }
    const other = browser().open({ src: edge.url, getToken: () => otherToken })
    expect((await (await other.memory()).import(give(), 'edge')).messages).toBeGreaterThan(0)
    expect(
      (await other.sessions.search('kept')).map(({ sessionId, title }) => ({ sessionId, title })),
    ).toEqual([{ sessionId: id, title: 'Is this kept?' }])
    await Promise.all([chat.close(), other.close()])
  })
})
