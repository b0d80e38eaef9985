/**
 * As much of the store port as the driver needs to stand between a memory and its store, and to
 * look into it.
 */

export interface ScopeJson {
  readonly tenant?: string
  readonly userId: string
  readonly sessionId?: string
}

export interface OpLike {
  readonly envelope: { readonly kind: string; readonly mark?: string }
}

export interface LogRowLike {
  readonly seq: number
  readonly place: number
  readonly kind: string
  readonly id: string
  readonly opId: string
  readonly body: string | null
}

export interface RegisterLike {
  readonly key: string
  readonly seq: number
  readonly body: string | null
  readonly index?: readonly { readonly group: string; readonly order?: string }[]
}

export interface PageLike {
  readonly rows: readonly LogRowLike[]
  readonly more: boolean
}

export interface DerivedLike {
  readonly key: string
  readonly bytes: Uint8Array
}

export interface ScopeStoreLike {
  commit(ops: readonly OpLike[], decide: unknown): Promise<readonly unknown[]>
  entries(query?: object): Promise<PageLike>
  head(): Promise<object>
  register(key: string): Promise<RegisterLike | undefined>
  registers(prefix: string, after?: string): Promise<readonly RegisterLike[]>
  indexed(group: string, query?: object): Promise<readonly RegisterLike[]>
  sums(groups: readonly string[]): Promise<ReadonlyMap<string, unknown>>
  changesSince(seq: number): Promise<PageLike & { readonly head: object }>
  attach(attachment: object, at: number): Promise<string>
  attachment(id: string): Promise<unknown>
  /** Absent: of an older build. */
  attached?(ids: readonly string[]): Promise<readonly string[]>
  derive(row: object, seq: number): Promise<boolean>
  derived(prefix: string, after?: string): Promise<readonly DerivedLike[]>
  close(): Promise<void>
  snapshot?<Result>(work: (reads: unknown) => Promise<Result>): Promise<Result>
  watch?(listener: () => void): () => void
}

export interface StoreLike {
  open(scope: ScopeJson): ScopeStoreLike
  oldestUnused(): Promise<number | undefined>
  removeUnused(until: number): Promise<number>
  scopes(after?: ScopeJson): Promise<readonly ScopeJson[]>
}

/** The stores of a build. */
export interface StoresLike {
  mapStore(): StoreLike
  dexieStore(options: object): StoreLike & { close(): Promise<void> }
  durableObjectStore(storage: object): StoreLike
  encryptedStore(store: StoreLike, keys: object): StoreLike
  secretKeys(secret: string): object
}
