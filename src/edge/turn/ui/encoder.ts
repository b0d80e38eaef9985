import type { UIMessage, UIMessageChunk } from 'ai'
import type { PastCall, PastStep } from '../../../agent/middleware.ts'
import type { AgentResult } from '../../../agent/options.ts'
import type { UIPart } from '../../../bridges/ai-sdk/from-ui.ts'
import { given } from '../../../bridges/ai-sdk/opaque.ts'
import { toUIMessages } from '../../../bridges/ai-sdk/to-ui.ts'
import { isBlank } from '../../../kernel/log/message.ts'
import type { Message } from '../../../ports/message.ts'
import { type Encoder, SSE_DONE, sse, type TurnEvent } from '../protocol.ts'
import { codeOf, runErrorText } from '../run-error.ts'
import { chunksOfMessage, chunksOfPart } from './part-chunks.ts'

/**
 * Headers by which clients know the AI SDK's UI message stream protocol, version 1, and proxies
 * that they must not gather it.
 */
export const UI_MESSAGE_STREAM_HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache',
  'x-vercel-ai-ui-message-stream': 'v1',
  'x-accel-buffering': 'no',
} as const

/** Writes a turn as the AI SDK's UI message stream. */
export function uiEncoder(options: UIMessageChunksOptions): Encoder {
  const chunks = new UIMessageChunks(options)
  return {
    next(event) {
      const text = textOf(chunks.next(event))
      return event.type === 'finish' || event.type === 'error' ? text + SSE_DONE : text
    },
  }
}

/** The stream of a message that was given before: its beginning, and the rest. */
export function repeated(message: UIMessage): readonly [opening: string, rest: string] {
  return [startOf(message.id), textOf([...chunksOfMessage(message), { type: 'finish' }]) + SSE_DONE]
}

/** What every stream of a message begins with. */
export function startOf(messageId: string): string {
  return textOf([{ type: 'start', messageId }])
}

function textOf(chunks: readonly UIMessageChunk[]): string {
  return chunks.map((chunk) => sse(JSON.stringify(chunk))).join('')
}

export interface UIMessageChunksOptions {
  /**
   * Id of the UI message: that of the first message which the run records, or of `before`. So what
   * a client puts together has the id that `toUIMessages` gives it after a reload.
   */
  readonly messageId: string
  /**
   * A message of the assistant that the run goes on with; its parts come again right after `start`.
   */
  readonly before?: UIMessage
  /** Ids of the replies in it. */
  readonly replies?: readonly string[] | undefined
}

/** A piece of the reply that is coming, as far as it was sent. */
interface Piece {
  readonly type: 'text' | 'reasoning'
  readonly id: string
  text: string
  open: boolean
}

/**
 * The events of one run as chunks of the AI SDK's UI message stream. Pure: the same events give the
 * same chunks.
 *
 * What a client puts together equals what `toUIMessages` gives of the log afterwards, but for three
 * things: reasoning parts have the id that names them in the stream; what a provider attached to
 * reasoning that text followed comes with a reload only; and a reload shows nothing of a reply that
 * had nothing but reasoning. Where the recorded reply is cut differently from what was streamed
 * (two texts in a row, text that middleware changed), `reset-step` takes the step back and it comes
 * again: clients of `ai` 7 know that chunk.
 */
export class UIMessageChunks {
  readonly #messageId: string
  readonly #before: UIMessage | undefined
  #pieces: Piece[] = []
  #inStep = false
  #count = 0
  /** Replies and results that were told: under a lease they may come once more, as the log's. */
  readonly #told: Set<string>

  constructor({ messageId, before, replies = [] }: UIMessageChunksOptions) {
    this.#told = new Set(replies)
    this.#messageId = messageId
    this.#before = before
  }

