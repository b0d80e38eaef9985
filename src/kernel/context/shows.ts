import type { Counter } from '../../ports/counter.ts'
import { hashText } from '../../text/hash.ts'
import { invalid } from '../../text/json.ts'
import type { HeadPart, ReadAsk, Rung, Section, ShowPart, TailAsk, TailPart } from '../feature.ts'
import { lowerTrust } from '../log/message.ts'
import { SECTION_NAME } from './context-options.ts'
import { type Failure, failure } from './failure.ts'
import type { HeadParts } from './head.ts'
import { type Keeper, keeper } from './keeper.ts'
import type { Secret } from './secret.ts'

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

/** Results kept for each feature: of the epoch that holds, and of the next at each rung. */
const KEPT = 4

export const NO_TAIL: TailPart = { sections: [] }

/** What the features of one lane show; kept, since mostly nothing changes between calls. */
export class Shows {
  readonly #shows: readonly NamedShow[]
  readonly #secret: Secret
  readonly #counterAt: (calibration: number) => Counter
  readonly #holds: Keeper<boolean>
  readonly #heads: Keeper<HeadPart | undefined>
  readonly #since: Keeper<TailPart | undefined>
  readonly #parts = keeper<HeadParts>(KEPT)

  constructor(shows: readonly NamedShow[], secret: Secret, counterAt: (calibration: number) => Counter) {
    this.#shows = shows
    this.#secret = secret
    this.#counterAt = counterAt
    const count = KEPT * shows.length
    this.#holds = keeper(count)
    this.#heads = keeper(count)
    this.#since = keeper(count)
  }

  /** Reads what features know, beside what an epoch froze. What cannot be read is noted once. */
  read(frozen: HeadParts, ask: ReadAsk, failed: Failure[]): Promise<readonly Shown[]> {
    return Promise.all(
      this.#shows.map(async ({ name, show }) => {
        const note = (error: unknown): undefined => {
          if (!failed.some(({ part }) => part === name)) failed.push(failure(name, error))
        }
        const read = await stateOf(show, ask).catch(note)
        return { name, show, frozen: frozen[name], note, read }
      }),
    )
  }

  /**
   * What features show in the head of an epoch that begins at a rung; without a rung, in that of
   * the epoch that holds: what it froze, where that still holds. The same object while its parts
   * are.
   */
  parts(shown: readonly Shown[], calibration: number, rung?: Rung): HeadParts {
    const { count } = this.#counterAt(calibration)
    const { key } = this.#secret
    const hash = (text: string): string => hashText(text, key)
    const all = shown.map((one) => {
      const { name, show, frozen, read } = one
      const state = read?.state
      const head = (): HeadPart | undefined => {
        const made = checked(name, show.head?.(state, { count, rung: rung ?? 0, hash }))
        // As it will be read back from the store.
        return made && (JSON.parse(JSON.stringify(made)) as HeadPart)
      }
      const holds = (): boolean => show.holds?.(frozen, state, hash) ?? true
      return orElse(one, frozen, () =>
        rung === undefined && this.#holds([name, frozen, state, key], holds)
          ? frozen
          : this.#heads([name, state, calibration, rung ?? 0, key], head),
      )
    })
    return this.#parts(all, () => {
      const named = shown.map(({ name }, index) => [name, all[index]] as const)
      return Object.fromEntries(named.filter(([, part]) => part)) as HeadParts
    })
  }

  /** What came since the epoch began. */
  since(shown: readonly Shown[], parts: HeadParts, calibration: number): TailPart {
    const { count } = this.#counterAt(calibration)
    return joined(
      shown.map((one) => {
        const { name, show, read } = one
        const by = [name, parts[name], read?.state, calibration]
        const since = () => checked(name, show.since?.(parts[name], read?.state, count))
        return orElse(one, undefined, () => this.#since(by, since))
      }),
    )
  }

  /** What shows in the tail of this call alone. The call goes on without a feature that fails. */
  async tail(given: object, ask: Omit<TailAsk, 'given'>, failed: Failure[]): Promise<TailPart> {
    const options = given as { readonly [feature: string]: never }
    const made = this.#shows.map(async ({ name, show }) => {
      try {
        const part = checked(name, await show.tail?.({ ...ask, given: options[name] }))
        if (part?.failures) failed.push(...part.failures)
        return part
      } catch (error) {
        failed.push(failure(name, error))
        return undefined
      }
    })
    return joined(await Promise.all(made))
  }
}

async function stateOf({ read }: ShowPart, ask: ReadAsk): Promise<{ readonly state: unknown }> {
  return { state: await read?.(ask) }
}

/** What a feature makes of what it read, or another value where it fails, or could not read. */
function orElse<Value>({ read, note }: Shown, otherwise: Value, make: () => Value): Value {
  try {
    return read ? make() : otherwise
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

/**
 * A tail for which there is no room: nothing of it shows, and the receipt says how much that is.
 */
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
  return {
    sections: made.flatMap(({ sections }) => sections).sort((one, other) => one.at - other.at),
    ids: made.flatMap(({ ids = [] }) => ids),
  }
}
