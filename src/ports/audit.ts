export type AuditAction = 'promote' | 'forget' | 'erase' | 'export' | 'import' | 'rotate-key'

/** That something was done, without any text of what it was done to. */
export interface AuditRecord {
  readonly id: string
  /** Unix milliseconds, by the clock of the caller. */
  readonly at: number
  readonly action: AuditAction
  /** Id of what it was done to. */
  readonly target?: string
  /** How much of each kind, for example `{ messages: 1, facts: 2 }`. */
  readonly counts?: Readonly<Record<string, number>>
  /** What did it, where that was no call of the app, for example `retention`. */
  readonly by?: string
}

export interface AuditQuery {
  /** Records that are older than the one of this id. */
  readonly after?: string
  /** Most records: 1 to 512. Default 512. */
  readonly first?: number
}
