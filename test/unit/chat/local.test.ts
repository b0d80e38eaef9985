import { describe, expect, it } from 'vitest'
import { openChat } from '../../../src/chat/open-chat.ts'
import { scriptedModel } from '../../../src/index.ts'
import { idle, said, until } from './states.ts'
import { browser } from './support.ts'

const echo = (messages: readonly { readonly content: string }[]): string =>
  `You said ${messages.at(-1)?.content.split('\n')[0]}`

describe('a local conversation', () => {
  it('keeps what is said and answered, and shows it after a reload', async () => {
    const device = browser()
    const chat = device.open({ model: echo })
    const id = await chat.conversation.create()
    expect(await chat.conversation.send('Hello')).toBe(true)
    expect(said(await until(chat, idle))).toEqual(['user: Hello', 'assistant: You said Hello'])
    await chat.close()
    const again = device.open({ model: echo })
    await again.conversation.open(id)
    const state = await until(again, ({ loaded }) => loaded)
    expect(said(state)).toEqual(['user: Hello', 'assistant: You said Hello'])
    expect(state.session).toMatchObject({ sessionId: id, title: 'Hello', home: 'local' })
    expect(state.problem).toBeUndefined()
    await again.close()
  })

  it('says that a link names no conversation, and not of one that was begun here', async () => {
    const device = browser()
    const chat = device.open({ model: echo })
    const id = await chat.conversation.create()
    await chat.conversation.send('Hello')
    await until(chat, idle)
    await chat.sessions.delete(id)
    const begun = chat.conversation.getSnapshot().session?.sessionId ?? ''
    await chat.close()
    const again = device.open({ model: echo })
    const isMissing = async (sessionId: string): Promise<boolean | string> => {
      await again.conversation.open(sessionId)
      return (await until(again, ({ loaded }) => loaded)).isMissing
    }
    expect(await isMissing(id)).toBe(true)
    expect(await isMissing(begun)).toBe(false)
    expect(await isMissing('never')).toBe(true)
    await again.conversation.send('And yet')
    await until(again, idle)
    expect(await isMissing('never')).toBe(false)
    await again.close()
  })

  it('shows a reply as it comes', async () => {
    const chat = browser().open({
      model: async function* () {
        yield 'One '
        yield 'two '
        yield 'three'
      },
    })
    const texts = new Set<string>()
    chat.conversation.subscribe(() => {
      const { reply } = chat.conversation.getSnapshot()
      if (reply) texts.add(reply.text)
    })
    await chat.conversation.send('Count')
    await until(chat, idle)
    expect([...texts]).toEqual(['', 'One ', 'One two ', 'One two three'])
    await chat.close()
  })

  it('keeps what came of a reply that is stopped', async () => {
    const chat = browser().open({
      model: async function* (_, { signal }) {
        yield 'As far as'
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        yield ' this'
      },
    })
    await chat.conversation.send('Go on for ever')
    await until(chat, ({ reply }) => reply?.text === 'As far as')
    await chat.conversation.stop()
    const state = await until(chat, idle)
    expect(said(state)).toEqual(['user: Go on for ever', 'assistant: As far as'])
    expect(state.problem).toBeUndefined()
    await chat.close()
  })

  it('has answered what was said during a reply that is stopped then', async () => {
    const chat = browser().open({
      model: async function* (messages, { signal }) {
        const asked = messages.at(-1)?.content.split('\n')[0]
        yield `About ${asked}`
        if (asked === 'trains') await new Promise((resolve) => signal.addEventListener('abort', resolve))
      },
    })
    await chat.conversation.send('trains')
    await until(chat, ({ reply }) => reply?.text === 'About trains')
    await chat.conversation.send('boats')
    await chat.conversation.stop()
    const state = await until(chat, (state) => idle(state) && state.messages.length === 4)
    expect(said(state)).toEqual([
      'user: trains',
      'assistant: About trains',
      'user: boats',
      'assistant: About boats',
    ])
    await chat.close()
  })

  it('says that there is no answer where nothing had come of a reply that is stopped, and asks again', async () => {
    let isSlow = true
    const chat = browser().open({
      model: async (messages, { signal }) => {
        if (isSlow) await new Promise((resolve) => signal.addEventListener('abort', resolve))
        return echo(messages)
      },
    })
    await chat.conversation.send('Hello')
    await until(chat, ({ reply }) => reply !== undefined)
    await chat.conversation.stop()
    await until(chat, ({ problem }) => problem?.code === 'ERR_INTERRUPTED')
    isSlow = false
    await chat.conversation.retry()
    const state = await until(chat, idle)
    expect(said(state)).toEqual(['user: Hello', 'assistant: You said Hello'])
    expect(state.problem).toBeUndefined()
    await chat.close()
  })

  it('runs the page’s tools, and tells of them', async () => {
    const calls: unknown[] = []
    const chat = browser().open({
      model: scriptedModel([{ calls: [{ name: 'find', input: { to: 'Turin' }, id: 'c1' }] }, 'At 9:40.']),
      tools: [
        {
          name: 'find',
          inputSchema: { type: 'object' },
          execute: (input) => {
            calls.push(input)
            return ['9:40']
          },
        },
      ],
      memoryTools: false,
    })
    const told: string[] = []
    chat.onEvent((event) => told.push(event.type === 'tool-call' ? event.call.name : event.type))
    await chat.conversation.send('When?')
    const state = await until(chat, (state) => idle(state) && state.messages.length === 4)
    expect(calls).toEqual([{ to: 'Turin' }])
    expect(said(state)).toEqual([
      'user: When?',
      'assistant: [find]',
      'tool: [tool-result]',
      'assistant: At 9:40.',
    ])
    expect(told).toEqual(['message', 'message', 'find', 'message', 'message'])
    await chat.close()
  })

  it('gives the model what the page shows, and instructions', async () => {
    const seen: string[] = []
    const chat = browser().open({
      system: 'You are a travel agent.',
      pageContext: () => 'The basket holds two tickets.',
      model: (messages) => {
        seen.push(...messages.map(({ role, content }) => `${role}: ${content}`))
        return 'Yes.'
      },
    })
    await chat.conversation.send('What is in it?')
    await until(chat, idle)
    expect(seen[0]).toBe('system: You are a travel agent.')
    expect(seen.at(-1)).toContain('The basket holds two tickets.')
    await chat.close()
  })

  it('goes on with a reply that a reload cut off', async () => {
    const device = browser()
    const first = device.open({ model: () => new Promise<string>(() => {}) })
    const id = await first.conversation.create()
    await first.conversation.send('Hello')
    await until(first, ({ reply }) => reply !== undefined)
    await first.close()
    const second = device.open({ model: echo })
    await second.conversation.open(id)
    const cut = await until(second, ({ problem }) => problem !== undefined)
    expect(cut.problem).toMatchObject({ code: 'ERR_INTERRUPTED', retryable: true })
    expect(said(cut)).toEqual(['user: Hello'])
    await second.conversation.retry()
    const state = await until(second, idle)
    expect(said(state)).toEqual(['user: Hello', 'assistant: You said Hello'])
    expect(state.problem).toBeUndefined()
    await second.close()
  })

  it('says what the model failed with, and answers when it is tried again', async () => {
    let fails = true
    const chat = browser().open({
      model: () => {
        if (fails) throw new Error('no such model')
        return 'Here I am.'
      },
    })
    await chat.conversation.send('Hello')
    const { problem } = await until(chat, ({ problem }) => problem !== undefined)
    expect(problem).toEqual({ code: 'ERR_MODEL', message: 'no such model', retryable: true })
    fails = false
    await chat.conversation.retry()
    expect(said(await until(chat, idle))).toEqual(['user: Hello', 'assistant: Here I am.'])
    await chat.close()
  })

  it('keeps what had come of a reply that fails, says so, and replaces it when it is tried again', async () => {
    let fails = true
    const asked: number[] = []
    const chat = browser().open({
      async *model(messages) {
        asked.push(messages.length)
        yield 'Two trains '
        if (fails) throw new Error('the connection broke')
        yield 'at nine.'
      },
    })
    const id = await chat.conversation.create()
    await chat.conversation.send('Which trains?')
    const cut = await until(chat, (state) => idle(state) && state.problem !== undefined)
    expect(said(cut)).toEqual(['user: Which trains?', 'assistant: Two trains '])
    expect(cut.messages[1]?.message.metadata).toEqual({ stopped: 'error' })
    expect(cut.problem).toMatchObject({ code: 'ERR_MODEL', retryable: true })
    await chat.conversation.open(id)
    expect(said(chat.conversation.getSnapshot())).toHaveLength(2)
    fails = false
    await chat.conversation.retry()
    const whole = await until(chat, (state) => idle(state) && said(state)[1] !== 'assistant: Two trains ')
    expect(said(whole)).toEqual(['user: Which trains?', 'assistant: Two trains at nine.'])
    expect(whole.messages[1]?.version).toEqual({ index: 2, count: 2 })
    expect(asked).toEqual([1, 1])
    await chat.close()
  })

  it('edits what was said, regenerates a reply, and comes back to each version', async () => {
    let count = 0
    const chat = browser().open({ model: (messages) => `${echo(messages)} (${++count})` })
    await chat.conversation.send('One')
    await until(chat, idle)
    const first = chat.conversation.getSnapshot().messages[0]?.message.id ?? ''
    expect(await chat.conversation.edit(first, 'Two')).toBe(true)
    const edited = await until(chat, idle)
    expect(said(edited)).toEqual(['user: Two', 'assistant: You said Two (2)'])
    expect(edited.messages[0]?.version).toEqual({ index: 2, count: 2 })
    await chat.conversation.regenerate()
    const regenerated = await until(chat, (state) => idle(state) && said(state)[1]?.endsWith('(3)') === true)
    expect(regenerated.messages.map(({ version }) => version)).toEqual([
      { index: 2, count: 2 },
      { index: 2, count: 2 },
    ])
    await chat.conversation.switchVersion(regenerated.messages[0]?.message.id ?? '', 1)
    expect(said(chat.conversation.getSnapshot())).toEqual(['user: One', 'assistant: You said One (1)'])
    await chat.conversation.switchVersion(first, 2)
    expect(said(chat.conversation.getSnapshot())).toEqual(['user: Two', 'assistant: You said Two (3)'])
    await chat.close()
  })

  it('is not found by what a version says that does not show', async () => {
    const chat = browser().open({ model: () => 'Yes.' })
    for (const text of ['The zebra is one.', 'Then the heron.']) {
      await chat.conversation.send(text)
      await until(chat, idle)
    }
    const id = chat.conversation.getSnapshot().messages[0]?.message.id ?? ''
    await chat.conversation.edit(id, 'The walrus is two.')
    const { messages } = await until(chat, idle)
    const found = async (query: string) =>
      (await chat.sessions.search(query)).map(({ messageId }) => messageId)
    expect(await found('walrus')).toEqual([messages[0]?.message.id])
    expect(await found('heron')).toEqual([])
    await chat.conversation.switchVersion(messages[0]?.message.id ?? '', 1)
    expect(await found('heron')).toEqual([chat.conversation.getSnapshot().messages[2]?.message.id])
    await chat.close()
  })

  it('shows the old reply again where no other one could be made', async () => {
    let fails = false
    const chat = browser().open({
      model: (messages) => {
        if (fails) throw new Error('no such model')
        return echo(messages)
      },
    })
    await chat.conversation.send('One')
    await until(chat, idle)
    fails = true
    await chat.conversation.regenerate()
    const state = await until(chat, idle)
    expect(said(state)).toEqual(['user: One', 'assistant: You said One'])
    expect(state.problem?.code).toBe('ERR_MODEL')
    await chat.close()
  })

  it('is followed by other tabs', async () => {
    const device = browser()
    const [one, two] = [device.open({ model: echo }), device.open({ model: echo })]
    const id = await one.conversation.create()
    await one.conversation.send('Hello')
    await until(one, idle)
    await two.conversation.open(id)
    await one.conversation.send('Again')
    const state = await until(two, (state) => idle(state) && state.messages.length === 4)
    expect(said(state)).toEqual([
      'user: Hello',
      'assistant: You said Hello',
      'user: Again',
      'assistant: You said Again',
    ])
    await Promise.all([one.close(), two.close()])
  })

  it('answers what is said while a reply is made, after it', async () => {
    let release = (): void => {}
    let begin = (): void => {}
    const begun = new Promise<void>((resolve) => {
      begin = resolve
    })
    const chat = browser().open({
      model: async (messages) => {
        const reply = echo(messages)
        if (reply === 'You said One')
          await new Promise<void>((resolve) => {
            release = resolve
            begin()
          })
        return reply
      },
    })
    await chat.conversation.send('One')
    await begun
    expect(await chat.conversation.send('Two')).toBe(true)
    release()
    const state = await until(chat, (state) => idle(state) && state.messages.length === 4)
    expect(said(state)).toEqual([
      'user: One',
      'assistant: You said One',
      'user: Two',
      'assistant: You said Two',
    ])
    await chat.close()
  })

  it('names a demo as one', async () => {
    const chat = browser().open()
    await chat.conversation.send('Hello')
    const state = await until(chat, idle)
    expect(state.model).toEqual({ id: 'demo', isDemo: true })
    expect(said(state)[1]).toContain('scripted demo')
    await chat.close()
  })

  it('names none where the page gives its model late, from the first message that it answers', async () => {
    let model: typeof echo | undefined
    const chat = openChat({
      get model() {
        return model
      },
      platform: browser().platform,
    })
    await chat.conversation.create()
    expect(chat.conversation.getSnapshot().model).toEqual({ id: 'demo', isDemo: true })
    model = echo
    await chat.conversation.send('Hello')
    expect((await until(chat, idle)).model).toEqual({ id: 'page', isDemo: false })
    await chat.close()
  })
})
