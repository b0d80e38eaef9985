import type { UIMessage } from 'ai'
import { partsOf } from '../../kernel/log/message.ts'
import type { Json, MediaPart, Message, MessageInput, Part, ToolResultPart } from '../../ports/message.ts'
import { type Kept, keptIn, parsed } from './opaque.ts'
import { DENIED } from './outputs.ts'
import { type Entry, type Layout, layoutOf } from './ui-layout.ts'

type Call = Extract<Part, { readonly type: 'tool-call' }>
type OpenPart = { type: string; [key: string]: Json | undefined }

/**
 * Messages of a log as UI messages, for example for the `messages` of `useChat`. Those that
 * `fromUIMessages` made come back as they were, except that a call that was answered since has its
 * output, its error or its refusal. Of any others, what stands between two messages of the user is
 * one message of the assistant, with a `step-start` for each step; its id is that of the first.
 *
 * @example
 * ```ts
 * import { toUIMessages } from 'plimsoll/ai-sdk'
 *
 * const initialMessages = toUIMessages(await session.history())
 * ```
 */
export function toUIMessages(messages: readonly (Message | MessageInput)[]): UIMessage[] {
  const whole: Open[] = []
  for (const message of messages) {
    const layout = layoutOf(message)
    let open = whole.at(-1)
    if (message.role === 'tool') {
      open?.answer(partsOf(message).flatMap((part) => (part.type === 'tool-result' ? part : [])))
      continue
    }
    const goesOn = layout
      ? layout.of !== undefined && layout.of === open?.first
      : message.role === 'assistant'
    if (!open || !goesOn || open.role !== 'assistant') {
      open = new Open(message, layout)
      whole.push(open)
    }
    open.add(message, layout)
  }
  return whole.map((open) => open.message())
}

/** A UI message that is being put together. */
class Open {
  readonly role: UIMessage['role']
  /** Id of its first message in the log. */
  readonly first: string
  readonly #layout: Layout | undefined
  readonly #parts: OpenPart[] = []
  /** Calls of the newest step, in order. */
  #calls: {
    readonly part: OpenPart
    readonly id: string
    readonly entry?: Entry & { is: 'tool-call' }
    answered: boolean
  }[] = []

  constructor({ id = '', role }: Message | MessageInput, layout: Layout | undefined) {
    this.role = role === 'tool' ? 'assistant' : role
    this.first = id
    this.#layout = layout
  }

  add(message: Message | MessageInput, layout: Layout | undefined): void {
    this.#calls = []
    const parts = partsOf(message)
    if (layout?.steering !== undefined) {
      const inner = assemble(parts, layout.entries ?? [], () => {})
      this.#parts.push({ type: 'steering-message', id: layout.steering, parts: inner as unknown as Json })
    } else if (layout?.entries) {
      this.#parts.push(
        ...assemble(parts, layout.entries, (part, id, entry) =>
          this.#calls.push({ part, id, entry, answered: false }),
        ),
      )
    } else {
      if (this.role === 'assistant') this.#parts.push({ type: 'step-start' })
      this.#parts.push(...plain(parts, (part, id) => this.#calls.push({ part, id, answered: false })))
    }
  }

  /**
   * Gives each result to the first call that it can be for: to one that had a result when it was
   * written, if there is one.
   */
  answer(results: readonly ToolResultPart[]): void {
    for (const result of results) {
      const named = this.#calls.filter(({ id, answered }) => id === result.callId && !answered)
      const call = named.find(({ entry }) => entry?.settled) ?? named[0]
      if (!call) continue
      call.answered = true
      settle(call.part, call.entry, result)
    }
  }

  message(): UIMessage {
    const { metadata, id = this.first } = this.#layout ?? {}
    return {
      id,
      role: this.role,
      ...(metadata !== undefined && { metadata }),
      parts: this.#parts as unknown as UIMessage['parts'],
    }
  }
}

type OnCall = (part: OpenPart, id: string, entry: Entry & { is: 'tool-call' }) => void

