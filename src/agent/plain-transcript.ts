import { charsPerToken } from '../counters/simple.ts'
import { Prefix } from '../kernel/context/prefix.ts'
import { countMessage, countTools, perRequest } from '../kernel/count.ts'
import { checkMessage } from '../kernel/log/check-message.ts'
import { partsOf } from '../kernel/log/message.ts'
import type { Block, Context, Omitted, Rule, SectionName, SectionUse } from '../ports/context.ts'
import type { Host } from '../ports/host.ts'
import type { Json, Message, MessageInput, ToolSpec } from '../ports/message.ts'
import type { Limits } from '../ports/session.ts'
import { fenced } from '../text/fence.ts'
import { hashJson } from '../text/hash.ts'
import { copyOf } from '../text/json.ts'
import { type PlainShown, PlainWindow } from './plain-window.ts'
import { type ContextRequest, callsOf, type Transcript, type Written } from './transcript.ts'

const counter = charsPerToken()
/** There is no line without a memory. */
const NO_CAP = Number.MAX_SAFE_INTEGER
const FENCE = 'ctx-plain'

/**
 * A conversation that is kept nowhere: what a plain loop would send, all messages verbatim and all
 * ids as they are, unless a middleware or the app limits them.
 */
export class PlainTranscript implements Transcript {
  readonly #host: Host
  readonly #messages: Message[] = []
  readonly #blocks = new Map<Message, Block>()
  readonly #key: string
  readonly #prefix: Prefix
  readonly #window = new PlainWindow(counter)
  #system: { readonly text: string; readonly block: Block } | undefined

  constructor(host: Host) {
    this.#host = host
    this.#key = host.newSecret()
    this.#prefix = new Prefix({ key: this.#key })
  }

  async recent(): Promise<readonly Message[]> {
    return copyOf(this.#messages)
  }

  async append(inputs: readonly MessageInput[]): Promise<Written> {
    const name = (index: number): string => (inputs.length > 1 ? `input[${index}]` : 'input')
    const messages = inputs.map((input, index) => checkMessage('runAgent', name(index), input, this.#host))
    this.#messages.push(...messages)
    if (messages[0]?.role === 'tool') this.#sortResults()
    // The receiver may change them.
    return { messages: copyOf(messages), repeated: false }
  }

  async context({ system = '', tools, tail, limits, messages }: ContextRequest): Promise<Context> {
    const told = system === '' ? [] : [this.#instructions(system)]
    const { blocks, waiting, omitted } = this.#shown(
      messages ?? this.#messages,
      messages ? (limits ?? {}) : limits,
    )
    const spoken = tail.map(({ name, text }) => fenced(FENCE, name, text)).join('\n')
    const closing =
      spoken === ''
        ? waiting
        : [...waiting, blockOf('tail', 'tail', { role: 'user', content: spoken, trust: 'user' })]
    const head = hashJson({ system, tools: tools as unknown as Json }, this.#key)
    const all = [...told, ...blocks, ...closing]
    return {
      lane: 'plain',
      epoch: 'plain',
      head: `head/${head}`,
      fence: FENCE,
      blocks: all,
      ...(tools.length > 0 && { tools }),
      receipt: receiptOf(all, tools, omitted),
      hash: this.#prefix.hash(head, blocks, closing),
    }
  }

  /** All messages as they are, unless something limits them. Opening instructions always show. */
  #shown(messages: readonly Message[], limits: Limits | undefined): PlainShown {
    const opening = messages.findIndex(({ role }) => role !== 'system')
    const begin = opening < 0 ? messages.length : opening
    const told = messages.slice(0, begin).map((message) => this.#block(message, 'system'))
    const said = messages.slice(begin)
    if (!limits) {
      const blocks = said.map((message) => this.#block(message, 'window'))
      return { blocks: [...told, ...blocks], waiting: [], omitted: [] }
    }
    const shown = this.#window.show(said, limits)
    return { ...shown, blocks: [...told, ...shown.blocks] }
  }

  /** The same block for the same text. */
  #instructions(system: string): Block {
    if (this.#system?.text !== system) {
      const block = blockOf('system', 'system', { role: 'system', content: system, trust: 'system' })
      this.#system = { text: system, block }
    }
    return this.#system.block
  }

  #block(message: Message, section: SectionName): Block {
    const kept = this.#blocks.get(message)
    if (kept) return kept
    const block = blockOf(section, section === 'system' ? 'system' : 'verbatim', message, [message.id])
    this.#blocks.set(message, block)
    return block
  }

  /**
   * Puts the results at the end in the order of their calls: a plain loop waits for all of them.
   */
  #sortResults(): void {
    const step = this.#messages.findLastIndex(({ role }) => role !== 'tool')
    const message = this.#messages[step]
    if (message?.role !== 'assistant') return
    const calls = callsOf(message).map(({ callId }) => callId)
    const place = ({ content }: Message): number =>
      typeof content !== 'string' && content[0]?.type === 'tool-result'
        ? calls.indexOf(content[0].callId)
        : -1
    const results = this.#messages.splice(step + 1)
    this.#messages.push(...results.toSorted((a, b) => place(a) - place(b)))
  }
}

function blockOf(
  section: SectionName,
  rule: Rule,
  { role, content, trust }: Pick<Message, 'role' | 'content' | 'trust'>,
  from: readonly string[] = [],
): Block {
  return {
    section,
    role,
    parts: partsOf({ content }),
    from,
    rule,
    tokens: countMessage(counter, { content }),
    trust,
  }
}

function receiptOf(
  blocks: readonly Block[],
  tools: readonly ToolSpec[],
  omitted: readonly Omitted[],
): Context['receipt'] {
  const use = (name: SectionUse['name'], tokens: number, items: number): SectionUse => ({
    name,
    tokens,
    items,
    overflow: { count: 0, tokens: 0, first: [] },
  })
  const section = (name: SectionName): SectionUse => {
    const held = blocks.filter((block) => block.section === name)
    return use(
      name,
      held.reduce((sum, { tokens }) => sum + tokens, 0),
      held.length,
    )
  }
  const told = tools.length > 0 ? [use('tools', countTools(counter, tools), 1)] : []
  const sections = [section('system'), ...told, section('memory'), section('window'), section('tail')]
  const used = sections.reduce((sum, { tokens }) => sum + tokens, perRequest(counter))
  return {
    cap: NO_CAP,
    reserved: 0,
    margin: 0,
    used,
    floor: used,
    sections,
    omitted,
    epoch: 'unsaved',
    failures: [],
  }
}
