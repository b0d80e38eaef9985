/** A checkpoint as it was read. */
export interface Checkpointed<State> {
  readonly value: State
  /** For `ifVersion`. `null`: nothing is kept, and the value is the default. */
  readonly version: string | null
}
