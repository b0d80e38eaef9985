import type { Counter } from '../../ports/counter.ts'
import { isPlimsollError, isUnreachable } from '../../ports/errors.ts'
import { Race, type RaceSettings } from '../../replay/race.ts'
import type { Comparison } from './compare.ts'
import {
  conversationInspection,
  type Detail,
  type InspectedCall,
  type Inspection,
  requestsInspection,
  sourceInspection,
} from './inspection.ts'
import { type Log, openLog } from './log.ts'
import { type OpenedFile, textOf } from './opened-file.ts'
import { slices, type Turns } from './slices.ts'
import type { InspectorSource } from './source.ts'

export interface DeskSettings {
  /** The line for logs, in tokens. */
  readonly budget: number
  readonly counter: Counter
}

export interface DeskOptions {
  readonly turns: Turns
  /** Contract: called when anything below changed, at most ten times a second during long work. */
  readonly onChange: () => void
}

/** What is under way. */
export type Work =
  | { readonly type: 'reading'; readonly name: string; readonly share: number }
  | { readonly type: 'racing'; readonly done: number; readonly of: number }

/** Milliseconds between two reports of long work. */
const REPORT_MS = 100

/**
 * What lies on the inspector's desk: a log or a session, one conversation of it, one call, and one
 * that it is compared with.
 */
export class Desk {
  log: Log | undefined
  source: InspectorSource | undefined
  race: Race | undefined
  inspection: Inspection | undefined
  work: Work | undefined
  /** Place of the conversation in the log. */
  conversation = 0
  call = 0
  detail: Detail | undefined
  /** Whether `detail` is still being built. */
  isBuilding = false
  /** The call that this one is compared with; by default the one before. */
  other: number | undefined
  comparison: Comparison | undefined
  /** Whether long work was stopped. */
  isCancelled = false
  failure: string | undefined
  /** Whether the page has words for it: a service gave no answer, there is no such session. */
  failureKind: 'cutOff' | 'gone' | undefined
  readonly #turns: Turns
  readonly #onChange: () => void
  #run = new AbortController()
  #looking = 0
  #unsubscribe: (() => void) | undefined

  constructor({ turns, onChange }: DeskOptions) {
    this.#turns = turns
    this.#onChange = onChange
  }

