/** The AI SDK's own `useChat`, in a DOM, against a chat of ours, wherever that runs. */
import { useChat } from '@ai-sdk/react'
import { type ChatInit, DefaultChatTransport, type HttpChatTransportInitOptions, type UIMessage } from 'ai'
import type { JSDOM } from 'jsdom'
import { createElement } from 'react'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'

/** One reply of the model. */
export interface ChatReply {
  readonly reasoning?: string
  /** Comes word by word. */
  readonly text?: string
  readonly calls?: readonly { readonly name: string; readonly input: unknown }[]
  /** Waited for before the last word. */
  readonly until?: Promise<unknown>
  /** Whether the call fails after all of that. */
  readonly fails?: true
}

/** A fresh session behind HTTP, with a model that gives these replies in their order. */
export interface ChatServer {
  /**
   * Where a chat posts to, for example `http://edge/v1/sessions/trip/chat`; `GET {api}/current`
   * resumes, as does `GET {api}/{chat}/stream`.
   */
  readonly api: string
  readonly fetch: typeof fetch
  /** Stops the run that goes on. */
  stop(): Promise<unknown>
  /** What a page shows after a reload: `toUIMessages` of the session's history. */
  reload(): Promise<UIMessage[]>
  close?(): Promise<void>
}

export type Connect = (replies: readonly ChatReply[]) => Promise<ChatServer>

export interface UseChatOptions {
  /**
   * Whether the agent has the tools `add` (gives `{ sum }` of `a` and `b`) and `fail` (throws).
   * Default `true`.
   */
  readonly tools?: boolean
}

type Chat = ReturnType<typeof useChat>

interface Page {
  readonly chat: Chat
  /** All that was shown, one after the other. */
  readonly statuses: readonly Chat['status'][]
  leave(): void
}

interface PageOptions {
  readonly resume?: boolean
  readonly messages?: UIMessage[]
  readonly transport?: Partial<HttpChatTransportInitOptions<UIMessage>>
  readonly init?: Partial<ChatInit<UIMessage>>
}

