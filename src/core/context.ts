import type { Block, Context, Receipt } from '../ports/context.ts'
import { isPlimsollError, PlimsollError } from '../ports/errors.ts'
import type { Message, ToolSpec } from '../ports/message.ts'
import type { EpochCause, EpochMark, OpResult, Scope } from '../ports/op.ts'
import type { LogRow, ScopeStore } from '../ports/store.ts'
import { countMessage } from './count.ts'
import { decide } from './decide.ts'
import { fenced } from './fence.ts'
import { addedLate, type Conversation, fold, messagesOf, pendingCalls } from './fold.ts'
import { hashJson, hashText } from './hash.ts'
import { type Head, type HeadTexts, headKey, headValue } from './head.ts'
import { invalid } from './json.ts'
import { Measure } from './measure.ts'
import { EPOCH_ID } from './message.ts'
import { type Limits, type Policy, RENDER_VERSION } from './policy.ts'
import { hashPrefix, Prefix } from './prefix.ts'
import { createReceipt, floorOf, omittedFrom } from './receipt.ts'
import { markIn, sealOp, valueIn } from './seal.ts'
import { type CurrentEpoch, readEntry, readPast, type Slice, View } from './view.ts'
import { type Band, cutBack, exceeds, firstNeeded, type Layout, type Window } from './window.ts'

/** How often an epoch is tried, against other writers, before the context is returned unsaved. */
const TRIES = 4
/** Close a request that would otherwise end with the assistant's own words, or hold no message at all. */
const CONTINUE = 'Continue.'
const BEGIN = 'Begin.'

export interface ContextOptions {
  /** Told to the model with the request; a change starts an epoch. */
  readonly tools?: readonly ToolSpec[]
  /**
   * Text for the last block of the request, whole or as named sections, fenced as data. Never stored; it may change at every
   * call without cost to the prefix.
   */
  readonly tail?: string | readonly TailSection[]
  /** Never write: an epoch change is shown in this context only. Default `false`. */
  readonly preview?: boolean
  /** What to do when calls of the newest step have no result yet. Default `reject`, with `ERR_TOOL_PENDING`. */
  readonly onPending?: 'reject' | 'abandon'
  /**
   * Proposes other limits for the window and for outputs than the memory's, for this call. Each set of limits is a lane with
   * epochs of its own, so keep them for many calls. The budget holds whatever they say.
   */
  readonly limits?: Limits
  /** Start an epoch (cause `manual`) and cut the window back, whatever its state. Default `false`. */
  readonly newEpoch?: boolean
}

export interface TailSection {
  /** Labels the section's fence: 1 to 64 letters, digits, dashes and underscores. */
  readonly name: string
  readonly text: string
}

/** What left the window at an epoch change: whole messages, uncut, in the order in which they showed. */
export interface Cut {
  readonly scope: Scope
  /** Id of the epoch that began. */
  readonly epoch: string
  readonly cause: EpochCause
  readonly messages: readonly Message[]
}

/**
 * Contract: called once for each epoch that a session of this memory begins and that cuts something, after it is durable;
 * awaited, so hand longer work on, and never wait for a call to the same session in it: that call waits for this one. A
 * failure stops nothing: it is reported in the receipt.
 */
export type OnCut = (cut: Cut) => void | Promise<void>

export interface BuilderParts {
  readonly store: ScopeStore
  readonly scope: Scope
  readonly policy: Policy
  readonly system: string
  readonly onCut?: OnCut | undefined
}

/** A past context, rebuilt. */
export interface ContextAt {
  readonly context: Context
  /** Whether the epoch's prefix hash was met: what is shown is what was sent, its tail aside. */
  readonly verified: boolean
  /** Why it was not: a message or the head behind it was forgotten, or the log no longer gives the same bytes. */
  readonly reason?: 'forgotten' | 'mismatch'
}