  /**
   * Reads a file, lets its conversations race and shows the first of them. Resolves when that is
   * done, or was ended by something newer.
   *
   * @param at the call that shows then: the `first`, or the first at which the line cuts, `cut`
   */
  async open(file: OpenedFile, settings: DeskSettings, at: 'first' | 'cut' = 'first'): Promise<void> {
    await this.#work(async (signal) => {
      let bytes = 0
      const pause = this.#pause(signal)
      const chunks = textOf(file, async (more) => {
        bytes += more
        this.work = { type: 'reading', name: file.name, share: file.size === 0 ? 1 : bytes / file.size }
        await pause()
      })
      this.work = { type: 'reading', name: file.name, share: 0 }
      const log = await openLog(file.name, chunks, pause)
      signal.throwIfAborted()
      this.log = log
      await this.#play(settings, signal)
      const cut = this.inspection?.calls.findIndex(isCut) ?? -1
      if (at === 'cut' && cut > 0) await this.#select(cut)
    })
  }

  /** Lets the log race again, with other settings. */
  async replay(settings: DeskSettings): Promise<void> {
    const { log, conversation, call } = this
    if (!log) return
    await this.#work(async (signal) => {
      this.log = log
      this.conversation = conversation
      this.call = call
      await this.#play(settings, signal)
    })
  }

  /** Shows a session, and again whatever is written to it. */
  async watch(source: InspectorSource, settings: DeskSettings): Promise<void> {
    await this.#work(async (signal) => {
      this.source = source
      const look = async (): Promise<void> => {
        const inspection = await sourceInspection(source, settings.counter, this.#pause(signal))
        if (signal.aborted) return
        // As it is now: another call may have been chosen meanwhile.
        const atEnd = !this.inspection || this.call >= this.inspection.calls.length - 1
        this.failure = undefined
        this.inspection = inspection
        const last = this.inspection.calls.length - 1
        await this.#select(atEnd ? last : this.call)
      }
      // One look at a time; what is written meanwhile asks for one more.
      let isLooking = false
      let isChanged = false
      const changed = async (): Promise<void> => {
        isChanged = true
        if (isLooking) return
        isLooking = true
        while (isChanged && !signal.aborted) {
          isChanged = false
          await look().catch((error: unknown) => {
            this.#fail(error, signal)
            // What was shown before was deleted, and nothing will be written to it.
            if (!signal.aborted && this.failureKind === 'gone' && this.inspection) this.#end()
          })
        }
        isLooking = false
      }
      this.#unsubscribe = source.subscribe?.(() => void changed())
      await changed()
    })
  }

  /** Shows another conversation of the log. */
  async choose(conversation: number, settings: DeskSettings): Promise<void> {
    this.conversation = conversation
    this.call = 0
    this.other = undefined
    this.#inspect(settings)
    await this.select(0)
  }

  /** Shows another call. */
  async select(call: number): Promise<void> {
    await this.#select(call)
  }

  /** Compares the call with another one than the one before it. */
  async compareWith(other: number | undefined): Promise<void> {
    this.other = other
    await this.#select(this.call)
  }

  /** Stops what is under way; what is there stays. */
  cancel(): void {
    if (!this.work) return
    this.isCancelled = true
    this.#run.abort()
    this.work = undefined
    this.#onChange()
  }

  /** Puts everything away. */
  clear(): void {
    this.#begin()
    this.#onChange()
  }

  #begin(): AbortSignal {
    this.#run.abort()
    this.#run = new AbortController()
    this.#end()
    this.log = undefined
    this.source = undefined
    this.race = undefined
    this.work = undefined
    this.failure = undefined
    this.isCancelled = false
    this.conversation = 0
    this.call = 0
    this.other = undefined
    return this.#run.signal
  }

  /** Follows nothing any more, and shows nothing of it. */
  #end(): void {
    this.#unsubscribe?.()
    this.#unsubscribe = undefined
    this.inspection = undefined
    this.detail = undefined
    this.comparison = undefined
  }

  async #work(run: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const signal = this.#begin()
    this.#onChange()
    try {
      await run(signal)
    } catch (error) {
      this.#fail(error, signal)
    }
    if (signal.aborted) return
    this.work = undefined
    this.#onChange()
  }

  #fail(error: unknown, signal: AbortSignal): void {
    if (signal.aborted) return
    this.failure = error instanceof Error ? error.message : String(error)
    const isGone = isPlimsollError(error, 'ERR_NOT_FOUND')
    this.failureKind = isUnreachable(error) ? 'cutOff' : isGone ? 'gone' : undefined
    this.#onChange()
  }

  async #play(settings: DeskSettings, signal: AbortSignal): Promise<void> {
    const { log } = this
    if (!log) return
    if (log.requests.length > 0) {
      this.inspection = await requestsInspection(log.requests, settings.counter, this.#pause(signal))
      await this.#select(this.call)
      return
    }
    const race = new Race()
    this.race = race
    const of = log.conversations.length
    const pause = this.#pause(signal, () => {
      this.work = { type: 'racing', done: race.done, of }
      if (!this.inspection) this.#inspect(settings)
      // The first call shows as soon as it is there.
      if (!this.detail && !this.isBuilding && (this.inspection?.calls.length ?? 0) > this.call)
        void this.#select(this.call)
    })
    await race.run(log.conversations, { ...settings, pause })
    if (!this.inspection) this.#inspect(settings)
    if (!this.detail) await this.#select(this.call)
  }

  #inspect(settings: DeskSettings): void {
    const chosen = this.log?.conversations[this.conversation]
    const calls = this.race?.calls[this.conversation]
    const raceSettings: RaceSettings = { ...settings, pause: this.#pause(new AbortController().signal) }
    this.inspection = chosen && calls && conversationInspection(chosen, calls, raceSettings)
    this.detail = undefined
    this.comparison = undefined
  }

  async #select(call: number): Promise<void> {
    const { inspection } = this
    const last = (inspection?.calls.length ?? 0) - 1
    this.call = Math.max(0, Math.min(call, last))
    const looking = ++this.#looking
    if (!inspection || last < 0) {
      this.#onChange()
      return
    }
    // Nothing old stays under the new number. What is at hand shows before anything is painted.
    this.isBuilding = true
    this.detail = undefined
    this.comparison = undefined
    const found = this.#look(inspection, this.call, last)
    await Promise.race([found, this.#turns.next()])
    if (looking === this.#looking && this.isBuilding) this.#onChange()
    await found
    this.#onChange()
  }

  async #look(inspection: Inspection, call: number, last: number): Promise<void> {
    const looking = this.#looking
    const before = this.other ?? call - 1
    try {
      const detail = await inspection.detail(call)
      const compared = before >= 0 && before !== call && before <= last
      const comparison = compared ? await inspection.compare(before, call) : undefined
      if (looking !== this.#looking) return
      this.detail = detail
      this.comparison = comparison
      this.isBuilding = false
    } catch (error) {
      if (looking !== this.#looking) return
      this.isBuilding = false
      this.#fail(error, this.#run.signal)
    }
  }

  /** Gives others their turn, and says ten times a second how far it is. */
  #pause(signal: AbortSignal, report: () => void = () => {}): () => Promise<void> {
    const wait = slices(this.#turns, signal)
    let reported = this.#turns.now()
    return async () => {
      if (this.#turns.now() - reported >= REPORT_MS) {
        // Drawing gets a turn of its own.
        await this.#turns.next()
        signal.throwIfAborted()
        report()
        this.#onChange()
        await this.#turns.next()
        reported = this.#turns.now()
      }
      await wait()
    }
  }
}

/** Whether the window was cut back for this call. */
function isCut({ outcomes: { plimsoll } }: InspectedCall): boolean {
  return plimsoll !== undefined && 'cause' in plimsoll && plimsoll.cause === 'window'
}
