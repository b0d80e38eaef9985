import type { CompactEvent, Context, ContextAt, Receipt, SectionUse, SummaryUse } from '../ports/context.ts'
import { isPlimsollError, PlimsollError } from '../ports/errors.ts'
import type { Host } from '../ports/host.ts'
import type { Message } from '../ports/message.ts'
import type { EpochCause, EpochMark, OpResult, Scope } from '../ports/op.ts'
import type { ScopeStore } from '../ports/store.ts'
import { LawChecker } from './assert-laws.ts'
import { valueIn } from './bodies.ts'
import { type Call, Calls, type ContextOptions } from './call.ts'
import { AHEAD, type Compaction, Compactor } from './compaction.ts'
import { decide } from './decide.ts'
import { readEntry } from './entries.ts'
import { type Epoch, EpochJudge, seenBy, show } from './epoch.ts'
import { fold, messagesOf, pendingCalls, type Unit } from './fold.ts'
import { hashJson } from './hash.ts'
import { type Head, type HeadTexts, headKey, headValue, sourcesOf } from './head.ts'
import type { Extraction } from './long-term/extraction.ts'
import { idIn, type Known, type LongTerm, NOTHING_KNOWN } from './long-term/known.ts'
import { type News, newsSince, type Remembered, type Section, stillHolds } from './long-term/remembered.ts'
import { EPOCH_ID } from './message.ts'
import { type Compacting, type Plan, Planner } from './planner.ts'
import { type CompactionOptions, type Policy, RENDER_VERSION } from './policy.ts'
import { hashPrefix, Prefix } from './prefix.ts'
import { createReceipt, floorOf, leftOut } from './receipt.ts'
import { sealOp } from './seal.ts'
import type { CurrentSummary } from './summary.ts'
import { readPast, type Slice, View } from './view.ts'
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
  readonly longTerm: LongTerm
  readonly extraction: Extraction | undefined
  /** Compactions that run now, by scope and lane, whichever object of the session began them. */
  readonly running: Map<string, Promise<unknown>>
  readonly onCompact: (event: CompactEvent) => void
}

/** What a call shows in its tail beside what the app gave, and what of it had no room. */
export interface OwnTail {
  readonly sections: readonly Section[]
  readonly uses: readonly SectionUse[]
  readonly failures: readonly Failure[]
}

const NO_TAIL: OwnTail = { sections: [], uses: [], failures: [] }

/** What shows without the tail, which is to say nothing of it again. */
export interface Showing {
  /** The newest user message, if there is one. */
  readonly asked: Message | undefined
  /** Ids of messages and facts. */
  readonly ids: ReadonlySet<string>
}

/**
 * Contract: makes what the tail shows beside what the app gave; called again where an epoch begins, since other messages show then.
 * What shows is gathered only where it is asked for.
 */
export type MakeTail = (showing: () => Showing) => Promise<OwnTail>