/** A context with the window that it shows. */
export interface Built {
  readonly context: Context
  readonly window: Window
}

/** What one call asks for, in the tokens of one epoch. */
interface Call {
  readonly measure: Measure
  readonly head: Head
  readonly tail: readonly TailSection[]
  /** Tokens for window and tail together. */
  readonly room: number
}

/** The epoch in which a context is shown. */
interface Epoch {
  readonly mark: EpochMark
  readonly place: number
}

/** Builds the contexts of one session in one lane. */
export class ContextBuilder {
  readonly view: View
  readonly #store: ScopeStore
  readonly #policy: Policy
  readonly #system: string
  readonly #scope: Scope
  readonly #onCut: OnCut | undefined
  readonly #counts = new WeakMap<LogRow, number>()
  /** Of the newest epoch that was asked for. */
  #measure: Measure | undefined
  readonly #prefix = new Prefix()
  /** The last tail that was made, since an epoch that goes on needs it twice. */
  #closing: { readonly measure: Measure; readonly text: string; readonly block: Block } | undefined
  #fenced: { readonly place: number; readonly tag: string } | undefined
  /** Origin of the conversation that was last found to have been added to at its end only. */
  #inOrder: object | undefined

  constructor({ store, scope, policy, system, onCut }: BuilderParts) {
    this.#store = store
    this.#policy = policy
    this.#system = system
    this.#scope = scope
    this.#onCut = onCut
    this.view = new View(store, policy.lane)
  }

