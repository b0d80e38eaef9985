import type { CompactEvent, Context, Receipt, SummaryUse } from '../ports/context.ts'
import { isPlimsollError, PlimsollError } from '../ports/errors.ts'
import type { Host } from '../ports/host.ts'
import type { Message } from '../ports/message.ts'
import type { EpochCause, EpochMark, OpResult, Scope } from '../ports/op.ts'
import type { ScopeStore } from '../ports/store.ts'
import { LawChecker } from './assert-laws.ts'
import { type Call, Calls, type ContextOptions } from './call.ts'
import { type Compaction, Compactor } from './compaction.ts'
import { decide } from './decide.ts'
import { type Epoch, EpochJudge, seenBy, show } from './epoch.ts'
import { fold, messagesOf, pendingCalls } from './fold.ts'
import { hashJson } from './hash.ts'
import { type Head, type HeadTexts, headKey, headValue } from './head.ts'
import { EPOCH_ID } from './message.ts'
import { type Compacting, type Plan, Planner } from './planner.ts'
import { type CompactionOptions, type Policy, RENDER_VERSION } from './policy.ts'
import { hashPrefix, Prefix } from './prefix.ts'
import { createReceipt, floorOf, leftOut } from './receipt.ts'
import { sealOp, valueIn } from './seal.ts'
import type { CurrentSummary } from './summary.ts'
import { readEntry, readPast, type Slice, View } from './view.ts'
import { firstNeeded, type Window } from './window.ts'

/** How often an epoch is tried, against other writers, before the context is returned unsaved. */
const TRIES = 4
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
  readonly host: Host
  readonly compaction?: CompactionOptions | undefined
  readonly development?: boolean | undefined
  /** Compactions that run now, by scope and lane, whichever object of the session began them. */
  readonly running: Map<string, Promise<unknown>>
  readonly onCompact: (event: CompactEvent) => void
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

/** Builds the contexts of one session in one lane. */
export class ContextBuilder {
  readonly view: View
  readonly #store: ScopeStore
  readonly #policy: Policy
  readonly #scope: Scope
  readonly #onCut: OnCut | undefined
  readonly #calls: Calls
  readonly #judge: EpochJudge
  readonly #planner: Planner
  readonly #compactor: Compactor | undefined
  readonly #onCompact: (event: CompactEvent) => void
  readonly #prefix = new Prefix()
  readonly #laws: LawChecker | undefined

  constructor(parts: BuilderParts) {
    const { store, scope, policy, system, onCut, compaction, onCompact, development } = parts
    this.#laws = development ? new LawChecker() : undefined
    this.#store = store
    this.#policy = policy
    this.#scope = scope
    this.#onCut = onCut
    this.#onCompact = onCompact
    this.view = new View(store, policy.lane)
    this.#calls = new Calls(policy, system, scope)
    this.#judge = new EpochJudge(this.view, this.#calls, policy)
    this.#planner = new Planner(store, this.view, this.#calls, policy)
    this.#compactor = compaction && new Compactor(parts, policy.lane, compaction)
  }

  /** @throws ERR_BUDGET_TOO_SMALL, ERR_TOOL_PENDING */
  async build(options: ContextOptions): Promise<Built> {
    let manual = options.newEpoch ?? false
    let broken = false
    let compacted: Compaction | undefined
    const failures: Failure[] = []
    for (let tries = 0; ; tries++) {
      await this.view.refresh()
      this.#refusePending(options)
      const { epoch: prior, memory } = this.view
      const held = this.#calls.make(prior?.mark.calibration ?? 1, options, prior?.place, memory)
      const current = this.#judge.current(held)
      const cause = manual ? 'manual' : current.cause
      if (!cause && current.epoch) {
        const built = await this.#finish(held, this.view, current.epoch, current.window, failures)
        if (!options.preview) this.#prepare(held, current.window)
        return built
      }
      const compacting: Compacting = {
        may: this.#compactor !== undefined && !compacted && !broken && !options.preview,
        done: compacted?.status === 'summarised',
      }
      const next = await this.#planner.next(held, options, cause ?? 'start', current.epoch, compacting)
      // What was read to plan may be what waits: an undo brings back steps that were out of sight.
      this.#refusePending(options)
      if (next.job) {
        const repeats = this.#planner.repeats(cause ?? 'start', current.epoch)
        compacted =
          repeats === undefined
            ? await this.#compactor?.run(next.job)
            : { status: 'refused', reasons: [repeats] }
        tries--
        continue
      }
      const epoch = this.#draft(next, cause ?? 'start')
      const { call, window } = next
      if (options.preview) return this.#finish(call, this.view, epoch, window, [], 'preview', next.summary)
      if (broken || tries === TRIES)
        return this.#finish(call, this.view, epoch, window, failures, 'unsaved', next.summary)
      try {
        if (await this.#save(call.head, epoch)) {
          manual = false
          this.#tell(next, epoch.mark.cause, held, current.window, compacted)
          await this.#report(epoch.mark, current.window, window, failures)
        }
      } catch (error) {
        broken = true
        failures.push(failure('epoch', error))
      }
    }
  }