/** Runs the suite. Each test has a session of its own. */
export function describeUseChat(name: string, connect: Connect, { tools = true }: UseChatOptions = {}): void {
  describe(`useChat against ${name}`, () => {
    const pages: Page[] = []
    const servers: ChatServer[] = []
    let dom: JSDOM
    let mount: (component: () => null) => () => void

    beforeAll(async () => {
      const { JSDOM: Dom } = await import('jsdom')
      dom = new Dom('<!doctype html><body></body>')
      Object.assign(globalThis, { window: dom.window, document: dom.window.document })
      // It looks for a document when it is loaded.
      const { createRoot } = await import('react-dom/client')
      mount = (component) => {
        const root = createRoot(dom.window.document.createElement('div'))
        root.render(createElement(component))
        return () => root.unmount()
      }
    })
    afterEach(async () => {
      for (const page of pages.splice(0)) page.leave()
      for (const server of servers.splice(0)) await server.close?.()
    })
    afterAll(async () => {
      // React looks once more for work after the last unmount.
      await new Promise((resolve) => setTimeout(resolve, 50))
      dom.window.close()
      Reflect.deleteProperty(globalThis, 'window')
      Reflect.deleteProperty(globalThis, 'document')
    })

    const serve = async (replies: readonly ChatReply[]): Promise<ChatServer> => {
      const server = await connect(replies)
      servers.push(server)
      return server
    }

    /** A page with one chat, as a component has it. */
    const open = async (
      server: ChatServer,
      { resume = false, messages = [], transport, init }: PageOptions = {},
    ): Promise<Page> => {
      let chat: Chat | undefined
      const statuses: Chat['status'][] = []
      const wire = new DefaultChatTransport({ api: server.api, fetch: server.fetch, ...transport })
      const leave = mount(() => {
        chat = useChat({ id: 'chat', messages, transport: wire, resume, ...init })
        if (statuses.at(-1) !== chat.status) statuses.push(chat.status)
        return null
      })
      await vi.waitFor(() => expect(chat).toBeDefined())
      const page: Page = {
        get chat() {
          return chat as Chat
        },
        statuses,
        leave,
      }
      pages.push(page)
      return page
    }

    // What a call of the hook has done shows with the next render.
    const rendered = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20))
    const until = (page: Page, status: Chat['status']): Promise<void> =>
      vi.waitFor(() => expect(page.chat.status).toBe(status), { timeout: 10_000 })
    const showing = (page: Page, text: string): Promise<void> =>
      vi.waitFor(() => expect(textsOf(page.chat.messages).join('\n')).toContain(text), { timeout: 10_000 })
    const done = async (page: Page, asked: Promise<void>): Promise<void> => {
      await asked
      await rendered()
      await until(page, 'ready')
    }
    const say = (page: Page, text: string): Promise<void> => done(page, page.chat.sendMessage({ text }))
    const expectReload = async (page: Page, server: ChatServer): Promise<void> =>
      expect(page.chat.messages.map(plain)).toEqual((await server.reload()).map(plain))

    it('shows the reply as it comes, and a reload shows the same', async () => {
      const last = gate()
      const server = await serve([
        { reasoning: 'A train, then.', text: 'It leaves at 9:40.', until: last.opened },
      ])
      const page = await open(server)
      void page.chat.sendMessage({ text: 'When does it leave?' })
      await showing(page, 'It leaves at')
      expect(textsOf(page.chat.messages).join()).not.toContain('9:40')
      expect(page.chat.status).toBe('streaming')
      last.open()
      await until(page, 'ready')
      expect(page.statuses.filter((status) => status !== 'submitted')).toEqual([
        'ready',
        'streaming',
        'ready',
      ])
      expect(textsOf(page.chat.messages)).toEqual(['When does it leave?', 'It leaves at 9:40.'])
      await expectReload(page, server)
    })

    it('shows several rounds, each with an id of its own', async () => {
      const server = await serve([{ text: 'One.' }, { text: 'Two.' }])
      const page = await open(server)
      await say(page, 'First')
      await say(page, 'Second')
      expect(textsOf(page.chat.messages)).toEqual(['First', 'One.', 'Second', 'Two.'])
      expect(new Set(page.chat.messages.map(({ id }) => id)).size).toBe(4)
      await expectReload(page, server)
    })

    it.runIf(tools)(
      'shows steps with tools, parallel ones and ones that fail, as a reload does',
      async () => {
        const server = await serve([
          {
            reasoning: 'Two sums.',
            text: 'Let me see.',
            calls: [
              { name: 'add', input: { a: 2, b: 3 } },
              { name: 'fail', input: {} },
              { name: 'add', input: { a: 'two' } },
            ],
          },
          { calls: [{ name: 'nothing', input: { deep: [1, { two: null }] } }] },
          { reasoning: 'Done.', text: 'It is 5.' },
        ])
        const page = await open(server)
        await say(page, 'Add 2 and 3')
        const parts = page.chat.messages.at(-1)?.parts ?? []
        expect(parts.map(({ type }) => type)).toEqual([
          ...['step-start', 'reasoning', 'text', 'tool-add', 'tool-fail', 'tool-add'],
          ...['step-start', 'tool-nothing'],
          ...['step-start', 'reasoning', 'text'],
        ])
        expect(parts[3]).toMatchObject({ state: 'output-available', output: { sum: 5 } })
        expect(parts[4]).toMatchObject({ state: 'output-error', errorText: 'Error: it is broken' })
        expect(parts[5]).toMatchObject({ state: 'output-error' })
        await expectReload(page, server)
      },
    )

    it('regenerates the newest reply, again and again', async () => {
      const server = await serve([{ text: 'Red.' }, { text: 'Green.' }, { text: 'Blue.' }])
      const page = await open(server)
      await say(page, 'A colour?')
      for (const colour of ['Green.', 'Blue.']) {
        await done(page, page.chat.regenerate())
        expect(textsOf(page.chat.messages)).toEqual(['A colour?', colour])
        await expectReload(page, server)
      }
    })

    it('regenerates an earlier reply, and what followed it is gone', async () => {
      const server = await serve([{ text: 'One.' }, { text: 'Two.' }, { text: 'Uno.' }])
      const page = await open(server)
      await say(page, 'First')
      await say(page, 'Second')
      const messageId = page.chat.messages[1]?.id
      await done(page, page.chat.regenerate(messageId === undefined ? {} : { messageId }))
      expect(textsOf(page.chat.messages)).toEqual(['First', 'Uno.'])
      await expectReload(page, server)
    })

    it('edits a message, again, and goes on from there', async () => {
      const server = await serve([
        ...[{ text: 'To Turin.' }, { text: 'Anything else?' }, { text: 'To Rome.' }, { text: 'To Bari.' }],
        { text: 'You are welcome.' },
      ])
      const page = await open(server)
      await say(page, 'Turin')
      await say(page, 'Fine')
      const messageId = page.chat.messages[0]?.id ?? ''
      for (const town of ['Rome', 'Bari']) {
        await done(page, page.chat.sendMessage({ text: town, messageId }))
        expect(textsOf(page.chat.messages)).toEqual([town, `To ${town}.`])
        const [shown] = await server.reload()
        expect(shown?.id).toBe(messageId)
      }
      await say(page, 'Thanks')
      expect(textsOf(await server.reload())).toEqual(['Bari', 'To Bari.', 'Thanks', 'You are welcome.'])
      expect(textsOf(page.chat.messages)).toEqual(textsOf(await server.reload()))
    })

    const paths: readonly (readonly [string, Partial<HttpChatTransportInitOptions<UIMessage>>])[] = [
      ['the path of the SDK', {}],
      ['a path of the app', { prepareReconnectToStreamRequest: ({ api }) => ({ api: `${api}/current` }) }],
    ]
    for (const [path, transport] of paths)
      it(`goes on when the page is left, and a page that comes back by ${path} reads it whole`, async () => {
        const last = gate()
        const server = await serve([{ text: 'It leaves at 9:40.', until: last.opened }])
        const first = await open(server)
        void first.chat.sendMessage({ text: 'When?' })
        await showing(first, 'It leaves at')
        first.leave()
        const second = await open(server, { resume: true, messages: await server.reload(), transport })
        await showing(second, 'It leaves at')
        last.open()
        await until(second, 'ready')
        expect(textsOf(second.chat.messages)).toEqual(['When?', 'It leaves at 9:40.'])
        await expectReload(second, server)
      })

    it('goes on when nobody reads', async () => {
      const last = gate()
      const server = await serve([{ text: 'It leaves at 9:40.', until: last.opened }])
      const page = await open(server)
      void page.chat.sendMessage({ text: 'When?' })
      await showing(page, 'It leaves at')
      page.leave()
      last.open()
      await vi.waitFor(async () =>
        expect(textsOf(await server.reload())).toEqual(['When?', 'It leaves at 9:40.']),
      )
      const late = await open(server, { resume: true, messages: await server.reload() })
      await new Promise((resolve) => setTimeout(resolve, 100))
      expect(late.chat.status).toBe('ready')
      expect(late.chat.error).toBeUndefined()
      await expectReload(late, server)
    })

    it('stops, and the next message is answered', async () => {
      const never = gate()
      const server = await serve([{ text: 'It leaves at 9:40.', until: never.opened }, { text: 'Here.' }])
      const page = await open(server)
      void page.chat.sendMessage({ text: 'When?' })
      await showing(page, 'It leaves at')
      await server.stop()
      await rendered()
      await until(page, 'ready')
      expect(page.chat.error).toBeUndefined()
      await say(page, 'Still there?')
      expect(textsOf(await server.reload())).toEqual(['When?', 'Still there?', 'Here.'])
      never.open()
    })

    it('shows that the model failed by a code and nothing else, and tries again', async () => {
      const server = await serve([{ text: 'It leaves', fails: true }, { text: 'It leaves at 9:40.' }])
      const page = await open(server)
      await page.chat.sendMessage({ text: 'When?' })
      await until(page, 'error')
      expect(page.chat.error?.message).toMatch(/^ERR_MODEL: /)
      expect(page.chat.error?.message).not.toContain('secret')
      await done(page, page.chat.regenerate())
      expect(textsOf(page.chat.messages)).toEqual(['When?', 'It leaves at 9:40.'])
      await expectReload(page, server)
    })

    it('sends the newest message alone where the app says so', async () => {
      const server = await serve([{ text: 'One.' }, { text: 'Two.' }])
      const page = await open(server, {
        transport: {
          prepareSendMessagesRequest: ({ messages, ...rest }) => ({
            body: { ...rest, message: messages.at(-1) },
          }),
        },
      })
      await say(page, 'First')
      await say(page, 'Second')
      expect(textsOf(page.chat.messages)).toEqual(['First', 'One.', 'Second', 'Two.'])
      await expectReload(page, server)
    })
  })
}

/** Something to wait for until it is opened. */
function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}

/** What each message says. */
function textsOf(messages: readonly UIMessage[]): string[] {
  return messages.map(({ parts }) =>
    parts.flatMap((part) => (part.type === 'text' ? part.text : [])).join(''),
  )
}

/** A message as it travels, without what names reasoning in a stream only. */
function plain(message: UIMessage): UIMessage {
  const copy = JSON.parse(JSON.stringify(message)) as UIMessage
  return {
    ...copy,
    parts: copy.parts.map((part) => {
      if (part.type !== 'reasoning') return part
      const { id: _, ...rest } = part
      return rest
    }),
  }
}
