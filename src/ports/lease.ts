/**
 * Who answers a message: a mark in the log of kind `lease`. No context shows one, and no count of
 * messages has it.
 */
export interface LeaseMark {
  readonly id: string
  /** Id of the user's message that is answered. */
  readonly of: string
  /** Who answers, for people to read: nothing depends on it. */
  readonly holder: string
  /** Id of the first mark of this holding; those that renew it have the same. */
  readonly term: string
  /**
   * When it was written, and until when it holds: Unix milliseconds by the home's clock. 0: it was
   * given back.
   */
  readonly at: number
  readonly until: number
  /** The run has ended without an answer, and nobody who waits is to go on with it. */
  readonly over?: true
}

/** What is known of the home's time: it is between these, in Unix milliseconds. */
export interface HomeClock {
  earliest(): number
  latest(): number
}

/** The kind of such marks. */
export const LEASE = 'lease'
