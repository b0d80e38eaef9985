import { messageIn } from '../../kernel/log/bodies.ts'
import { readAll } from '../../kernel/log/entries.ts'
import { hiddenBy } from '../../kernel/log/fold.ts'
import { readRewinds } from '../../kernel/log/history.ts'
import { switchTo } from '../../operations/branches.ts'
import { kernelOf } from '../../operations/kernel-of.ts'
import { rewind } from '../../operations/rewind.ts'
import { defined } from '../../ports/defined.ts'
import { isPlimsollError, PlimsollError } from '../../ports/errors.ts'
import type { SessionBase } from '../../ports/memory.ts'
import type { Json, JsonObject, MessageInput } from '../../ports/message.ts'
import { canonical } from '../../text/json.ts'
import { fromUIMessages, logId } from '../ai-sdk/from-ui.ts'
import { jsonOf } from '../ai-sdk/opaque.ts'
import { toUIMessages } from '../ai-sdk/to-ui.ts'
import { joinMessage, splitMessage, threadMessageOf, type UIPart } from './thread-message.ts'

/** As much of a message of assistant-ui as is read. */
export interface ThreadMessageLike {
  readonly id: string
  readonly role: string
}

/** A message, and the one that it follows; `null`: none. */
export interface ThreadItem<Message> {
  message: Message
  parentId: string | null
}

/** How another runtime's messages are stored: assistant-ui's `MessageFormatAdapter`. */
export interface MessageFormat<Message, Stored> {
  readonly format: string
  encode(item: ThreadItem<Message>): Stored
  decode(stored: {
    id: string
    parent_id: string | null
    format: string
    content: Stored
  }): ThreadItem<Message>
  getId(message: Message): string
}

interface Formatted<Message> {
  load(): Promise<{ headId: string | null; messages: ThreadItem<Message>[] }>
  append(item: ThreadItem<Message>): Promise<void>
  update(item: ThreadItem<Message>, localMessageId?: string): Promise<void>
}

/** assistant-ui's `ThreadHistoryAdapter`. Nothing deletes: see `forget`. */
export interface ThreadHistory<Message extends ThreadMessageLike> extends Formatted<Message> {
  /** The same conversation for a runtime with messages of its own, `useChatRuntime` among them. */
  withFormat<Other, Stored extends { [key: string]: unknown }>(
    format: MessageFormat<Other, Stored>,
  ): Formatted<Other>
}

/**
 * What of a message is no part of a UI message: it is kept in a data part, which models are not
 * shown.
 */
interface Note extends JsonObject {
  readonly id: string
  readonly parent: string | null
  readonly format: string
  readonly shape: JsonObject
}

/** A message of the thread as the log has it. */
interface Node {
  readonly id: string
  readonly parent: string | null
  readonly format?: string
  readonly shape?: JsonObject
  readonly role: string
  readonly parts: readonly UIPart[]
  readonly metadata?: Json
  /** Id in the log of what it begins with. */
  readonly first: string
  /** Unix milliseconds. */
  readonly createdAt: number
}

/** A thread with all its versions. */
interface Thread {
  readonly nodes: ReadonlyMap<string, Node>
  /** Ids of what shows, oldest first. */
  readonly path: readonly string[]
}

const NOTE = 'data-assistant-ui'
/** Of assistant-ui's own messages. */
const OWN_FORMAT = 'assistant-ui'

/**
 * A session as the history of a thread of assistant-ui: what its runtime shows is in the log, with
 * edits and replies that were made again as versions, and what the log holds shows in it. Writes
 * follow one another.
 *
 * Contract: one of them writes to a session at a time.
 *
 * @throws as `session.append()`; `append` ERR_NOT_FOUND, where the parent is not in the log
 * @example
 * ```ts
 * import { plimsollHistory } from 'plimsoll/assistant-ui'
 *
 * const history = plimsollHistory(session) // useLocalRuntime(model, { adapters: { history } })
 * const { headId, messages } = await history.load()
 * ```
 */
export function plimsollHistory<Message extends ThreadMessageLike>(
  session: SessionBase,
): ThreadHistory<Message> {
  const thread = new ThreadLog(session)
  return {
    async load() {
      const { nodes, path } = await thread.load()
      const messages = [...nodes.values()].map((node) => ({
        message: revived(messageOf(node)) as Message,
        parentId: node.parent,
      }))
      return { headId: path.at(-1) ?? null, messages }
    },
    append: (item) => thread.put(ownNote(item)),
    update: (item) => thread.put(ownNote(item)),
    withFormat: (format) => ({
      async load() {
        const { nodes, path } = await thread.load()
        const stored = readable(nodes, format.format)
        const messages = [...stored.values()].map(({ node, content, parent }) =>
          format.decode({ id: node.id, parent_id: parent, format: format.format, content: content as never }),
        )
        return { headId: path.findLast((id) => stored.has(id)) ?? null, messages }
      },
      append: (item) => thread.put(noteOf(format, item)),
      update: (item) => thread.put(noteOf(format, item)),
    }),
  }
}

