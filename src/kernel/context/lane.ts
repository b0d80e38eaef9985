import type { Context } from '../../ports/context.ts'
import { defined } from '../../ports/defined.ts'
import { isPlimsollError, PlimsollError } from '../../ports/errors.ts'
import type { EpochCause, EpochMark, HandedOut, Scope } from '../../ports/op.ts'
import type { ContextOptions } from '../../ports/session.ts'
import type { Head as LogHead, ScopeStore } from '../../ports/store.ts'
import { hashJson } from '../../text/hash.ts'
import type { Cover, Covering } from '../cover.ts'
import type { CutPart, Showing, TailPart } from '../feature.ts'
import { pendingCalls, type Unit } from '../log/fold.ts'
import { EPOCH_ID } from '../log/message.ts'
import { sealOp } from '../log/seal.ts'
import { type Policy, RENDER_VERSION } from '../policy.ts'
import { Calls } from './call.ts'
import { contextOf, type Made } from './context-of.ts'
import { afterCut, beforeCut, cutFrom } from './cut-listeners.ts'
import { Judge } from './epoch.ts'
import { type Failure, failure } from './failure.ts'
import { type Head, type HeadParts, headKey, headValue, readHead, showsShared, sourcesOf } from './head.ts'
import { type Kept, keptOf } from './kept.ts'
import type { Call } from './measure.ts'
import { type Plan, planNext, WHOLE } from './plan.ts'
import { Prefix } from './prefix.ts'
import type { Secret } from './secret.ts'
import { type NamedShow, NO_TAIL, Shows, withheld } from './shows.ts'
import { type CurrentEpoch, View } from './view.ts'
import { firstNeeded, type Window } from './window.ts'

/** How often an epoch is tried, against other writers, before the context is returned unsaved. */
const TRIES = 4

export interface LaneParts {
  readonly store: ScopeStore
  readonly scope: Scope
  /** That of its session. */
  readonly secret: Secret
  readonly policy: Policy
  readonly system: string
  /** The scope of its user. */
  readonly user: Pick<ScopeStore, 'head'>
  /** Lists the session with its user, unless it is listed. */
  readonly register: () => Promise<void>
  readonly shows: readonly NamedShow[]
  readonly cuts: readonly CutPart[]
  readonly cover: ((lane: Lane) => Cover) | undefined
  readonly laws: (() => LawCheck) | undefined
}

/** Checks each context of one lane. */
export interface LawCheck {
  /**
   * @param messages numbers of messages that the log holds
   * @param rebased how often rows changed their places
   * @throws ERR_LAW_BROKEN
   */
  check(context: Context, messages: number, rebased?: number): void
}

/** A context with the window that it shows, and what is recorded of it. */
export interface Built {
  readonly context: Context
  readonly window: Window
  readonly handedOut: readonly HandedOut[]
}

/** Builds the contexts of one session under one policy: goes on with an epoch, or begins one. */
export class Lane {
  readonly store: ScopeStore
  readonly secret: Secret
  readonly policy: Policy
  readonly view: View
  readonly calls: Calls
  readonly cover: Cover | undefined
  readonly prefix: Prefix
  readonly #parts: LaneParts
  readonly #shows: Shows
  readonly #judge: Judge
  readonly #laws: LawCheck | undefined
  /** Whether the session was listed here, though nothing was said in it. */
  #isListed = false
  /** What features show in the head that was read last. */
  #read: { readonly head: string; readonly parts: HeadParts | undefined } | undefined
  /** Of blocks of what was read since the log was read whole. */
  #kept: Kept = { made: new Map() }

  constructor(parts: LaneParts) {
    this.#parts = parts
    this.store = parts.store
    this.secret = parts.secret
    this.prefix = new Prefix(parts.secret)
    this.policy = parts.policy
    this.view = new View(parts.store, parts.policy, async (reads, view, isReloaded) => {
      // What the head holds of features may be forgotten since, or the session deleted.
      if (isReloaded) {
        this.#read = undefined
        this.#isListed = false
        // Contexts that were handed out have it still.
        this.#kept.made = undefined
        this.#kept = { made: new Map() }
      }
      await this.secret.refresh(reads, isReloaded)
      await this.cover?.refresh(reads, view, isReloaded)
    })
    this.cover = parts.cover?.(this)
    this.calls = new Calls(parts, this.cover)
    this.#judge = new Judge(this)
    const counterAt = (calibration: number) => this.calls.measureBy(calibration).policy.counter
    this.#shows = new Shows(parts.shows, parts.secret, counterAt)
    this.#laws = parts.laws?.()
  }

