import { TRIES } from '../../kernel/log/once.ts'
import { isPlimsollError } from '../../ports/errors.ts'

/** On what a write depends (RFC 9110, section 13.1): versions, or `*` for any that is there. */
export interface Condition {
  /** One of them is there. */
  readonly match?: readonly string[] | '*'
  /** None of them is there. */
  readonly noneMatch?: readonly string[] | '*'
}

export interface Conditional {
  readonly condition?: Condition
}

/** What is written under a condition. */
export interface Bound<Result> {
  readonly condition: Condition | undefined
  /** Contract: gives the version that is there; `null`: there is none. */
  readonly read: () => Promise<string | null>
  /**
   * Contract: writes over that version alone, and throws ERR_CONFLICT where another is there; knows
   * an op that was written before, whatever the version.
   */
  readonly write: (bound: { readonly ifVersion?: string | null }) => Promise<Result>
}

/** A version that nothing has. */
const NOWHERE = ''

/** Writes where a condition holds. @throws ERR_CONFLICT (`version`): it does not */
export async function whereTrue<Result>({ condition = {}, read, write }: Bound<Result>): Promise<Result> {
  const { match, noneMatch } = condition
  if (match === undefined && noneMatch === undefined) return write({})
  for (let attempt = 1; ; attempt++) {
    const version = await read()
    const isTrue = holds(match, version, true) && holds(noneMatch, version, false)
    try {
      // Where it is not, the op may have been written already, and its answer be lost.
      return await write({ ifVersion: isTrue ? version : NOWHERE })
    } catch (error) {
      // Others wrote in between: what they wrote may fulfil the condition too.
      if (!isTrue || !isPlimsollError(error, 'ERR_CONFLICT') || attempt === TRIES) throw error
    }
  }
}

function holds(versions: Condition['match'], version: string | null, isThere: boolean): boolean {
  if (versions === undefined) return true
  return (version !== null && (versions === '*' || versions.includes(version))) === isThere
}
