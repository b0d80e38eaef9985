import type {
  AgentInputItem,
  Model,
  ModelProvider,
  ModelRequest,
  SessionHistoryRewriteArgs,
  SessionHistoryRewriteAwareSession,
  SessionHistoryTransactionArgs,
  SessionHistoryTransactionAwareSession,
} from '@openai/agents'
import { readRegister } from '../../features/register.ts'
import type { KernelSession } from '../../kernel/feature.ts'
import { allOrNone, changedByOthers } from '../../kernel/log/once.ts'
import { sealOp } from '../../kernel/log/seal.ts'
import { checkAsked } from '../../operations/check-asked.ts'
import { clearLog } from '../../operations/forget/clear-log.ts'
import { kernelOf } from '../../operations/kernel-of.ts'
import { readMessages } from '../../operations/marks.ts'
import { rewindOp } from '../../operations/rewinds.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { Session } from '../../ports/memory.ts'
import type { ToolSpec } from '../../ports/message.ts'
import type { Op } from '../../ports/op.ts'
import { checkObject } from '../../ports/options.ts'
import type { ContextOptions } from '../../ports/session.ts'
import { checkMethod } from '../../text/check-value.ts'
import { hashText } from '../../text/hash.ts'
import { canonical, invalid } from '../../text/json.ts'
import { toAgentItems } from './context-items.ts'
import { agentItem, type Item, itemOf, itemsIn, toMessages } from './messages.ts'
import { snapshot } from './transaction.ts'

/** An item of the log, and the message that holds it. */
interface Entry {
  readonly message: string
  readonly item: Item
}

/** What one write changes. */
interface Change {
  readonly operation: string
  /** The items that stay at the beginning. Default: all, and nothing is read. */
  readonly keep?: { readonly entries: readonly Entry[]; readonly count: number }
  readonly add: readonly Item[]
  readonly beside?: readonly Op[]
}

/** What a loop asks of each context, beside what the call brings. */
export type AgentContextOptions = Omit<
  ContextOptions,
  'tools' | 'system' | 'preview' | 'newEpoch' | 'onPending'
>

const OWN_OPTIONS = ['tools', 'system', 'preview', 'newEpoch', 'onPending']
/** Where it is noted that a transaction was applied. */
const APPLIED = 'openai-agents/'

/**
 * A session of this library as a session of the OpenAI Agents SDK: items become messages of its
 * log, and come back as they were. {@link PlimsollSession.model} gives a model the session's
 * context in place of the whole history, so that the budget holds at every call of the Runner.
 *
 * Items are written once each, in the order of the calls. Nothing is rewritten: what is popped,
 * replaced or compacted is hidden, as by `rewind`, and stays in the log; `clearSession` forgets it
 * for ever. Items that are no JSON (but for bytes) are refused before anything is written.
 *
 * Calls reject with what the session rejects with; ERR_INVALID_ARGUMENT: an item, or a
 * transaction, cannot be kept; ERR_CONFLICT: a transaction does not fit.
 *
 * @example With a key of OpenAI:
 * ```ts
 * import { OpenAIProvider, Runner } from '@openai/agents'
 * import { PlimsollSession } from 'plimsoll/openai-agents'
 *
 * const session = new PlimsollSession(memory.session({ userId: 'ada', sessionId: 'trip' }))
 * const runner = new Runner({ modelProvider: session.provider(new OpenAIProvider()) })
 * await runner.run(agent, 'Book the 9:40 to Turin.', { session })
 * ```
 */