  /** @throws ERR_BUDGET_TOO_SMALL, ERR_TOOL_PENDING */
  async context(options: ContextOptions): Promise<Built> {
    const whole = await this.#buildIfRoom(options)
    if (whole) return whole
    const before = this.view.epoch?.mark.id
    const least = await this.#build(options, false)
    // An epoch that began just now may have room for it: the next call would find it.
    const isNew = this.view.epoch?.mark.id !== before
    const again = isNew && (await this.#buildIfRoom({ ...options, newEpoch: false }))
    return again || least
  }

  /** What shows in the epoch that holds, as it was when it began. */
  async showing(): Promise<Showing> {
    await this.view.refresh()
    return this.#showing((await this.#frozen(this.view.epoch)) ?? {}, [])
  }

  async #buildIfRoom(options: ContextOptions): Promise<Built | undefined> {
    try {
      return await this.#build(options, true)
    } catch (error) {
      if (!isPlimsollError(error, 'ERR_BUDGET_TOO_SMALL')) throw error
      return undefined
    }
  }

  /** @param withTail whether features may show something in the tail */
  async #build(options: ContextOptions, withTail: boolean): Promise<Built> {
    const { view, cover, calls, policy } = this
    const { cuts, scope } = this.#parts
    let mayWrite = !options.preview
    const unwritten = mayWrite ? 'unsaved' : 'preview'
    let manual = options.newEpoch
    let hasWritten = false
    let written: unknown
    let isTold = false
    const failed: Failure[] = []
    for (let tries = 0; ; ) {
      const isLate = await this.#refresh(options)
      const { epoch: prior, head: own, registersAt } = view
      const calibration = prior?.mark.calibration ?? 1
      const frozen = await this.#frozen(prior)
      let head: Promise<LogHead> | undefined
      const user = () => (head ??= this.#parts.user.head())
      const shown = await this.#shows.read(frozen ?? {}, { own, registersAt, user, mayWrite }, failed)
      const parts = this.#shows.parts(shown, calibration, frozen ? undefined : 0)
      const fitting = (part: TailPart): TailPart => (withTail ? part : withheld(part, policy.counter.count))
      const since = fitting(this.#shows.since(shown, parts, calibration))
      const unshown: Failure[] = []
      const failures = (): readonly Failure[] => [...failed, ...unshown]
      const showing = () => this.#showing(parts, since.ids ?? [])
      const ask = { count: policy.counter.count, policy, showing }
      const { sections } = fitting(await this.#shows.tail(options, ask, unshown))
      const tail = [...sections, ...ownTail(options)]
      const make = (by: number, at: number, given: HeadParts, then: Covering | undefined, before = NO_TAIL) =>
        calls.make(by, at, { ...options, parts: given, covering: then }, [...before.sections, ...tail])
      const shows = prior && cover?.shown(prior)
      const covering = shows === 'gone' ? undefined : shows
      const held = make(calibration, prior?.place ?? 0, parts, covering, since)
      const { epoch, window, ...judged } = this.#judge.current(held, shows)
      const cause = manual ? 'manual' : (judged.cause ?? (isLate ? 'late' : undefined))
      if (!cause && epoch) {
        // Its pins alone stand for nothing.
        const stands = covering?.pinsOnly ? undefined : covering
        const { mark } = epoch
        const built = await this.#finish({ call: held, mark, window, covering: stands, failures: failures() })
        if (mayWrite) cover?.goesOn?.(held, window)
        return built
      }
      const planned = await planNext(this, {
        calibration,
        cause: cause ?? 'start',
        prior: epoch,
        partsAt: (at, rung) => this.#shows.parts(shown, at, rung),
        make: (at, now, then) => make(at, view.next.place, now, then),
        mayWrite: mayWrite && !hasWritten,
        written,
      })
      // What was read to plan may be what waits: an undo brings back steps that were out of sight.
      this.#refusePending(options)
      if ('write' in planned) {
        hasWritten = true
        written = await planned.write()
        continue
      }
      if (!isTold && mayWrite) {
        isTold = true
        // Where nothing shows any more of the epoch before, that is what was read.
        const before = epoch ? window.units : view.conversation.units
        if (await beforeCut(cuts, cutFrom(before, planned.window), failed)) continue
      }
      const next = this.#draft(planned, cause ?? 'start')
      if (!mayWrite || tries++ === TRIES)
        return this.#finish({ ...planned, mark: next, failures: failures(), unwritten })
      try {
        // Who forgets what is the user's looks through the sessions that are listed. What was read
        // before it was listed may be forgotten since.
        if (view.head.ordinal === 0 && !this.#isListed && showsShared(planned.call.head)) {
          await this.#parts.register()
          this.#isListed = true
          continue
        }
        if (await this.#save(planned.call.head, next)) {
          manual = false
          // Of a lane's first, what would have shown.
          const whole = () => held.measure.layout(view.conversation).show(WHOLE, view.rows)
          const before = { call: held, window: epoch ? window : whole() }
          cover?.began?.({ cause: next.cause, before, after: planned, written })
          await afterCut(cuts, scope, next, cutFrom(window.units, planned.window), failed)
        }
      } catch (error) {
        mayWrite = false
        failed.push(failure('epoch', error))
      }
    }
  }

  /** @returns whether something was added to a round from before what is in memory, and shows */
  async #refresh(options: ContextOptions): Promise<boolean> {
    await this.view.refresh()
    // What an undo shows again may stand before all that is in memory, and be what is waited for.
    if (this.#judge.isUndone) await this.view.reopen()
    const outside = this.#judge.joinedOutside
    const isLate = outside !== undefined && (await this.view.include(outside))
    this.#refusePending(options)
    return isLate
  }

  #showing(parts: HeadParts, since: readonly string[]): Showing {
    const { rows, opener, epoch, conversation } = this.view
    const asked = conversation.units.findLast(({ message }) => message.role === 'user')
    const from = epoch ? rows.findIndex(({ id }) => id === epoch.mark.windowFrom) : -1
    const shown = from < 0 ? [] : [...(opener ? [opener] : []), ...rows.slice(from)]
    const frozen = Object.values(parts).flatMap(({ ids = [] }) => ids)
    const ids = new Set([...shown.map(({ id }) => id), ...(asked ? [asked.row.id] : []), ...frozen, ...since])
    return { asked: asked?.message, ids }
  }

  /**
   * What an epoch froze of features. Undefined: it is gone, and the epoch holds if the same shows
   * now.
   */
  async #frozen(epoch: CurrentEpoch | undefined): Promise<HeadParts | undefined> {
    if (!epoch?.mark.remembers) return {}
    const { head } = epoch.mark
    if (this.#read?.head !== head) this.#read = { head, parts: (await readHead(this.store, head))?.parts }
    return this.#read.parts
  }

  #refusePending({ onPending }: ContextOptions): void {
    const { units } = this.view.conversation
    const pending = pendingCalls(units)
    if (pending.length === 0 || onPending === 'abandon') return
    const entry = (units.at(-1) as Unit).row.id
    const names = pending.map(({ part }) => part.name).join(', ')
    throw new PlimsollError(
      'ERR_TOOL_PENDING',
      `context: ${pending.length} call(s) of the newest step have no result yet: ${names}`,
      { pending: pending.map(({ part }) => ({ entry, callId: part.id, name: part.name })) },
    )
  }

