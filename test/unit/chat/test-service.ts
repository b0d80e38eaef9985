import {
  attach,
  createMemory,
  type Message,
  type MessageInput,
  mapStore,
  readAttachment,
  type Session,
  type Store,
} from '../../../src/index.ts'
import { deleteSession } from '../../../src/operations/delete-session.ts'
import { eraseUser } from '../../../src/operations/forget/erase.ts'
import { listSession, listSessions } from '../../../src/operations/sessions.ts'
import { exportFrom } from '../../../src/operations/transfer/export.ts'
import { importInto } from '../../../src/operations/transfer/import.ts'
import { homeStore, syncServer } from '../../../src/sync/index.ts'
import { fullMemory } from '../../contract/full-memory.ts'

/** What an edge says of what it has not: its own word, and no host's. */
export const absent = (): Response =>
  Response.json(
    { code: 'ERR_NOT_FOUND', detail: 'there is none' },
    { status: 404, headers: { 'content-type': 'application/problem+json' } },
  )

interface Posted {
  readonly id: string
  readonly parts: readonly { readonly text: string }[]
}

/** A service in this process: sync, chats that are answered at once, and guests. */
export class TestService {
  readonly #store = mapStore()
  readonly #home: Store
  readonly #sync: (request: Request) => Promise<Response>
  readonly #memory: ReturnType<typeof createMemory>
  /** What was asked, in order. */
  readonly asked: string[] = []
  /** What came with a request for its answer, and not by sync. */
  readonly posted: string[] = []
  /** Whether it can be reached. */
  isThere = true
  /** For this each answer of it waits. */
  until: Promise<void> = Promise.resolve()
  /** Whether it takes any token. */
  isKnown = true
  /** Whether it says that a script answers. */
  isDemo = false
  /** What it says. */
  reply: (said: string) => string | Promise<string> = (said) => `Reply to ${said}`
  /** What it streams of a reply that fails then. */
  partial = ''
  /** What it takes of no device. */
  refuses: (text: string) => boolean = () => false
  readonly #answers = new Map<string, Promise<string>>()
  readonly #sessions = new Map<string, Session>()
  #guests = 0