  /** Resolves once no summary is being written. */
  async compacted(): Promise<void> {
    await this.#compactor?.running
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
    const measure = this.#calls.measureBy(mark.calibration ?? 1)
    const call = this.#calls.with(
      measure,
      value === undefined ? this.#calls.texts({}, past.epoch.place) : (value as unknown as HeadTexts),
      [],
    )
    const window = show(measure.layout(past.conversation), past.rows, mark)
    const { context } = await this.#finish(call, past, past.epoch, window)
    const seen = seenBy(past.epoch, past.rows)
    const then = fold(
      [...past.rewinds, ...past.rows.filter((row) => row !== past.opener && row.seq <= seen)],
      undefined,
      past.opener,
    )
    const { blocks } = show(measure.layout(then), past.rows, mark)
    const hash = hashPrefix(mark.head, blocks)
    if (value !== undefined && hash === mark.prefixHash) return { context, verified: true }
    const forgotten = value === undefined || past.rows.some((row) => row.body === null)
    return { context, verified: false, reason: forgotten ? 'forgotten' : 'mismatch' }
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

  /** Writes the summary that the next epoch will need, off the hot path, once the window comes near the line. */
  #prepare(call: Call, window: Window): void {
    const compactor = this.#compactor
    if (!compactor || compactor.ahead === false || compactor.running) return
    const job = this.#planner.ahead(call, window, compactor.ahead)
    // It never rejects but for what no compaction can mend; then the next epoch writes what it needs.
    if (job) compactor.run(job).catch(() => {})
  }

  /** Tells the listeners what became of a compaction once an epoch shows it, or began without. */
  #tell(
    { call, window, summary, refused }: Plan,
    cause: EpochCause,
    held: Call,
    before: Window,
    compacted: Compaction | undefined,
  ): void {
    const isNew = summary !== undefined && summary.mark.id !== held.head.summary
    if (!isNew && compacted?.status !== 'refused' && !refused) return
    const used = ({ head }: Call, { tokens }: Window): number =>
      head.tokens.system + head.tokens.memory + tokens
    const outcome = compacted ?? this.#compactor?.outcome
    this.#onCompact({
      type: 'compact',
      status: isNew ? 'summarised' : 'refused',
      cause,
      tokensBefore: used(held, before),
      tokensAfter: used(call, window),
      summaryCount: summary?.place ?? 0,
      ...(isNew && { by: summary.mark.by }),
      reasons: refused ?? outcome?.reasons ?? [],
    })
  }

  #draft({ call, band, window, summary, withheld }: Plan, cause: EpochCause): Epoch {
    const { windowFrom, cuts } = band
    const { head, measure } = call
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
      ...(summary && { summary: summary.mark.id }),
      ...(withheld !== undefined && { withheld }),
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
      ops.unshift(
        sealOp({
          kind: 'put',
          opId: key,
          key,
          base: null,
          value: headValue(head),
          ...(head.summary !== undefined && { sources: [head.summary] }),
        }),
      )
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
    summary = slice.summary,
  ): Promise<Built> {
    const { head, measure } = call
    const { calibration } = measure
    const { conversation } = slice
    const fence = this.#calls.fence(place)
    const closing = this.#calls.tail(call, window, place)
    const tail = closing ? [...window.waiting, closing] : window.waiting
    const blocks = [...head.blocks, ...window.blocks, ...tail]
    const { floor } = floorOf(this.#policy, head, {
      ...measure.layout(conversation).floor(),
      tail: closing?.tokens ?? 0,
    })
    const { omitted, covers } = leftOut(
      await slice.before(summary),
      { conversation, rows: slice.rows, summary },
      window,
    )
    const receipt = createReceipt(this.#policy, head, blocks, measure.shelf, {
      omitted,
      ...(summary && { summary: summaryUse(summary, covers) }),
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
    // What is read and shown of the past is not the whole log.
    if (slice === this.view) this.#laws?.check(context, this.view.head.ordinal)
    return { context, window }
  }
}

function summaryUse({ mark, place }: CurrentSummary, covers: SummaryUse['covers']): SummaryUse {
  const { id, trust, by, lost } = mark
  return { id, place, covers, trust, by, lost }
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

function applied(result: OpResult | undefined): boolean {
  return result?.status === 'accepted' && result.applied
}
