import { BaseListChatMessageHistory } from '@langchain/core/chat_history'
import { type BaseMessage, HumanMessage, SystemMessage } from '@langchain/core/messages'
import { type Runnable, RunnableLambda } from '@langchain/core/runnables'
import { convertToOpenAITool } from '@langchain/core/utils/function_calling'
import type { KernelSession } from '../../kernel/feature.ts'
import { messageIn } from '../../kernel/log/bodies.ts'
import { readEntry } from '../../kernel/log/entries.ts'
import { duplicate } from '../../kernel/log/writer.ts'
import { checkAsked } from '../../operations/check-asked.ts'
import { clearLog } from '../../operations/forget/clear-log.ts'
import { kernelOf } from '../../operations/kernel-of.ts'
import { readMessages } from '../../operations/marks.ts'
import { writeRewinds } from '../../operations/rewind.ts'
import { rewindOp } from '../../operations/rewinds.ts'
import type { Context } from '../../ports/context.ts'
import { isRecord } from '../../ports/is-record.ts'
import type { Session } from '../../ports/memory.ts'
import type { Json, Message, MessageInput, ToolSpec } from '../../ports/message.ts'
import type { RewindMark } from '../../ports/op.ts'
import { checkObject } from '../../ports/options.ts'
import type { ContextOptions } from '../../ports/session.ts'
import { canonical, invalid } from '../../text/json.ts'
import { isBlankContent, shownContext } from '../shapes.ts'
import { langChainMessages, shownMessages, storedIn, storedOf } from './messages.ts'
import { type Stored, toMessage } from './stored.ts'

/** What a trimmer asks of each context. */
export interface TrimmerOptions extends Omit<ContextOptions, 'tools' | 'system' | 'preview' | 'newEpoch'> {
  /** The tools that the model is bound to: the budget counts them. Default: none. */
  readonly tools?: readonly Parameters<typeof convertToOpenAITool>[0][]
}

/**
 * The chat history of LangChain over a session of this library: messages come back as they were,
 * and {@link PlimsollChatHistory.trimmer} takes the place of `trimMessages`.
 *
 * A message with an id is written once: adding it again changes nothing. Messages that are added
 * at once are written in one commit. `clear` forgets them for ever.
 *
 * Calls reject with what the session rejects with; ERR_INVALID_ARGUMENT: it is no message that is
 * JSON; ERR_DUPLICATE_ID: its id names another message. Nothing is written then.
 *
 * @example
 * ```ts
 * import { HumanMessage } from '@langchain/core/messages'
 * import { PlimsollChatHistory } from 'plimsoll/langchain'
 *
 * const history = new PlimsollChatHistory(memory.session({ userId: 'ada', sessionId: 'trip' }))
 * await history.addMessage(new HumanMessage('Book the 9:40 to Turin.'))
 * const reply = await history.trimmer().pipe(model).invoke(await history.getMessages())
 * ```
 */
export class PlimsollChatHistory extends BaseListChatMessageHistory {
  lc_namespace = ['plimsoll', 'langchain']
  readonly #session: Session
  readonly #kernel: KernelSession

  /** @throws ERR_INVALID_ARGUMENT: it is no session of this library */
  constructor(session: Session) {
    super()
    this.#kernel = kernelOf('PlimsollChatHistory', session)
    this.#session = session
  }