const noTail: MakeTail = async () => NO_TAIL

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
  readonly #longTerm: LongTerm
  readonly #extraction: Extraction | undefined
  readonly #prefix = new Prefix()
  /** What the head of the epoch that was seen last holds of long-term memory. */
  #frozen: { readonly head: string; readonly remembered: Remembered | undefined } | undefined
  /** What was compared last, since mostly nothing of it changes between two calls: all facts would be hashed and counted anew. */
  #judged:
    | { readonly frozen: Remembered | undefined; readonly known: Known; readonly holds: boolean }
    | undefined
  #newest:
    | {
        readonly remembered: Remembered | undefined
        readonly known: Known
        readonly calibration: number
        readonly news: News | undefined
      }
    | undefined
  readonly #laws: LawChecker | undefined

  constructor(parts: BuilderParts) {
    const { store, scope, policy, system, onCut, compaction, onCompact, development } = parts
    const { longTerm, extraction } = parts
    this.#laws = development ? new LawChecker() : undefined
    this.#store = store
    this.#policy = policy
    this.#scope = scope
    this.#onCut = onCut
    this.#onCompact = onCompact
    this.#longTerm = longTerm
    this.#extraction = extraction
    this.view = new View(store, policy.lane)
    this.#calls = new Calls(policy, system, scope)
    this.#judge = new EpochJudge(this.view, this.#calls, policy)
    this.#planner = new Planner(store, this.view, this.#calls, policy)
    this.#compactor = compaction && new Compactor(parts, policy.lane, compaction)
  }

  /**
   * @param makeTail what the tail is to hold beside what the app gave; without room for the least context beside it, it is left out.
   * @throws ERR_BUDGET_TOO_SMALL, ERR_TOOL_PENDING
   */
  async build(options: ContextOptions, makeTail = noTail): Promise<Built> {
    const whole = await this.#buildIfRoom(options, makeTail)
    if (whole) return whole
    const before = this.view.epoch?.mark.id
    const least = await this.#build(options, noTail, false)
    // Beside what an epoch shows that began just now there may be room: the next call would find it.
    const isNew = this.view.epoch?.mark.id !== before
    const again = isNew && (await this.#buildIfRoom({ ...options, newEpoch: false }, makeTail))
    return again || least
  }

  async #buildIfRoom(options: ContextOptions, makeTail: MakeTail): Promise<Built | undefined> {
    try {
      return await this.#build(options, makeTail, true)
    } catch (error) {
      if (!isPlimsollError(error, 'ERR_BUDGET_TOO_SMALL')) throw error
      return undefined
    }
  }

  async #build(options: ContextOptions, makeTail: MakeTail, withNews: boolean): Promise<Built> {
    let manual = options.newEpoch ?? false
    let broken = false
    let compacted: Compaction | undefined
    let extracted = false
    const failed: Failure[] = []
    for (let tries = 0; ; tries++) {
      await this.view.refresh()
      // What an undo shows again may stand before all that is in memory, and be what is waited for.
      if (this.#judge.isUndone) await this.view.reopen()
      const outside = this.#judge.joinedOutside
      const isLate = outside !== undefined && (await this.view.include(outside))
      this.#refusePending(options)
      const { epoch: prior, memory } = this.view
      const calibration = prior?.mark.calibration ?? 1
      const frozen = await this.#rememberedBy(prior?.mark)
      const known = await this.#knownNow(failed, !options.preview)
      const holds = known === undefined || this.#holds(frozen, known)
      const remembered = holds ? frozen : this.#calls.remember(known, calibration, 'all')
      const news = withNews && known ? this.#news(remembered, known, calibration) : undefined
      const own = await makeTail(() => this.#showing(remembered, news))
      const failures = [...failed, ...own.failures]
      const sections = news ? [news.section, ...own.sections] : own.sections
      const uses = [...(news ? [news.use] : []), ...own.uses]
      const shown = { summary: memory, remembered }
      const held = this.#calls.make(calibration, options, prior?.place ?? 0, shown, sections)
      const current = this.#judge.current(held)
      const cause = manual ? 'manual' : (current.cause ?? (isLate ? 'late' : undefined))
      if (!cause && current.epoch) {
        const built = await this.#finish(
          held,
          this.view,
          current.epoch,
          current.window,
          uses,
          failures,
          this.view.summary,
        )
        if (!options.preview) this.#prepare(held, current.window)
        return built
      }
      const compacting: Compacting = {
        may: this.#compactor !== undefined && !compacted && !broken && !options.preview,
        done: compacted?.status === 'summarised',
      }
      const next = await this.#planner.next(
        held,
        options,
        cause ?? 'start',
        current.epoch,
        compacting,
        known ?? NOTHING_KNOWN,
        own.sections,
      )
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
      if (!extracted && !options.preview) {
        extracted = true
        // Where nothing shows any more of the epoch before, or there was none, that is what was read.
        const before = current.epoch ? current.window.units : this.view.conversation.units
        if (await this.#keepBefore(before, next.window, failed)) {
          tries--
          continue
        }
      }
      const epoch = this.#draft(next, cause ?? 'start')
      const { call, window } = next
      if (options.preview)
        return this.#finish(call, this.view, epoch, window, own.uses, failures, next.summary, 'preview')
      if (broken || tries === TRIES)
        return this.#finish(call, this.view, epoch, window, own.uses, failures, next.summary, 'unsaved')
      try {
        if (await this.#save(call.head, epoch)) {
          manual = false
          this.#tell(next, epoch.mark.cause, held, current.window, compacted)
          await this.#report(epoch.mark, current.window, window, failed)
        }
      } catch (error) {
        broken = true
        failed.push(failure('epoch', error))
      }
    }
  }

  /** Resolves once no summary is being written. */
  async compacted(): Promise<void> {
    await this.#compactor?.running
  }

  /** Whether a summary is being written now, whichever object of the session began it. */
  get isCompacting(): boolean {
    return this.#compactor?.running !== undefined
  }

  /**
   * Begins the summary that the next epoch will need, if the window came near the line, and does not wait for it.
   *
   * @returns nothing where there is none to write; `written` gives nothing where one was being written, once that is done
   */
  async beginCompaction(): Promise<{ readonly written: Promise<Compaction | undefined> } | undefined> {
    const compactor = this.#compactor
    if (!compactor) return undefined
    await this.view.refresh()
    const mark = this.view.epoch?.mark
    const register = mark && (await this.#store.register(headKey(mark.head)))
    const texts = register && (valueIn(register) as HeadTexts | undefined)
    if (!mark || !texts) return undefined
    // What the epoch shows is all that counts, not who asked last: the log says so even to a process that built no context.
    const held = this.#calls.with(this.#calls.measureBy(mark.calibration ?? 1), texts, [])
    const { cause, window } = this.#judge.current(held)
    // An epoch that ends for another cause is followed by one that shows other messages.
    if (cause !== undefined && cause !== 'window') return undefined
    const job = this.#planner.ahead(held, window, compactor.ahead || AHEAD)
    return job && { written: compactor.run(job) }
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
      value === undefined ? this.#calls.texts({}, past.epoch.place, {}) : (value as unknown as HeadTexts),
      [],
    )
    const window = show(measure.layout(past.conversation), past.rows, mark)
    const { context } = await this.#finish(call, past, past.epoch, window, [], [], past.summary)
    const seen = seenBy(past.epoch, past.rows)
    const then = fold(
      [...past.rewinds, ...past.rows.filter((row) => row !== past.opener && row.seq <= seen)],
      undefined,
      past.opener,
    )
    const { blocks } = show(measure.layout(then), past.rows, mark)
    const hash = hashPrefix(mark.head, blocks)
    if (value !== undefined && hash === mark.prefixHash) return { context, verified: true }
    const behind = [register, ...past.rows]
    const reason = behind.some((row) => row?.unreadable)
      ? 'unreadable'
      : behind.some((row) => (row?.body ?? null) === null)
        ? 'forgotten'
        : 'mismatch'
    return { context, verified: false, reason }
  }

  /** What the head of an epoch holds of long-term memory. */
  async #rememberedBy(mark: EpochMark | undefined): Promise<Remembered | undefined> {
    if (!mark?.remembers) return undefined
    if (this.#frozen?.head !== mark.head) {
      const register = await this.#store.register(headKey(mark.head))
      const texts = register && (valueIn(register) as HeadTexts | undefined)
      this.#frozen = { head: mark.head, remembered: texts?.remembered }
    }
    return this.#frozen?.remembered
  }

  /** What is remembered now; nothing is said of it, where it cannot be read. */
  async #knownNow(failures: Failure[], mayWrite: boolean): Promise<Known | undefined> {
    try {
      return await this.#longTerm.read(this.view.registersAt, this.view.head, mayWrite)
    } catch (error) {
      if (!failures.some(({ part }) => part === 'long-term')) failures.push(failure('long-term', error))
      return undefined
    }
  }

  /** Whether what an epoch shows still holds. */
  #holds(frozen: Remembered | undefined, known: Known): boolean {
    if (this.#judged?.frozen !== frozen || this.#judged?.known !== known)
      this.#judged = { frozen, known, holds: stillHolds(frozen, known) }
    return this.#judged.holds
  }

  #news(remembered: Remembered | undefined, known: Known, calibration: number): News | undefined {
    const made = this.#newest
    if (made?.remembered === remembered && made?.known === known && made.calibration === calibration)
      return made.news
    const { counter } = this.#calls.measureBy(calibration).policy
    const news = newsSince(remembered, known, this.#policy.sections.news, counter.count)
    this.#newest = { remembered, known, calibration, news }
    return news
  }

  /** What shows in the epoch that holds, as it was when it began, and what was said since. */
  async showing(): Promise<Showing> {
    await this.view.refresh()
    return this.#showing(await this.#rememberedBy(this.view.epoch?.mark), undefined)
  }

  /** What shows in the epoch that holds. Without one nothing does yet. */
  #showing(remembered: Remembered | undefined, news: News | undefined): Showing {
    const { rows, opener, epoch, conversation } = this.view
    const asked = conversation.units.findLast(({ message }) => message.role === 'user')
    const from = epoch ? rows.findIndex(({ id }) => id === epoch.mark.windowFrom) : -1
    const shown = from < 0 ? [] : [...(opener ? [opener] : []), ...rows.slice(from)]
    const facts = [...(remembered ? remembered.facts.map(([name]) => idIn(name)) : []), ...(news?.ids ?? [])]
    const ids = new Set([...shown.map(({ id }) => id), ...(asked ? [asked.row.id] : []), ...facts])
    return { asked: asked?.message, ids }
  }

  /** Remembers what is to be remembered of the messages that leave the window. @returns whether there was anything new. */
  async #keepBefore(before: readonly Unit[], after: Window, failures: Failure[]): Promise<boolean> {
    const done = await this.#extraction?.of(cutFrom(before, after))
    if (done && 'error' in done) failures.push(failure('extract', done.error))
    return done?.isNew ?? false
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
      ...(head.remembered && { remembers: true }),
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
          sources: sourcesOf(head),
        }),
      )
    return applied((await this.#store.commit(ops, decide)).at(-1))
  }

  /** Hands on what an epoch cut. */
  async #report({ id, cause }: EpochMark, before: Window, after: Window, failures: Failure[]): Promise<void> {
    if (!this.#onCut) return
    const messages = messagesOf(cutFrom(before.units, after))
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
    uses: readonly SectionUse[],
    failures: readonly Failure[],
    summary: CurrentSummary | undefined,
    unwritten?: 'preview' | 'unsaved',
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
      remembered: [...(head.remembered?.uses ?? []), ...uses],
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

/** What showed before and does not show any more. */
function cutFrom(before: readonly Unit[], after: Window): readonly Unit[] {
  const shown = new Set(after.units.map(({ row }) => row))
  return before.filter(({ row }) => !shown.has(row))
}

function summaryUse({ mark, place }: CurrentSummary, covers: SummaryUse['covers']): SummaryUse {
  const { id, trust, by, lost } = mark
  return { id, place, covers, trust, by, lost }
}

export type Failure = Receipt['failures'][number]

export function failure(part: string, error: unknown): Failure {
  const code = isPlimsollError(error) ? error.code : 'ERR_STORAGE'
  return {
    part,
    code: part === 'onCut' || part === 'extract' ? 'ERR_HOOK' : code,
    message: error instanceof Error ? error.message : String(error),
  }
}

function applied(result: OpResult | undefined): boolean {
  return result?.status === 'accepted' && result.applied
}