  next(event: TurnEvent): readonly UIMessageChunk[] {
    switch (event.type) {
      case 'run-start':
        return [
          { type: 'start', messageId: this.#messageId },
          ...(this.#before ? chunksOfMessage(this.#before) : []),
        ]
      case 'step-start':
        return this.#endStep()
      case 'text':
      case 'reasoning':
        return event.text === '' ? [] : this.#piece(event.type, event.text)
      case 'message':
        return event.message.role === 'assistant' ? this.#whole(event.message) : []
      case 'reply-dropped':
        return this.#whole(event.stored)
      case 'past-step':
        return this.#past(event.step)
      case 'tool-result':
        // What was settled before the first step belongs to a message of its own, unless the run
        // goes on with that one.
        return event.step === 0 && !this.#before ? [] : this.#result(event)
      case 'finish':
        return event.result.reason === 'aborted'
          ? [...this.#endPieces(), { type: 'abort' }]
          : [...this.#endStep(), { type: 'finish', finishReason: REASONS[event.result.reason] }]
      case 'error':
        return [...this.#endPieces(), { type: 'error', errorText: runErrorText(codeOf(event.error)) }]
      default:
        return []
    }
  }

  #piece(type: Piece['type'], text: string): readonly UIMessageChunk[] {
    const chunks = this.#beginStep()
    let piece = this.#pieces.at(-1)
    if (piece?.type !== type) {
      chunks.push(...this.#endPieces())
      piece = { type, id: this.#newId(), text: '', open: true }
      this.#pieces.push(piece)
      chunks.push({ type: `${type}-start`, id: piece.id })
    }
    piece.text += text
    chunks.push({ type: `${type}-delta`, id: piece.id, delta: text })
    return chunks
  }

  /** A step that another one made, as far as it was not told before. */
  #past({ message, calls }: PastStep): readonly UIMessageChunk[] {
    const reply = this.#told.has(message.id) ? [] : [...this.#endStep(), ...this.#whole(message)]
    return [...reply, ...calls.flatMap((call) => this.#result(call))]
  }

  #result(given: PastCall): readonly UIMessageChunk[] {
    const { entry, index } = given.call
    const name = `${entry} ${index}`
    if (this.#told.has(name)) return []
    this.#told.add(name)
    return [resultChunk(given)]
  }

  /** What the recorded reply has beyond what was streamed of it. */
  #whole(message: Message): readonly UIMessageChunk[] {
    this.#told.add(message.id)
    if (isBlank(message) && this.#pieces.length === 0) return []
    const chunks = this.#beginStep()
    const [{ parts } = { parts: [] }] = toUIMessages([message])
    const recorded = (parts as unknown as readonly UIPart[]).filter(({ type }) => type !== 'step-start')
    const isAsStreamed = this.#pieces.every(({ type, text, open }, index) => {
      const part = recorded[index]
      const whole = String(part?.text)
      return part?.type === type && (open ? whole.startsWith(text) : whole === text)
    })
    if (isAsStreamed) chunks.push(...this.#endPieces(recorded[this.#pieces.length - 1]))
    else chunks.push({ type: 'reset-step' })
    const rest = isAsStreamed ? recorded.slice(this.#pieces.length) : recorded
    this.#pieces = []
    return [...chunks, ...rest.flatMap((part) => chunksOfPart(part, this.#newId()))]
  }

  #beginStep(): UIMessageChunk[] {
    if (this.#inStep) return []
    this.#inStep = true
    return [{ type: 'start-step' }]
  }

  #endStep(): readonly UIMessageChunk[] {
    if (!this.#inStep) return []
    const chunks = this.#endPieces()
    this.#inStep = false
    this.#pieces = []
    return [...chunks, { type: 'finish-step' }]
  }

  /** Only the newest piece can be open. */
  #endPieces(recorded?: UIPart): UIMessageChunk[] {
    const piece = this.#pieces.at(-1)
    if (!piece?.open) return []
    piece.open = false
    const { type, id } = piece
    const rest = recorded ? String(recorded.text).slice(piece.text.length) : ''
    const providerMetadata = recorded?.providerMetadata as never
    return [
      ...(rest === '' ? [] : [{ type: `${type}-delta` as const, id, delta: rest }]),
      { type: `${type}-end`, id, ...given({ providerMetadata }) } as UIMessageChunk,
    ]
  }

  #newId(): string {
    return `${this.#messageId}/${++this.#count}`
  }
}

const REASONS: Readonly<
  Record<AgentResult['reason'], Extract<UIMessageChunk, { type: 'finish' }>['finishReason'] & string>
> = {
  answer: 'stop',
  length: 'length',
  'content-filter': 'content-filter',
  'max-steps': 'tool-calls',
  stopped: 'other',
  aborted: 'other',
}

function resultChunk({ call: { callId: toolCallId }, output, isError }: PastCall): UIMessageChunk {
  if (!isError) return { type: 'tool-output-available', toolCallId, output }
  const errorText = typeof output === 'string' ? output : JSON.stringify(output)
  return { type: 'tool-output-error', toolCallId, errorText }
}