export class PlimsollSession
  implements SessionHistoryRewriteAwareSession, SessionHistoryTransactionAwareSession
{
  readonly #session: Session
  readonly #kernel: KernelSession
  /** The newest items, which a call of the model wrote before the Runner did. */
  #ahead: readonly Item[] = []
  #isRead = false

  /** @throws ERR_INVALID_ARGUMENT: it is no session of this library */
  constructor(session: Session) {
    this.#kernel = kernelOf('PlimsollSession', session)
    this.#session = session
  }

  async getSessionId(): Promise<string> {
    return this.#session.sessionId
  }

  /** @param limit the last so many. Default: all */
  getItems(limit = Number.POSITIVE_INFINITY): Promise<AgentInputItem[]> {
    this.#isRead = true
    return this.#kernel.run(async () => {
      const entries = this.#confirmed(await this.#read())
      return entries.slice(Math.max(0, entries.length - limit)).map(({ item }) => agentItem(item))
    })
  }

  async addItems(items: AgentInputItem[]): Promise<void> {
    const added = checked('addItems', items)
    await this.#kernel.run(() => this.#confirm('addItems', added))
  }

  /** Hides the newest item. */
  popItem(): Promise<AgentInputItem | undefined> {
    return this.#kernel.run(async () => {
      const entries = await this.#settled()
      const last = entries.at(-1)
      if (!last) return undefined
      await this.#write({ operation: 'popItem', keep: { entries, count: entries.length - 1 }, add: [] })
      return agentItem(last.item)
    })
  }

  /** Forgets all items for ever, and which transactions were applied. */
  async clearSession(): Promise<void> {
    const kernel = this.#kernel
    const { store } = kernel
    await clearLog(this.#session)
    await kernel.run(async () => {
      this.#ahead = []
      for (let rows = await store.registers(APPLIED); rows.length > 0; ) {
        const ops = rows.map(({ key, version: base }): Op => ({ ...put(kernel, key), base, value: null }))
        await this.#commit('clearSession', ops)
        rows = await store.registers(APPLIED, rows.at(-1)?.key)
      }
    })
  }

  /** Replaces calls of functions; of several with one id the first stays. */
  async applyHistoryMutations(args: SessionHistoryRewriteArgs): Promise<void> {
    const mutations: unknown = args?.mutations
    if (!Array.isArray(mutations)) throw invalid('applyHistoryMutations', 'mutations', 'must be a list')
    const changes = (mutations as SessionHistoryRewriteArgs['mutations']).map((mutation, at) => {
      checkObject('applyHistoryMutations', `mutations[${at}]`, mutation)
      const { type, callId, replacement } = mutation
      if (type !== 'replace_function_call')
        throw invalid('applyHistoryMutations', 'type', `is unknown: ${String(type)}`)
      return { callId, replacement: checked('applyHistoryMutations', [replacement]) }
    })
    await this.#kernel.run(async () => {
      const entries = await this.#settled()
      let items = itemsOf(entries)
      for (const { callId, replacement } of changes) {
        const isCall = (item: Item): boolean => item.type === 'function_call' && item.callId === callId
        const first = items.findIndex(isCall)
        items = items.flatMap((item, at) => (isCall(item) ? (at === first ? replacement : []) : [item]))
      }
      const count = sharedBy(itemsOf(entries), items)
      const keep = { entries, count }
      await this.#write({ operation: 'applyHistoryMutations', keep, add: items.slice(count) })
    })
  }

  /** Appends items, or replaces the newest ones, once for each `operationId`. */
  async applyHistoryTransaction(args: SessionHistoryTransactionArgs): Promise<void> {
    const { operationId, transaction } = snapshot(args)
    const operation = 'applyHistoryTransaction'
    await this.#kernel.run(async () => {
      const key = APPLIED + hashText(operationId)
      const body = hashText(canonical(transaction as never))
      const { value, base } = await readRegister<string>(this.#kernel.store, key)
      if (value !== undefined) {
        if (value === body) return
        throw misfit('Session history operation was already applied with a different transaction.')
      }
      const beside = [{ ...put(this.#kernel, key), base, value: body }]
      if (transaction.type === 'append_items') return this.#confirm(operation, transaction.items, beside)
      const entries = await this.#settled()
      const count = entries.length - transaction.expectedSuffix.length
      const { expectedSuffix } = transaction
      if (sharedBy(expectedSuffix, itemsOf(entries.slice(count))) < expectedSuffix.length)
        throw misfit('Session history suffix no longer matches the transaction precondition.')
      await this.#write({ operation, keep: { entries, count }, add: transaction.replacement, beside })
    })
  }

  /** Hides the history behind a compaction item and what it keeps. */
  async replaceHistoryWithCompaction(items: AgentInputItem[]): Promise<void> {
    const add = checked('replaceHistoryWithCompaction', items)
    await this.#kernel.run(async () => {
      const entries = await this.#settled()
      await this.#write({ operation: 'replaceHistoryWithCompaction', keep: { entries, count: 0 }, add })
    })
  }

  /**
   * The models of a provider as {@link model} makes them, for the `modelProvider` of a Runner.
   *
   * @throws ERR_INVALID_ARGUMENT
   */
  provider(provider: ModelProvider, options: AgentContextOptions = {}): ModelProvider {
    checkMethod('provider', 'provider', provider, 'getModel')
    this.#check('provider', options)
    return { getModel: async (name) => this.model(await provider.getModel(name), options) }
  }

  /**
   * A model that is given the session's context in place of the Runner's input, for an agent whose
   * runs have this session. Each call writes what is new in its input first; the Runner, which
   * writes at the end of a run, then finds it there, and its word counts: where it writes something
   * else, or nothing, what was written ahead is hidden. The agent's instructions are the context's
   * `system`, after the memory's own; tools, handoffs and the schema of the output count.
   *
   * Calls reject with what `context()` and `append()` reject with, and with ERR_INVALID_ARGUMENT
   * where the server keeps the conversation (`conversationId`, `previousResponseId`), or the run
   * does not have this session.
   *
   * @throws ERR_INVALID_ARGUMENT
   */
  model(model: Model, options: AgentContextOptions = {}): Model {
    checkMethod('model', 'model', model, 'getResponse')
    this.#check('model', options)
    const request = (given: ModelRequest) => this.#request(given, options)
    const { supportsPromptModelSelection } = model
    return {
      ...(supportsPromptModelSelection !== undefined && { supportsPromptModelSelection }),
      getResponse: async (given) => model.getResponse(await request(given)),
      async *getStreamedResponse(given) {
        yield* model.getStreamedResponse(await request(given))
      },
      getRetryAdvice: (args) => model.getRetryAdvice?.(args),
    }
  }

  #check(operation: string, options: AgentContextOptions): void {
    checkObject(operation, 'options', options)
    checkAsked(operation, this.#session, options, OWN_OPTIONS)
  }

  async #request(request: ModelRequest, options: AgentContextOptions): Promise<ModelRequest> {
    const { input, systemInstructions: system, conversationId, previousResponseId } = request
    if (conversationId !== undefined || previousResponseId !== undefined)
      throw invalid('model', 'request', 'must not leave the conversation to the server')
    if (!this.#isRead) throw invalid('model', 'session', 'must be the session of the run, too')
    const items = checked('model', typeof input === 'string' ? [{ role: 'user', content: input }] : input)
    await this.#kernel.run(() => this.#writeAhead(items))
    const tools = specsOf(request)
    const context = await this.#session.context({
      ...options,
      tools,
      ...(system !== undefined && { system }),
    })
    const { systemInstructions, input: shown } = toAgentItems(context)
    return { ...request, ...(systemInstructions !== undefined && { systemInstructions }), input: shown }
  }

  /** Writes what a call's input has beyond the log, the longest end of which begins it. */
  async #writeAhead(items: readonly Item[]): Promise<void> {
    const all = await this.#read()
    const entries = this.#confirmed(all)
    const said = entries.map(({ item }) => saidBy(item))
    const asked = items.map(saidBy)
    let from = Math.max(0, said.length - asked.length)
    while (!said.slice(from).every((text, at) => text === asked[at])) from++
    const fresh = items.slice(said.length - from)
    const isAhead = this.#ahead.findIndex((item, at) => !fresh[at] || saidBy(item) !== saidBy(fresh[at]))
    const kept = isAhead < 0 ? this.#ahead.length : isAhead
    const add = fresh.slice(kept).map(asStored)
    const ahead = [...this.#ahead.slice(0, kept), ...add]
    const keep = { entries: all, count: entries.length + kept }
    if (kept < this.#ahead.length) await this.#write({ operation: 'model', keep, add })
    else if (add.length > 0) await this.#write({ operation: 'model', add })
    this.#ahead = ahead
  }

  /** Writes items, those aside that were written ahead; what the Runner does not say is hidden. */
  async #confirm(operation: string, items: readonly Item[], beside: readonly Op[] = []): Promise<void> {
    const ahead = await this.#aheadThere()
    const same = sharedBy(ahead, items)
    const add = items.slice(same)
    if (same === ahead.length || add.length === 0) {
      await this.#write({ operation, add, beside })
      this.#ahead = ahead.slice(same)
      return
    }
    const entries = await this.#read()
    const count = this.#confirmed(entries).length + (this.#ahead.length > 0 ? same : 0)
    await this.#write({ operation, keep: { entries, count }, add, beside })
    this.#ahead = []
  }

  /** What was written ahead and still shows: another process may have hidden or forgotten it. */
  async #aheadThere(): Promise<readonly Item[]> {
    const ahead = this.#ahead
    if (ahead.length === 0) return ahead
    const items = itemsOf(await this.#read())
    const sharedFrom = (from: number): number => sharedBy(ahead, items.slice(from, from + ahead.length))
    if (sharedFrom(Math.max(0, items.length - ahead.length)) === ahead.length) return ahead
    const longest = items.reduce((most, _, from) => Math.max(most, sharedFrom(from)), 0)
    this.#ahead = ahead.slice(0, longest)
    return this.#ahead
  }

  /** All items, after what only a call wrote was hidden. */
  async #settled(): Promise<readonly Entry[]> {
    const all = await this.#read()
    const entries = this.#confirmed(all)
    if (entries.length === all.length) return all
    await this.#write({ operation: 'model', keep: { entries: all, count: entries.length }, add: [] })
    this.#ahead = []
    return this.#read()
  }

  async #read(): Promise<readonly Entry[]> {
    const messages = await readMessages(this.#kernel.store)
    return messages.flatMap((message) => itemsIn(message).map((item) => ({ message: message.id, item })))
  }

  /** The items but for those that were written ahead; where others wrote after them, all are. */
  #confirmed(entries: readonly Entry[]): readonly Entry[] {
    const count = entries.length - this.#ahead.length
    const isEnd = this.#ahead.every((item, at) => {
      const entry = entries[count + at]
      return entry && canonical(entry.item) === canonical(item)
    })
    if (!isEnd) this.#ahead = []
    return entries.slice(0, entries.length - this.#ahead.length)
  }

  /** Hides items from one on, and writes others, in one commit. */
  async #write({ operation, keep, add, beside = [] }: Change): Promise<void> {
    const kernel = this.#kernel
    const cut = keep?.entries[keep.count]
    const ops = [...beside]
    let items = add
    if (keep && cut) {
      const begin = keep.entries.findIndex(({ message }) => message === cut.message)
      items = [...keep.entries.slice(begin, keep.count).map(({ item }) => item), ...add]
      const hides = [...new Set(keep.entries.slice(begin).map(({ message }) => message))]
      const after = keep.entries[begin - 1]?.message ?? null
      ops.push(rewindOp(operation, { type: 'rewind', id: kernel.memory.host.newId(), hides, after }))
    }
    const messages = toMessages(items)
    if (messages.length > 0) await kernel.append(operation, messages, {}, async () => ops)
    else if (ops.length > 0) await this.#commit(operation, ops)
  }

  async #commit(operation: string, ops: readonly Op[]): Promise<void> {
    const kernel = this.#kernel
    await kernel.register()
    const results = await kernel.store.commit(
      ops.map((op) => sealOp(op)),
      allOrNone,
    )
    if (results.some(({ status }) => status !== 'accepted')) throw changedByOthers(operation, 'the session')
    await kernel.look().catch(() => {})
  }
}