/** Dates are JSON in the log. */
function revived({ createdAt, ...message }: JsonObject): unknown {
  return { ...message, createdAt: new Date(createdAt as string | number) }
}

function messageOf({ id, role, parts, format, shape, createdAt }: Node): JsonObject {
  return format === OWN_FORMAT && shape
    ? joinMessage(id, { parts, shape })
    : threadMessageOf(id, role, parts, createdAt)
}

function ownNote({ message, parentId }: ThreadItem<ThreadMessageLike>): Draft {
  const { parts, shape } = splitMessage(jsonOf(message) as JsonObject)
  const { id, role } = message
  return { note: { id, parent: parentId, format: OWN_FORMAT, shape }, role, parts }
}

/** What is to be written of a message. */
interface Draft {
  readonly note: Note
  readonly role: string
  readonly parts: readonly UIPart[]
  readonly metadata?: Json
}

/** Formats that store UI messages are those of the AI SDK: their parts are ours. */
function noteOf<Message, Stored>(format: MessageFormat<Message, Stored>, item: ThreadItem<Message>): Draft {
  const stored = jsonOf(format.encode(item)) as JsonObject
  const { role, parts, metadata, ...shape } = stored
  const note = { id: format.getId(item.message), parent: item.parentId, format: format.format }
  if (Array.isArray(parts) && typeof role === 'string')
    return {
      note: { ...note, shape },
      role,
      parts: parts as UIPart[],
      ...(metadata !== undefined && { metadata }),
    }
  const said = splitMessage(stored)
  return { note: { ...note, shape: stored }, role: roleOf(stored), parts: said.parts }
}

function roleOf({ role, type }: JsonObject): string {
  if (role === 'assistant' || type === 'ai') return 'assistant'
  return role === 'system' || type === 'system' ? 'system' : 'user'
}

/** What a format can read, by id. What it cannot is left out, and what follows that moves up. */
function readable(nodes: Thread['nodes'], format: string) {
  const found = new Map<
    string,
    { readonly node: Node; readonly content: JsonObject; readonly parent: string | null }
  >()
  for (const node of nodes.values()) {
    const isOwn = node.format === format
    const isUI = node.shape === undefined || !('content' in node.shape)
    if (!isOwn && !(format.startsWith('ai-sdk/') && isUI)) continue
    let { parent } = node
    while (parent !== null && !found.has(parent)) parent = nodes.get(parent)?.parent ?? null
    const { role, parts, metadata } = node
    const ui = defined({ role, parts, metadata }) as JsonObject
    found.set(node.id, {
      node,
      parent,
      content: isUI ? { ...node.shape, ...ui } : (node.shape as JsonObject),
    })
  }
  return found
}

/** Reads and writes the messages of a thread. */
class ThreadLog {
  readonly #session: SessionBase
  #last: Promise<unknown> = Promise.resolve()

  constructor(session: SessionBase) {
    this.#session = session
  }

  /** What is there once all that waits is written. */
  async load(): Promise<Thread> {
    await this.#last
    return this.#read()
  }

  async #read(): Promise<Thread> {
    const kernel = kernelOf('plimsollHistory', this.#session)
    const { store } = kernel
    const [rows, rewinds] = await Promise.all([readAll(store, { kinds: ['message'] }), readRewinds(store)])
    const hidden = hiddenBy(rewinds)
    const messages = rows.flatMap((row) => messageIn(row) ?? [])
    const nodes = new Map<string, Node>()
    const before = new Map<string, string | null>()
    let head: string | null = null
    // What is hidden comes first, so that of two versions of one id the one that shows is it.
    for (const isHidden of [true, false]) {
      const part = messages.filter(({ id }) => hidden.has(id) === isHidden)
      const times = new Map(part.map(({ id, createdAt }) => [id, createdAt]))
      for (const { id: first, role, parts, metadata } of toUIMessages(part)) {
        const all = jsonOf(parts) as unknown as readonly UIPart[]
        const note = all.find(({ type }) => type === NOTE)?.data as Note | undefined
        if (!note && isHidden) continue
        const id: string = note?.id ?? first
        nodes.set(id, {
          ...{ id, parent: head, ...note, role, first, createdAt: times.get(first) ?? 0 },
          parts: all.filter(({ type }) => type !== NOTE),
          ...(metadata !== undefined && { metadata: jsonOf(metadata) }),
        })
        if (isHidden) continue
        before.set(id, head)
        head = id
      }
    }
    // What was forgotten is followed by nothing: what shows goes on from what shows before it.
    for (const [id, parent] of before) {
      const node = nodes.get(id)
      if (node && node.parent !== null && !nodes.has(node.parent)) nodes.set(id, { ...node, parent })
    }
    const ordered = sorted(nodes)
    return { nodes: ordered, path: pathTo(ordered, head) }
  }