  getMessages(): Promise<BaseMessage[]> {
    return this.#kernel.run(async () =>
      langChainMessages((await readMessages(this.#kernel.store)).map(storedIn)),
    )
  }

  addMessage(message: BaseMessage): Promise<void> {
    return this.addMessages([message])
  }

  override async addMessages(messages: BaseMessage[]): Promise<void> {
    const added = storedOf('addMessages', messages).map(toMessage)
    await this.#kernel.run(async () => {
      const fresh: MessageInput[] = []
      for (const message of added)
        if (!(await this.#isWritten(message)) && !isAmong(message, fresh)) fresh.push(message)
      if (fresh.length === 0) return
      const { mismatch } = await this.#kernel.append('addMessages', fresh)
      // Another process wrote another message of such an id first, and nothing was written here.
      if (mismatch) for (const message of fresh) await this.#isWritten(message)
    })
  }

  /** Forgets all messages for ever. */
  override async clear(): Promise<void> {
    await clearLog(this.#session)
  }

  /**
   * In place of `trimMessages`: is given the messages of a conversation, all of them or its newest,
   * writes those that the log does not have, and gives the session's context, instructions first.
   * The system message that they begin with is the context's `system` and is not written. Where
   * they leave the log, at an edit for example, what the log has from there on is hidden, as by
   * `rewind`. A call rejects with what `context()` rejects with.
   *
   * @throws ERR_INVALID_ARGUMENT
   */
  trimmer(options: TrimmerOptions = {}): Runnable<BaseMessage[], BaseMessage[]> {
    checkObject('trimmer', 'options', options)
    const { tools = [], ...contextOptions } = options
    checkAsked('trimmer', this.#session, contextOptions, ['system', 'preview', 'newEpoch'])
    if (!Array.isArray(tools)) throw invalid('trimmer', 'tools', 'must be a list')
    const specs = tools.map(specOf)
    return RunnableLambda.from(async (messages: BaseMessage[]) => {
      const all = storedOf('trimmer', messages)
      const from = all[0]?.type === 'system' ? 1 : 0
      await this.#kernel.run(() => this.#follow(all.slice(from)))
      const system = from === 1 ? messages[0]?.text : undefined
      const asked = { ...contextOptions, tools: specs, ...(system !== undefined && { system }) }
      return toLangChain(await this.#session.context(asked))
    })
  }

  async #isWritten(message: MessageInput): Promise<boolean> {
    if (message.id === undefined) return false
    const row = await readEntry(this.#kernel.store, message.id)
    const written = row && messageIn(row)
    if (!row) return false
    if (!written || !isSame(written, message)) throw duplicate('addMessages', message.id)
    return true
  }

  /** Makes the log end with what the messages say. */
  async #follow(given: readonly Stored[]): Promise<void> {
    const log = await readMessages(this.#kernel.store)
    const said = log.map((message) => saidBy(storedIn(message)))
    const asked = given.map(saidBy)
    let from = Math.max(0, said.length - asked.length)
    while (!said.slice(from).every((text, at) => text === asked[at])) from++
    // They begin with the end of the log; or else with its beginning, and leave it there.
    let shared = said.length - from
    let kept = said.length
    if (shared === 0) {
      const end = said.findIndex((text, at) => text !== asked[at])
      shared = end < 0 ? said.length : end
      if (shared > 0) kept = shared
    }
    const { memory, store } = this.#kernel
    const fresh: MessageInput[] = []
    for (const { id, ...message } of given.slice(shared).map(toMessage)) {
      const isFree = id !== undefined && !(await readEntry(store, id))
      fresh.push({ ...message, ...(isFree && { id }) })
    }
    const hides = log.slice(kept).map(({ id }) => id)
    const after = log[kept - 1]?.id ?? null
    const mark: RewindMark = { type: 'rewind', id: memory.host.newId(), hides, after }
    const ops = hides.length > 0 ? [rewindOp('trimmer', mark)] : []
    if (fresh.length > 0) await this.#kernel.append('trimmer', fresh, {}, async () => ops)
    else if (ops.length > 0) await writeRewinds(this.#kernel, 'trimmer', [mark])
  }
}

/** A context as messages of LangChain: its instructions, if there are any, come first. */
export function toLangChain(context: Context): BaseMessage[] {
  const names = new Map<string, string>()
  const { system, messages } = shownContext<BaseMessage>(context, {
    user: (text) => new HumanMessage(text),
    block: (role, parts) => shownMessages(role, parts, names).filter(saysSomething),
  })
  return [...(system === undefined ? [] : [new SystemMessage(system)]), ...messages]
}

/** Not a message of blank texts alone, which not every provider takes. */
function saysSomething(message: BaseMessage): boolean {
  const calls = (message as { readonly tool_calls?: readonly object[] }).tool_calls ?? []
  return message.type === 'tool' || calls.length > 0 || !isBlankContent(message.content as never)
}

/** Whether a message is one of others. @throws ERR_DUPLICATE_ID: one of them has its id alone */
function isAmong(message: MessageInput, others: readonly MessageInput[]): boolean {
  const other = message.id === undefined ? undefined : others.find(({ id }) => id === message.id)
  if (other && !isSame(other, message)) throw duplicate('addMessages', String(message.id))
  return other !== undefined
}

function isSame(one: MessageInput, other: MessageInput): boolean {
  return saidBy(storedIn(one as Message)) === saidBy(storedIn(other as Message))
}

/** What a message says, whatever its provider noted beside it. */
function saidBy({ type, data }: Stored): string {
  const { content = '', tool_call_id = null, tool_calls } = data
  const calls = Array.isArray(tool_calls) ? tool_calls.map(({ id, name, args }) => [id, name, args]) : []
  return canonical([type, content, tool_call_id, calls] as Json)
}

/** @throws ERR_INVALID_ARGUMENT: it is no tool that LangChain knows */
function specOf(tool: Parameters<typeof convertToOpenAITool>[0], at: number): ToolSpec {
  const { name, description, parameters } = functionOf(tool, at)
  return {
    name,
    ...(description !== undefined && { description }),
    inputSchema: JSON.parse(JSON.stringify(parameters ?? {})),
  }
}

function functionOf(tool: Parameters<typeof convertToOpenAITool>[0], at: number) {
  const made = isRecord(tool) ? convertToOpenAITool(tool).function : undefined
  if (!made) throw invalid('trimmer', `tools[${at}]`, 'must be a tool')
  return made
}