function checked(operation: string, items: unknown): readonly Item[] {
  if (!Array.isArray(items)) throw invalid(operation, 'items', 'must be a list')
  return items.map((item: unknown, at) => {
    try {
      return itemOf(item)
    } catch {
      throw invalid(operation, `items[${at}]`, 'must be an item that is JSON, but for bytes')
    }
  })
}

/** As the Runner stores an item: without the id of a call, which belongs to the response. */
function asStored(item: Item): Item {
  const { id: _, ...rest } = item
  return item.type === 'function_call' || item.type === 'function_call_result' ? rest : item
}

/** What an item says, however the Runner changes what is around it. */
function saidBy({ id: _, status: _status, providerData: _data, ...item }: Item): string {
  return canonical({ type: 'message', ...item })
}

function itemsOf(entries: readonly Entry[]): Item[] {
  return entries.map(({ item }) => item)
}

/** How many items at the beginning others have, too. */
function sharedBy(items: readonly Item[], others: readonly Item[]): number {
  const at = items.findIndex((item, index) => {
    const other = others[index]
    return !other || canonical(item) !== canonical(other)
  })
  return at < 0 ? items.length : at
}

function put({ memory }: KernelSession, key: string) {
  return { kind: 'put', opId: memory.host.newId(), key } as const
}

function misfit(reason: string): PlimsollError {
  return new PlimsollError('ERR_CONFLICT', reason)
}

/** All that is sent beside the messages, so that it counts. */
function specsOf({ tools, handoffs, outputType }: ModelRequest): ToolSpec[] {
  return [
    ...tools.map((tool) => specOf(tool.type === 'function' ? tool.name : tool.type, tool)),
    ...handoffs.map((handoff) => specOf(handoff.toolName, handoff)),
    ...(typeof outputType === 'object' ? [specOf('output', outputType)] : []),
  ]
}

/** Left out is what JSON cannot hold: it is not sent either. */
function specOf(name: string, sent: object): ToolSpec {
  return { name, inputSchema: JSON.parse(JSON.stringify(sent)) }
}