  /** Writes a message, or another state of one that is there. Idempotent. */
  put(draft: Draft): Promise<void> {
    const done = this.#last.then(() => this.#put(draft))
    this.#last = done.catch(() => {})
    return done
  }

  async #put(draft: Draft): Promise<void> {
    const { id, parent } = draft.note
    const before = await this.#read()
    const known = before.nodes.get(id)
    if (!known) {
      if (parent !== null && !before.nodes.has(parent))
        throw new PlimsollError('ERR_NOT_FOUND', `plimsollHistory: there is no message ${parent}`, {
          id: parent,
        })
      const { path } = await this.#show(parent, before)
      await this.#hide(path.slice(path.indexOf(parent ?? '') + 1))
      return this.#write([draft])
    }
    if (canonical(saidBy(draftOf(known))) === canonical(saidBy(draft))) return
    const { nodes, path } = await this.#show(id, before)
    const from = path.indexOf(id)
    const after = path.slice(from + 1).flatMap((later) => nodes.get(later) ?? [])
    await this.#hide(path.slice(from))
    await this.#write([draft, ...after.map(draftOf)])
    await this.#show(before.path.at(-1) ?? null, await this.#read())
  }

  /** Lets a message show, whichever version it is in. */
  async #show(id: string | null, thread: Thread): Promise<Thread> {
    const { nodes, path } = thread
    const wanted = pathTo(nodes, id).flatMap((one) => nodes.get(one) ?? [])
    const place = wanted.findIndex((node) => !path.includes(node.id))
    const [other] = wanted.slice(place)
    if (place < 0 || !other) return thread
    try {
      await switchTo(this.#session, other.first)
    } catch (error) {
      if (!isPlimsollError(error, 'ERR_NOT_FOUND')) throw error
    }
    const next = await this.#read()
    if (next.path.includes(other.id)) return this.#show(id, next)
    // It says nothing, or follows an older state of what shows: it is written once more.
    await this.#hide(next.path.slice(place))
    await this.#write(wanted.slice(place).map(draftOf))
    return this.#read()
  }

  /** Hides messages that end what shows. Those that say nothing cannot be, and need not. */
  async #hide(ids: readonly string[]): Promise<void> {
    const { nodes } = await this.#read()
    for (const id of ids)
      try {
        await rewind(this.#session, nodes.get(id)?.first ?? id)
        return
      } catch (error) {
        if (!isPlimsollError(error, 'ERR_NOT_FOUND')) throw error
      }
  }

  async #write(drafts: readonly Draft[]): Promise<void> {
    const kernel = kernelOf('plimsollHistory', this.#session)
    const messages: MessageInput[] = []
    for (const { note, role, parts, metadata } of drafts) {
      const own = logId(note.id)
      // An older state of it may have its id.
      const { rows } = await kernel.store.entries({ from: own, first: 1 })
      const id = rows[0]?.id === own ? kernel.memory.host.newId() : own
      const all = [...parts, { type: NOTE, data: note }]
      const message = defined({ id, role, parts: all, metadata })
      messages.push(...fromUIMessages([message as never]))
    }
    await this.#session.append(messages)
  }
}

function draftOf({ id, parent, format = OWN_FORMAT, shape, role, parts, metadata, createdAt }: Node): Draft {
  const note = { id, parent, format, shape: shape ?? {} }
  if (shape !== undefined) return defined({ note, role, parts, metadata })
  // Of another writer: it becomes one of ours.
  return ownNote({ message: threadMessageOf(id, role, parts, createdAt) as never, parentId: parent })
}

function saidBy({ note: { shape }, role, parts, metadata }: Draft): Json {
  return [shape, role, parts as Json, metadata ?? null]
}

/** Ids from the first message down to one. */
function pathTo(nodes: ReadonlyMap<string, Node>, id: string | null): readonly string[] {
  const path: string[] = []
  for (let next = id; next !== null && nodes.has(next) && !path.includes(next); ) {
    path.push(next)
    next = nodes.get(next)?.parent ?? null
  }
  return path.reverse()
}

/** Each behind the one that it follows. Older versions of what was forgotten are left out. */
function sorted(nodes: ReadonlyMap<string, Node>): ReadonlyMap<string, Node> {
  const order = new Map<string, Node>()
  for (const id of nodes.keys()) {
    const path = pathTo(nodes, id).flatMap((one) => nodes.get(one) ?? [])
    if (path[0]?.parent === null) for (const node of path) order.set(node.id, node)
  }
  return order
}
