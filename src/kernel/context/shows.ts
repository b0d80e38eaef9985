import type { Counter } from '../../ports/counter.ts'
import type { HeadPart, ReadAsk, Rung, Section, ShowPart, TailAsk, TailPart } from '../feature.ts'
import { lowerTrust } from '../log/message.ts'
import { invalid } from '../text/json.ts'
import { SECTION_NAME } from './context-options.ts'
import { type Failure, failure } from './failure.ts'
import type { HeadParts } from './head.ts'
import { type Keeper, keeper } from './keeper.ts'

export interface NamedShow {
  readonly name: string
  readonly show: ShowPart
}

/** What a feature has to show now. */
export interface Shown extends NamedShow {
  readonly frozen: HeadPart | undefined
  /** Undefined where it could not be read: then what was frozen shows on. */
  readonly read: { readonly state: unknown } | undefined
  /** Notes a failure, once for the whole call. */
  readonly note: (error: unknown) => void
}

/** Results that are kept for each feature: of the epoch that holds and the one that may begin, at each rung. */
const KEPT = 4

const NO_TAIL: TailPart = { sections: [] }

/** What the features of one lane show. What they made of the same state is kept: mostly nothing changes between two calls. */
export class Shows {
  readonly #shows: readonly NamedShow[]
  readonly #counterAt: (calibration: number) => Counter
  readonly #holds: Keeper<boolean>
  readonly #heads: Keeper<HeadPart | undefined>
  readonly #since: Keeper<TailPart | undefined>
  readonly #parts = keeper<HeadParts>(KEPT)

  constructor(shows: readonly NamedShow[], counterAt: (calibration: number) => Counter) {
    this.#shows = shows
    this.#counterAt = counterAt
    const count = KEPT * shows.length
    this.#holds = keeper(count)
    this.#heads = keeper(count)
    this.#since = keeper(count)
  }

  /** Reads what all features know, beside what an epoch froze of them. What cannot be read is noted once. */
  read(frozen: HeadParts, ask: ReadAsk, failed: Failure[]): Promise<readonly Shown[]> {
    return Promise.all(
      this.#shows.map(async ({ name, show }) => {
        const note = (error: unknown): void => {
          if (!failed.some(({ part }) => part === name)) failed.push(failure(name, error))
        }
        const common = { name, show, frozen: frozen[name], note }
        try {
          return { ...common, read: { state: await show.read?.(ask) } }
        } catch (error) {
          note(error)
          return { ...common, read: undefined }
        }
      }),
    )
  }

  /** What the head of the epoch that holds would have to be: what it froze, wherever that still holds. */
  held(shown: readonly Shown[], calibration: number): HeadParts {
    return this.#partsOf(shown, (one) => {
      const { name, show, frozen, read } = one
      const holds = () => show.holds?.(frozen, read?.state) ?? true
      const isHeld = () => !read || this.#holds([name, frozen, read.state], holds)
      return orElse(one, frozen, () => (isHeld() ? frozen : this.#head(one, calibration, 0)))
    })
  }

  /** What the head of an epoch shows that begins now. */
  parts(shown: readonly Shown[], calibration: number, rung: Rung): HeadParts {
    return this.#partsOf(shown, (one) =>
      one.read ? orElse(one, one.frozen, () => this.#head(one, calibration, rung)) : one.frozen,
    )
  }

  /** What came since the epoch began. */
  since(shown: readonly Shown[], parts: HeadParts, calibration: number): TailPart {
    const { count } = this.#counterAt(calibration)
    return joined(
      shown.map((one) => {
        const { name, show, read } = one
        const since = () => checked(name, show.since?.(parts[name], read?.state, count))
        const by = [name, parts[name], read?.state, calibration]
        return read && orElse(one, undefined, () => this.#since(by, since))
      }),
    )
  }

  /** What shows in the tail of this call alone. A feature that fails is noted, and the call goes on without it. */
  async tail(given: object, ask: Omit<TailAsk, 'given'>, failed: Failure[]): Promise<TailPart> {
    const options = given as { readonly [feature: string]: never }
    const made = this.#shows.map(async ({ name, show }) => {
      if (!show.tail) return undefined
      try {
        return checked(name, await show.tail({ ...ask, given: options[name] }))
      } catch (error) {
        failed.push(failure(name, error))
        return undefined
      }
    })
    return joined(await Promise.all(made))
  }

  /** The same object while its parts are the same. */
  #partsOf(shown: readonly Shown[], of: (one: Shown) => HeadPart | undefined): HeadParts {
    const all = shown.map(of)
    return this.#parts(all, () => {
      const parts = shown.map(({ name }, index) => [name, all[index]] as const)
      return Object.fromEntries(parts.filter(([, part]) => part !== undefined)) as HeadParts
    })
  }

  #head({ name, show, read }: Shown, calibration: number, rung: Rung): HeadPart | undefined {
    const { count } = this.#counterAt(calibration)
    const head = () => {
      const made = checked(name, show.head?.(read?.state, { count, rung }))
      // As it will be read back from the store.
      return made && (JSON.parse(JSON.stringify(made)) as HeadPart)
    }
    return this.#heads([name, read?.state, calibration, rung], head)
  }
}

/** What a feature makes, or another value where it fails. */
function orElse<Value>({ note }: Shown, otherwise: Value, make: () => Value): Value {
  try {
    return make()
  } catch (error) {
    note(error)
    return otherwise
  }
}

/** @throws ERR_INVALID_ARGUMENT: it has no sections, or one that must not show */
function checked<Part extends TailPart>(name: string, part: Part | undefined): Part | undefined {
  if (part === undefined) return part
  const fault = (reason: string) => invalid(`feature ${name}`, 'what it shows', reason)
  if (!Array.isArray(part.sections)) throw fault('must have a list of sections')
  for (const section of part.sections as readonly Section[]) {
    if (!SECTION_NAME.test(section.name)) throw fault(`has a section named ${section.name}`)
    // Instructions are the app's and the user's own.
    if (section.in === 'system' && lowerTrust(section.trust, 'user') !== 'user')
      throw fault(`has a section of the system text with trust ${section.trust}`)
  }
  return part
}

/** A tail for which there is no room: nothing of it shows, and the receipt says how much that is. */
export function withheld({ sections }: TailPart, count: (text: string) => number): TailPart {
  const said = sections.filter(({ text, use }) => text !== '' || use)
  const left = said.map((section): Section => {
    const { name, text } = section
    const whole = () => ({
      name,
      tokens: count(text),
      items: 1,
      overflow: { count: 0, tokens: 0, first: [name] },
    })
    const { tokens, items, overflow, ...use } = section.use ?? whole()
    const all = { ...overflow, count: items + overflow.count, tokens: tokens + overflow.tokens }
    return { ...section, text: '', use: { ...use, tokens: 0, items: 0, overflow: all } }
  })
  return { sections: left }
}

/** Parts of a tail as one, in the order of their sections. */
function joined(parts: readonly (TailPart | undefined)[]): TailPart {
  const made = parts.flatMap((part) => part ?? [])
  if (made.length === 0) return NO_TAIL
  return {
    sections: made.flatMap(({ sections }) => sections).sort((one, other) => one.at - other.at),
    ids: made.flatMap(({ ids = [] }) => ids),
  }
}
