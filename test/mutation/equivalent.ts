/** Mutants that change nothing that a caller could see, with the reason. They are not counted. */
export interface Equivalent {
  readonly file: string
  /** The whole line in which the mutant stands. */
  readonly code: string
  readonly original: string
  readonly replacement: string
  readonly why: string
}

export const equivalents: readonly Equivalent[] = []
