import type { Counter } from '../../ports/counter.ts'
import { type Failure, failure } from './failure.ts'
import type { HeadPart, ReadAsk, Rung, ShowPart, TailPart } from '../feature.ts'
import type { HeadParts } from './head.ts'

export interface NamedShow {
  readonly name: string
  readonly show: ShowPart
}

/** What a feature has to show now. */
export interface Shown {
  readonly name: string
  readonly show: ShowPart
  readonly frozen: HeadPart | undefined
  /** Undefined where it could not be read: then what was frozen shows on. */
  readonly read: { readonly state: unknown } | undefined
}

/** Results that are kept for each feature: of the epoch that holds and the one that may begin, at each rung. */
const KEPT = 4

/** What the features of one lane show. What they made of the same state is kept: mostly nothing of it changes between two calls. */
export class Shows {
  readonly #shows: readonly NamedShow[]
  readonly #counterAt: (calibration: number) => Counter
  readonly #holds = new Kept<boolean>()
  readonly #heads = new Kept<HeadPart | undefined>()
  readonly #since = new Kept<TailPart | undefined>()

  constructor(shows: readonly NamedShow[], counterAt: (calibration: number) => Counter) {
    this.#shows = shows
    this.#counterAt = counterAt
  }

  /** Reads what all features know, beside what an epoch froze of them. What cannot be read is noted once. */
  read(frozen: HeadParts, ask: ReadAsk, failed: Failure[]): Promise<readonly Shown[]> {
    return Promise.all(
      this.#shows.map(async ({ name, show }) => {
        const common = { name, show, frozen: frozen[name] }
        try {
          return { ...common, read: { state: await show.read?.(ask) } }
        } catch (error) {
          if (!failed.some(({ part }) => part === name)) failed.push(failure(name, error))
          return { ...common, read: undefined }
        }
      }),
    )
  }

  /** What the head of the epoch that holds would have to be: what it froze, wherever that still holds. */
  held(shown: readonly Shown[], calibration: number): HeadParts {
    return partsOf(shown, (one) => (this.#isHeld(one) ? one.frozen : this.#head(one, calibration, 0)))
  }

  /** What the head of an epoch shows that begins now. */
  parts(shown: readonly Shown[], calibration: number, rung: Rung): HeadParts {
    return partsOf(shown, (one) => (one.read ? this.#head(one, calibration, rung) : one.frozen))
  }

  /** What came since the epoch began. */
  since(shown: readonly Shown[], parts: HeadParts, calibration: number): TailPart {
    return joined(
      shown.map(({ name, show, read }) => {
        const part = parts[name]
        return (
          read &&
          this.#since.get(name, [part, read.state, calibration], () =>
            show.since?.(part, read.state, this.#counterAt(calibration).count),
          )
        )
      }),
    )
  }

  #isHeld({ name, show, frozen, read }: Shown): boolean {
    const { state } = read ?? {}
    return !read || this.#holds.get(name, [frozen, state], () => show.holds?.(frozen, state) ?? true)
  }

  #head({ name, show, read }: Shown, calibration: number, rung: Rung): HeadPart | undefined {
    return this.#heads.get(name, [read?.state, calibration, rung], () =>
      show.head?.(read?.state, { count: this.#counterAt(calibration).count, rung }),
    )
  }
}

/** Parts of a tail as one, in the order of their sections. */
export function joined(parts: readonly (TailPart | undefined)[]): TailPart {
  const made = parts.flatMap((part) => part ?? [])
  return {
    sections: made.flatMap(({ sections }) => sections).sort((one, other) => one.at - other.at),
    uses: made.flatMap(({ uses }) => uses),
    ids: made.flatMap(({ ids = [] }) => ids),
  }
}

function partsOf(shown: readonly Shown[], of: (one: Shown) => HeadPart | undefined): HeadParts {
  return Object.fromEntries(
    shown.flatMap((one) => {
      const part = of(one)
      return part ? [[one.name, part]] : []
    }),
  )
}

/** The last few results for each name, by the very same arguments. */
class Kept<Result> {
  readonly #byName = new Map<
    string,
    readonly { readonly by: readonly unknown[]; readonly result: Result }[]
  >()

  get(name: string, by: readonly unknown[], make: () => Result): Result {
    const kept = this.#byName.get(name) ?? []
    const found = kept.find((one) => one.by.every((value, index) => value === by[index]))
    if (found) return found.result
    const result = make()
    this.#byName.set(name, [{ by, result }, ...kept].slice(0, KEPT))
    return result
  }
}