  /** @throws ERR_BUDGET_TOO_SMALL, ERR_TOOL_PENDING */
  async build(options: ContextOptions): Promise<Built> {
    let manual = options.newEpoch ?? false
    let broken = false
    const failures: Failure[] = []
    for (let tries = 0; ; tries++) {
      await this.view.refresh()
      this.#refusePending(options)
      const { calibration = 1 } = this.view.epoch?.mark ?? {}
      const held = this.#call(calibration, options)
      const current = this.#current(held)
      const cause = manual ? 'manual' : current.cause
      if (!cause && current.epoch)
        return this.#finish(held, this.view, current.epoch, current.window, failures)
      const { call, band, window } = await this.#planNext(
        held,
        options,
        cause ?? 'start',
        current.epoch?.mark,
      )
      // What was read to plan may be what waits: an undo brings back steps that were out of sight.
      this.#refusePending(options)
      const epoch = this.#draft(call, cause ?? 'start', band, window)
      if (options.preview) return this.#finish(call, this.view, epoch, window, [], 'preview')
      if (broken || tries === TRIES) return this.#finish(call, this.view, epoch, window, failures, 'unsaved')
      try {
        if (await this.#save(call.head, epoch)) {
          manual = false
          await this.#report(epoch.mark, current.window, window, failures)
        }
      } catch (error) {
        broken = true
        failures.push(failure('epoch', error))
      }
    }
  }

  /** Rebuilds the context of the call that was made when message `id` was the newest one. @throws ERR_NOT_FOUND */
  async buildAt(id: string): Promise<ContextAt> {
    const row = await readEntry(this.#store, id)
    if (row?.kind !== 'message')
      throw new PlimsollError('ERR_NOT_FOUND', `contextAt: ${id} is no message of this session`, { id })
    const past = await readPast(this.#store, this.#policy.lane, id)
    if (!past)
      throw new PlimsollError(
        'ERR_NOT_FOUND',
        `contextAt: no context was built in this lane up to message ${id}`,
        { id },
      )
    const { mark } = past.epoch
    const register = await this.#store.register(headKey(mark.head))
    const value = register && valueIn(register)
    const measure = this.#measureBy(mark.calibration ?? 1)
    const call = this.#callWith(
      measure,
      value === undefined ? this.#texts({}) : (value as unknown as HeadTexts),
      [],
    )
    const window = this.#show(measure.layout(past.conversation), past.rows, mark)
    const { context } = await this.#finish(call, past, past.epoch, window)
    const seen = seenBy(past.epoch, past.rows)
    const then = fold(
      [...past.rewinds, ...past.rows.filter((row) => row !== past.opener && row.seq <= seen)],
      undefined,
      past.opener,
    )
    const { blocks } = this.#show(measure.layout(then), past.rows, mark)
    const hash = hashPrefix(mark.head, blocks)
    if (value !== undefined && hash === mark.prefixHash) return { context, verified: true }
    const forgotten = value === undefined || past.rows.some((row) => row.body === null)
    return { context, verified: false, reason: forgotten ? 'forgotten' : 'mismatch' }
  }

  #call(calibration: number, options: ContextOptions): Call {
    const { tail = [] } = options
    const sections = typeof tail === 'string' ? [{ name: 'context', text: tail }] : tail
    return this.#callWith(
      this.#measureBy(calibration),
      this.#texts(options),
      sections.filter(({ text }) => text !== ''),
    )
  }

  #callWith(measure: Measure, texts: HeadTexts, tail: readonly TailSection[]): Call {
    const head = measure.head(texts)
    return { measure, head, tail, room: measure.room(head) }
  }

  #texts({ tools }: ContextOptions): HeadTexts {
    return { system: this.#system, memory: '', tools: tools?.length ? JSON.stringify(tools) : '' }
  }

  #measureBy(calibration: number): Measure {
    if (this.#measure?.calibration !== calibration)
      this.#measure = new Measure(this.#policy, calibration, (row, message) => this.#count(row, message))
    return this.#measure
  }

  #count(row: LogRow, message: Message): number {
    let tokens = this.#counts.get(row)
    if (tokens === undefined) {
      const { counter } = this.#policy
      tokens = storedCount(row, counter.id) ?? countMessage(counter, message)
      this.#counts.set(row, tokens)
    }
    return tokens
  }

  /** Plans the next epoch by what was reported meanwhile; if nothing fits so, by the calibration that holds. */
  async #planNext(
    held: Call,
    options: ContextOptions,
    cause: EpochCause,
    prior: EpochMark | undefined,
  ): Promise<{ readonly call: Call; readonly band: Band; readonly window: Window }> {
    const call = this.#call(this.#reported() ?? held.measure.calibration, options)
    try {
      return { call, ...(await this.#plan(call, cause, prior)) }
    } catch (error) {
      if (call.measure.calibration <= held.measure.calibration) throw error
      return { call: held, ...(await this.#plan(held, cause, prior)) }
    }
  }

  /** What the counter says that its counts should be multiplied by. @throws ERR_INVALID_ARGUMENT */
  #reported(): number | undefined {
    const { counter } = this.#policy
    const calibration = counter.calibration?.()
    if (calibration === undefined || (Number.isFinite(calibration) && calibration > 0)) return calibration
    throw invalid(`counter ${counter.id}`, 'its calibration', 'must be above 0')
  }

  #refusePending({ onPending = 'reject' }: ContextOptions): void {
    const { units } = this.view.conversation
    const pending = pendingCalls(units)
    if (pending.length === 0 || onPending === 'abandon') return
    const entry = units.at(-1)?.row.id ?? ''
    const names = pending.map(({ part }) => part.name).join(', ')
    throw new PlimsollError(
      'ERR_TOOL_PENDING',
      `context: ${pending.length} call(s) of the newest step have no result yet: ${names}`,
      { pending: pending.map(({ part }) => ({ entry, callId: part.id, name: part.name })) },
    )
  }

  /** The window in the current epoch and, where that epoch cannot go on, the cause of the next one. */
  #current(call: Call): { readonly cause?: EpochCause; readonly epoch?: Epoch; readonly window: Window } {
    const { epoch, conversation, rows } = this.view
    const layout = call.measure.layout(conversation)
    if (!epoch) return { cause: 'start', window: NOTHING }
    const { mark } = epoch
    const seen = seenBy(epoch, rows)
    const rewound = rewoundSince(rows, seen)
    // What is shown again may lie before the window, and what is hidden may be all of it.
    if (rewound === 'undo' || conversation.hidden.has(mark.windowFrom ?? ''))
      return { cause: 'rewind', window: NOTHING }
    const window = this.#show(layout, rows, mark)
    const cause = mark.head !== call.head.hash ? 'head' : (rewound ?? this.#breaks(call, epoch, seen, window))
    return { ...(cause && { cause }), epoch, window }
  }

  /** Why an epoch cannot go on with this window, if it cannot. */
  #breaks(call: Call, { place }: Epoch, seen: number, window: Window): EpochCause | undefined {
    const { room } = call
    const { conversation } = this.view
    const { max } = this.#policy
    if (this.#isLate(conversation, seen)) return 'late'
    // The newest unit always shows, whatever the limits.
    const limited = window.from < conversation.units.length - 1
    if (
      window.tokens > room ||
      (limited && (window.tokens > (max.tokens ?? room) || exceeds(conversation.units, window.from, max)))
    )
      return 'window'
    const closing = this.#tail(call, window, this.#fence(place))
    const tokens = window.tokens + (closing?.tokens ?? 0)
    return tokens > room || this.#isReportedOver(call, tokens) ? 'budget' : undefined
  }

  /** Whether anything was added but at the end since an epoch began; what a conversation grew by, is at its end. */
  #isLate({ units, origin }: Conversation, seen: number): boolean {
    if (this.#inOrder === origin) return false
    if (addedLate(units, seen)) return true
    this.#inOrder = origin
    return false
  }

  /** Whether by what a provider reported meanwhile the call would be above the cap itself, its margin included. */
  #isReportedOver({ measure, room }: Call, tokens: number): boolean {
    const { cap, margin } = this.#policy
    const reported = this.#reported() ?? measure.calibration
    return (cap - margin - room + tokens) * reported > cap * measure.calibration
  }

  /** Where the next epoch's window begins, reading further back while that could show more. @throws ERR_BUDGET_TOO_SMALL */
  async #plan(
    call: Call,
    cause: EpochCause,
    prior: Band | undefined,
  ): Promise<{ band: Band; window: Window }> {
    const { max } = this.#policy
    const { place } = this.view.next
    for (;;) {
      const { conversation, rows, whole } = this.view
      const { units } = conversation
      const layout = call.measure.layout(conversation)
      const shown = prior && this.#show(layout, rows, prior)
      const newest = units.length > 0 ? layout.window(units.length - 1, 0, {}) : NOTHING
      const closing = this.#tail(call, newest, this.#fence(place))?.tokens ?? 0
      const room = call.room - closing
      if (prior && shown && (cause === 'late' || cause === 'rewind'))
        if (shown.tokens <= Math.min(room, max.tokens ?? room) && !exceeds(units, shown.from, max))
          return {
            band: { windowFrom: units[shown.from]?.row.id ?? prior.windowFrom, cuts: prior.cuts },
            window: shown,
          }
      const start = shown?.from ?? 0
      const oldBefore = prior?.cuts.oldBefore === undefined ? 0 : layout.indexOf(prior.cuts.oldBefore, rows)
      const cut = cutBack(layout, this.#policy, {
        start,
        oldBefore,
        room,
        keep: Math.min(room, this.#keep(call, layout)),
      })
      if (cut && cut.from <= (this.view.opener ? 1 : 0) && !prior && !whole) {
        await this.view.extend()
        continue
      }
      const window = cut && this.#show(layout, rows, cut)
      if (!cut || !window || window.tokens > room) throw this.#tooSmall(call, layout, closing)
      // Where nothing shows, the window begins after the newest entry.
      const windowFrom = cut.windowFrom ?? rows.at(-1)?.id ?? null
      return { band: { windowFrom, cuts: cut.cuts }, window }
    }
  }

  /** Tokens to which a window is cut back: half of the room; more where the newest user message fills most of that. */
  #keep({ room }: Call, layout: Layout): number {
    const { tokens } = this.#policy.keep
    if (tokens !== undefined) return tokens
    const user = layout.newestUser()
    return Math.max(Math.floor(room / 2), user + Math.floor((room - user) / 4))
  }

  #tooSmall({ head }: Call, layout: Layout, tail: number): PlimsollError {
    const breakdown = floorOf(this.#policy, head, { ...layout.floor(), tail })
    return new PlimsollError(
      'ERR_BUDGET_TOO_SMALL',
      `context: the floor of ${breakdown.floor} tokens is above the cap of ${breakdown.cap}`,
      { breakdown },
    )
  }

  #show(layout: Layout, rows: readonly LogRow[], { windowFrom, cuts }: Band): Window {
    const from = layout.indexOf(windowFrom, rows)
    const old = cuts.oldBefore === undefined ? 0 : layout.indexOf(cuts.oldBefore, rows)
    return layout.window(from < 0 ? layout.units.length : from, old < 0 ? layout.units.length : old, cuts)
  }

  #draft({ head, measure }: Call, cause: EpochCause, { windowFrom, cuts }: Band, window: Window): Epoch {
    const { lane } = this.#policy
    const { base, place } = this.view.next
    const { rows } = this.view
    const readFrom = firstNeeded(rows, window)?.id
    const { calibration } = measure
    const calibrated = calibration === 1 ? [] : [calibration]
    const mark: EpochMark = {
      type: 'epoch',
      id: `${EPOCH_ID}${hashJson([lane, base, windowFrom, { ...cuts } as never, head.hash, ...calibrated])}`,
      lane,
      cause,
      windowFrom,
      ...(readFrom !== undefined && readFrom !== windowFrom && { readFrom }),
      seen: rows.at(-1)?.id ?? null,
      cuts,
      ...(calibration !== 1 && { calibration }),
      head: head.hash,
      prefixHash: this.#prefix.hash(head.hash, window.blocks, []),
      v: RENDER_VERSION,
    }
    return { mark, place }
  }

  /** Writes an epoch with its head. Returns false when another one was first. */
  async #save(head: Head, { mark }: Epoch): Promise<boolean> {
    const { epoch, next } = this.view
    const key = headKey(head.hash)
    const ops = [sealOp({ kind: 'mark', opId: mark.id, base: next.base, entry: mark })]
    // The epoch before it had brought the same.
    if (epoch?.mark.head !== head.hash)
      ops.unshift(sealOp({ kind: 'put', opId: key, key, base: null, value: headValue(head) }))
    return applied((await this.#store.commit(ops, decide)).at(-1))
  }

  /** Hands on what an epoch cut. */
  async #report({ id, cause }: EpochMark, before: Window, after: Window, failures: Failure[]): Promise<void> {
    if (!this.#onCut) return
    const shown = new Set(after.units.map(({ row }) => row))
    const messages = messagesOf(before.units.filter(({ row }) => !shown.has(row)))
    if (messages.length === 0) return
    try {
      await this.#onCut({ scope: this.#scope, epoch: id, cause, messages })
    } catch (error) {
      failures.push(failure('onCut', error))
    }
  }

  async #finish(
    call: Call,
    slice: Slice,
    { mark, place }: Epoch,
    window: Window,
    failures: readonly Failure[] = [],
    unwritten?: 'preview' | 'unsaved',
  ): Promise<Built> {
    const { head, measure } = call
    const { calibration } = measure
    const { conversation } = slice
    const fence = this.#fence(place)
    const closing = this.#tail(call, window, fence)
    const tail = closing ? [...window.waiting, closing] : window.waiting
    const blocks = [...head.blocks, ...window.blocks, ...tail]
    const { floor } = floorOf(this.#policy, head, {
      ...measure.layout(conversation).floor(),
      tail: closing?.tokens ?? 0,
    })
    const receipt = createReceipt(this.#policy, head, blocks, measure.shelf, {
      omitted: omittedFrom(await slice.before(), conversation, window, slice.rows),
      epoch: unwritten ?? { id: mark.id, cause: mark.cause, place },
      ...(calibration !== 1 && { calibration }),
      failures,
      floor,
      room: call.room,
    })
    const context: Context = {
      lane: this.#policy.lane,
      epoch: mark.id,
      head: headKey(head.hash),
      fence,
      blocks,
      ...(head.toolSpecs && { tools: head.toolSpecs }),
      receipt,
      hash: this.#prefix.hash(head.hash, window.blocks, tail),
    }
    return { context, window }
  }

  /** The tag for text that is data; derived from session, lane and the epoch's place, never random. */
  #fence(place: number): string {
    if (this.#fenced?.place !== place) {
      const tag = `ctx-${hashText(JSON.stringify([this.#scope.sessionId ?? '', this.#policy.lane, place])).slice(0, 8)}`
      this.#fenced = { place, tag }
    }
    return this.#fenced.tag
  }

  /** The last block of the request, where there is something to say or the request must not end as it is. */
  #tail({ measure, tail }: Call, { blocks, waiting }: Window, fence: string): Block | undefined {
    const last = waiting.at(-1) ?? blocks.at(-1)
    const spoken = tail.map(({ name, text }) => fenced(fence, name, text)).join('\n')
    if (spoken === '' && last && last.role !== 'assistant') return undefined
    const text = spoken || (last ? CONTINUE : BEGIN)
    if (this.#closing?.measure !== measure || this.#closing.text !== text) {
      const block: Block = {
        section: 'tail',
        role: 'user',
        parts: [{ type: 'text', text }],
        from: [],
        rule: spoken ? 'tail' : 'continue',
        tokens: countMessage(measure.policy.counter, { content: text }),
        trust: 'user',
      }
      this.#closing = { measure, text, block }
    }
    return this.#closing.block
  }
}