/** The parts of a UI message, by its layout. */
function assemble(parts: readonly Part[], entries: readonly Entry[], onCall: OnCall): OpenPart[] {
  const pieces = parts.map((part) => ({ part, kept: keptIn(part) }))
  let next = 0
  const take = (
    is: (part: Part, kept: Kept | undefined) => boolean,
  ): { part?: Part; note?: Kept & { type: 'note' } } => {
    let note: (Kept & { type: 'note' }) | undefined
    for (; next < pieces.length; next++) {
      const { part, kept } = pieces[next] as (typeof pieces)[number]
      if (kept?.type === 'note') note = kept
      else if (is(part, kept)) {
        next++
        return { part, ...(note?.of === part.type && { note }) }
      }
    }
    return {}
  }
  return entries.flatMap((entry): OpenPart[] => {
    if (entry.is === 'part') return [entry.fields as OpenPart]
    if (entry.is === 'kept') {
      const { part } = take((_, kept) => kept?.type === 'ui')
      const kept = part && keptIn(part)
      return kept?.type === 'ui' ? [kept.part] : []
    }
    const { part, note } = take(({ type }) => type === entry.is)
    const options = note?.options as Json | undefined
    const providerMetadata = options !== undefined && { providerMetadata: options }
    switch (part?.type) {
      case 'text':
        return [{ type: 'text', text: part.text, ...entry.fields, ...providerMetadata }]
      case 'reasoning':
        return [reasoning(part, options, entry.fields)]
      case 'media': {
        const { mediaType, url = '' } = part
        const named = note?.filename !== undefined && { filename: note.filename }
        const reference = note?.reference && { providerReference: note.reference }
        return [
          { type: 'file', mediaType, url, ...named, ...reference, ...entry.fields, ...providerMetadata },
        ]
      }
      case 'tool-call': {
        if (entry.is !== 'tool-call') return []
        const made = callPart(part, entry, options)
        onCall(made, part.id, entry)
        return [made]
      }
      default:
        return []
    }
  })
}

function reasoning(
  { text, signature }: Extract<Part, { type: 'reasoning' }>,
  options: Json | undefined,
  fields: { readonly [key: string]: Json },
): OpenPart {
  const { anthropic, ...others } = (options ?? {}) as { readonly [provider: string]: Json }
  const signed = signature !== undefined && {
    providerMetadata: { ...others, anthropic: { ...(anthropic as object | undefined), signature } } as Json,
  }
  return { type: 'reasoning', text, ...fields, ...signed }
}

function callPart(part: Call, entry: Entry & { is: 'tool-call' }, options: Json | undefined): OpenPart {
  const { dynamic, deep, none, fields } = entry
  const input = deep?.includes('input') ? parsed(String(part.input)) : part.input
  return {
    type: dynamic ? 'dynamic-tool' : `tool-${part.name}`,
    ...(dynamic && { toolName: part.name }),
    toolCallId: part.id,
    ...(!none?.includes('input') && { input }),
    ...(options !== undefined && { callProviderMetadata: options }),
    ...fields,
  }
}

/** A call with the result that it has, whether it was written with it or came later. */
function settle(
  part: OpenPart,
  entry: (Entry & { is: 'tool-call' }) | undefined,
  { output, isError }: ToolResultPart,
): void {
  if (!entry?.settled) {
    const approval = part.approval as { readonly [key: string]: Json } | undefined
    delete part.preliminary
    delete part.output
    const denied = isError === true && approval?.approved === false
    part.state = denied ? 'output-denied' : isError ? 'output-error' : 'output-available'
    if (approval && !denied) part.approval = { ...approval, approved: true }
    if (isError && !denied) part.errorText = typeof output === 'string' ? output : JSON.stringify(output)
    if (!isError) part.output = output
    return
  }
  if (part.state === 'output-available' && !entry.none?.includes('output'))
    part.output = entry.deep?.includes('output') ? (parsed(String(output)) as Json) : output
  if (part.state === 'output-error') part.errorText = typeof output === 'string' ? output : DENIED
}

/** Parts that did not come from a UI message. */
function plain(parts: readonly Part[], onCall: (part: OpenPart, id: string) => void): OpenPart[] {
  return parts.flatMap((part): OpenPart[] => {
    switch (part.type) {
      case 'text':
        return part.text === '' ? [] : [{ type: 'text', text: part.text, state: 'done' }]
      case 'reasoning':
        return [{ ...reasoning(part, undefined, {}), state: 'done' }]
      case 'media':
        return part.url === undefined ? [] : [fileOf(part, part.url)]
      case 'tool-call': {
        const { id, name, input } = part
        const made: OpenPart = { type: `tool-${name}`, toolCallId: id, state: 'input-available', input }
        onCall(made, id)
        return [made]
      }
      case 'opaque': {
        const kept = keptIn(part)
        return kept?.type === 'ui' ? [kept.part] : kept?.type === 'model' ? fromModelPart(kept.part) : []
      }
      default:
        return []
    }
  })
}

function fileOf({ mediaType, name }: MediaPart, url: string): OpenPart {
  return { type: 'file', mediaType, url, ...(name !== undefined && { filename: name }) }
}

/** What a person sees of parts that only the SDK understands. */
function fromModelPart(part: { readonly type: string; readonly [key: string]: Json }): OpenPart[] {
  const metadata = part.providerOptions !== undefined && { providerMetadata: part.providerOptions }
  if (part.type === 'reasoning') return [{ type: 'reasoning', text: part.text, state: 'done', ...metadata }]
  if (part.type === 'custom') return [{ type: 'custom', kind: part.kind, ...metadata }]
  return []
}