  #draft({ call, band, window, covering, withheld }: Plan, cause: EpochCause): EpochMark {
    const { windowFrom, cuts } = band
    const { head, measure } = call
    const { lane } = this.policy
    const { rows, next } = this.view
    const needed = firstNeeded(rows, window)?.id
    const { calibration } = measure
    const calibrated = calibration === 1 ? [] : [calibration]
    const named = [lane, next.base, windowFrom, { ...cuts } as never, head.hash, ...calibrated]
    return defined({
      type: 'epoch' as const,
      id: `${EPOCH_ID}${hashJson(named, this.secret.key)}`,
      lane,
      cause,
      windowFrom,
      readFrom: needed === windowFrom ? undefined : needed,
      seen: rows.at(-1)?.id ?? null,
      count: rows.at(-1)?.ordinal ?? 0,
      cuts,
      calibration: calibrated[0],
      summary: covering?.mark.id,
      withheld,
      remembers: head.parts && (true as const),
      head: head.hash,
      prefixHash: this.prefix.hash(head.hash, window.blocks, []),
      v: RENDER_VERSION,
    })
  }

  /** Writes an epoch with its head. Returns false when another one was first. */
  async #save(head: Head, mark: EpochMark): Promise<boolean> {
    const { epoch, next } = this.view
    const key = headKey(head.hash)
    const value = headValue(head)
    const texts = { kind: 'put', opId: key, key, base: null, value, sources: sourcesOf(head) } as const
    const begun = { kind: 'mark', opId: `entry:${mark.id}`, base: next.base, entry: mark } as const
    // The epoch before it had brought the same.
    const ops = epoch?.mark.head === head.hash ? [begun] : [texts, begun]
    const sealed = ops.map((op) => sealOp(op))
    const results = await this.secret.commit(this.store, sealed, begun.opId)
    const result = results.at(-1)
    return result?.status === 'accepted' && result.applied
  }

  async #finish(made: Omit<Made, 'slice'>): Promise<Built> {
    const { context, hash } = await contextOf(this, { ...made, slice: this.view })
    keptOf.set(context.blocks, this.#kept)
    const { seq, ordinal, rebased } = this.view.head
    this.#laws?.check(context, ordinal, rebased)
    const told = made.call.tail.flatMap(({ text, version }) => (text ? [version] : []))
    const handedOut = told.length > 0 ? [{ hash, seq }] : []
    // That there was no tail is said, too. What anything else was made of, nobody can say later.
    if (told.every(Boolean)) handedOut.push({ hash: this.secret.hash(hash + told), seq })
    return { context, window: made.window, handedOut }
  }
}

/** What the app gives for the tail. */
function ownTail({ tail = [] }: ContextOptions): Call['tail'] {
  const given = typeof tail === 'string' ? [{ name: 'context', text: tail }] : tail
  return given.map((section) => ({ trust: 'user' as const, ...section }))
}