type Failure = Receipt['failures'][number]

function failure(part: string, error: unknown): Failure {
  const code = isPlimsollError(error) ? error.code : 'ERR_STORAGE'
  return {
    part,
    code: part === 'epoch' ? code : 'ERR_HOOK',
    message: error instanceof Error ? error.message : String(error),
  }
}

const NOTHING: Window = { blocks: [], waiting: [], tokens: 0, from: 0, units: [] }

/** Tokens that a counter found when the row was written. */
function storedCount({ derived }: LogRow, counter: string): number | undefined {
  return derived === undefined ? undefined : (JSON.parse(derived) as { [counter: string]: number })[counter]
}

/** Seq of the newest entry that an epoch's writer had read. */
function seenBy({ mark, seq }: CurrentEpoch, rows: readonly LogRow[]): number {
  return mark.seen === null ? 0 : (rows.findLast(({ id }) => id === mark.seen)?.seq ?? seq)
}

/** Whether a rewind after `seq` hides any of the rows, or shows any entry again. */
function rewoundSince(rows: readonly LogRow[], seq: number): 'rewind' | 'undo' | undefined {
  let rewound: 'rewind' | undefined
  for (let index = rows.length - 1; index >= 0; index--) {
    const row = rows[index] as LogRow
    if (row.seq <= seq) break
    if (row.kind !== 'rewind') continue
    const mark = markIn(row)
    if (mark?.type !== 'rewind') continue
    if ('undo' in mark) return 'undo'
    const hides = new Set(mark.hides)
    if (rows.some(({ id }) => hides.has(id))) rewound = 'rewind'
  }
  return rewound
}

function applied(result: OpResult | undefined): boolean {
  return result?.status === 'accepted' && result.applied
}