  constructor() {
    let toks = 0
    const newTok = (): string => `tok${++toks}`
    this.#home = homeStore(this.#store, { newTok })
    this.#memory = createMemory({ store: this.#home, budget: 16_000 })
    this.#sync = syncServer({
      store: this.#store,
      newTok,
      authenticate: async (request) => (this.isKnown ? { userId: userOf(request) } : undefined),
      check: async () => (op) => (this.refuses(op.bodies.join()) ? 'too-large' : undefined),
    })
  }

  readonly fetch = async (url: string, init: RequestInit): Promise<Response> => {
    if (!this.isThere) throw new TypeError('fetch failed')
    const request = new Request(url, init)
    // Firefox has no requests that can be read as streams, which services do.
    if (init.body && !request.body)
      Object.defineProperty(request, 'body', { value: new Response(init.body).body })
    const { pathname } = new URL(url)
    this.asked.push(`${request.method} ${pathname}`)
    await this.until
    if (pathname === '/health') return Response.json({ status: 'ok', ...(this.isDemo && { demo: true }) })
    if (pathname.startsWith('/v1/sync/')) return this.#sync(request)
    if (pathname === '/v1/guests')
      return Response.json({
        token: `guest-${++this.#guests}`,
        userId: `guest-${this.#guests}`,
        expiresAt: 0,
      })
    if (pathname === '/v1/me/claim') return this.#claim(request)
    if (pathname === '/v1/me' && request.method === 'DELETE') {
      await eraseUser(this.#memory, { userId: userOf(request) })
      return Response.json({
        action: 'erase',
        target: '',
        already: false,
        removed: {},
        confirmed: [],
        pending: [],
      })
    }
    const [, sessionId] = /^\/v1\/sessions\/([^/]+)\/chat$/.exec(pathname) ?? []
    if (sessionId !== undefined && request.method === 'POST') return this.#chat(request, sessionId)
    const [, into] = /^\/v1\/sessions\/([^/]+)\/messages$/.exec(pathname) ?? []
    if (into !== undefined && request.method === 'POST') {
      const { messages, round } = (await request.json()) as {
        messages: readonly MessageInput[]
        round: string
      }
      return Response.json(await this.session(userOf(request), into).append(messages, { round }))
    }
    return absent()
  }

  /** The one that its chats go on in. */
  session(userId: string, sessionId: string): Session {
    const name = `${userId}/${sessionId}`
    const session = this.#sessions.get(name) ?? this.#memory.session({ userId, sessionId })
    this.#sessions.set(name, session)
    return session
  }

  /** As the service has it. */
  async history(userId: string, sessionId: string): Promise<readonly Message[]> {
    return this.#memory.session({ userId, sessionId }).history()
  }

  /** Bytes of the files of what was said last, as the service has them. */
  async files(userId: string, sessionId: string): Promise<readonly string[]> {
    const session = this.#memory.session({ userId, sessionId })
    const said = (await session.history()).findLast(({ role }) => role === 'user')
    const parts = typeof said?.content === 'object' ? said.content : []
    const refs = parts.flatMap((part) => (part.type === 'media' && part.ref ? [part.ref] : []))
    const read = await Promise.all(refs.map((ref) => readAttachment(session, ref)))
    return read.map(({ mediaType, bytes }) => `${mediaType}: ${new TextDecoder().decode(bytes)}`)
  }

  /** Keeps a file there that no message names: no device fetches it by itself. */
  async attach(userId: string, sessionId: string, text: string): Promise<string> {
    const bytes = new TextEncoder().encode(text)
    const session = this.#memory.session({ userId, sessionId })
    const { ref = '' } = await attach(session, { mediaType: 'text/html', bytes })
    return ref
  }

  async titles(userId: string): Promise<readonly string[]> {
    return (await listSessions(this.#memory, { userId })).map(({ title }) => title)
  }

  /** Lists it there without a title, as a service does with a log that it is pushed. */
  async list(userId: string, sessionId: string): Promise<void> {
    await listSession(this.#memory, { userId, sessionId })
  }

  /** Remembers it there, as another device would. @returns id of the fact */
  async remember(userId: string, text: string): Promise<string> {
    const memory = fullMemory({ store: this.#home, budget: 16_000 })
    const { fact } = await memory.user({ userId }).facts.remember({ kind: 'preference', text })
    return fact.id
  }

  /** Deletes it there, as a service does with a log that a device has erased. */
  async delete(userId: string, sessionId: string): Promise<void> {
    await deleteSession(this.#memory, { userId }, sessionId)
  }

  /** Writes something there, as another device would. */
  async say(
    userId: string,
    sessionId: string,
    content: string,
    { role = 'user', id }: { readonly role?: 'user' | 'assistant'; readonly id?: string | undefined } = {},
  ) {
    await this.#memory
      .session({ userId, sessionId })
      .append({ ...(id !== undefined && { id }), role, content })
  }

  /** Gives what a guest has to the caller: a session whose name is taken gets another one. */
  async #claim(request: Request): Promise<Response> {
    const { token: guest } = (await request.json()) as { readonly token: string }
    const userId = userOf(request)
    const ids = (await listSessions(this.#memory, { userId })).map(({ sessionId }) => sessionId)
    const sessions = (await listSessions(this.#memory, { userId: guest })).map(({ sessionId: from }) => ({
      from,
      to: ids.includes(from) ? `${from} of the guest` : from,
    }))
    for (const { from, to } of sessions)
      await importInto(
        this.#memory,
        { userId, sessionId: to },
        exportFrom(this.#memory, { userId: guest, sessionId: from }),
      )
    await eraseUser(this.#memory, { userId: guest })
    return Response.json({ sessions: sessions.filter(({ from, to }) => from !== to), facts: 0 })
  }

  async #answer(session: Session, { id, content }: Message): Promise<string> {
    await session.context()
    const text = await this.reply(String(content))
    await session.append({ role: 'assistant', content: text }, { round: id })
    return text
  }

  async #chat(request: Request, sessionId: string): Promise<Response> {
    const { messages } = (await request.json()) as { readonly messages: readonly Posted[] }
    const session = this.session(userOf(request), sessionId)
    const posted = messages.at(-1)
    const known = (await session.history()).find(({ id }) => id === posted?.id)
    if (!known) {
      // As a service does, which has it for good as it was said first.
      this.posted.push(posted?.parts.map(({ text }) => text).join() ?? '')
      await session.append({ id: posted?.id ?? '', role: 'user', content: this.posted.at(-1) ?? '' })
    }
    const said = (await session.history()).find(({ id }) => id === posted?.id)
    if (!said) return absent()
    // The same request again joins the one that goes on, or reads again what came of it.
    const before = this.#answers.get(said.id)
    const isShown = async (text: string) => (await session.history()).some(({ content }) => content === text)
    const answering = before && (await isShown(await before)) ? before : this.#answer(session, said)
    this.#answers.set(said.id, answering)
    const text = await answering.catch(() => undefined)
    if (text === undefined) this.#answers.delete(said.id)
    const begun = [
      { type: 'start' },
      { type: 'start-step' },
      { type: 'text-start', id: '1' },
      { type: 'text-delta', id: '1', delta: text ?? this.partial },
    ]
    const failed = [
      ...(this.partial ? begun : begun.slice(0, 1)),
      { type: 'error', errorText: 'ERR_MODEL: the model failed' },
    ]
    const answered = [...begun, { type: 'text-end', id: '1' }, { type: 'finish-step' }, { type: 'finish' }]
    const lines = [
      ...(text === undefined ? failed : answered).map((chunk) => JSON.stringify(chunk)),
      '[DONE]',
    ]
    return new Response(lines.map((line) => `data: ${line}\n\n`).join(''), {
      headers: { 'Content-Type': 'text/event-stream', 'Plimsoll-Run': 'run' },
    })
  }
}

function userOf({ headers }: Request): string {
  return headers.get('authorization')?.replace('Bearer ', '') ?? ''
}
