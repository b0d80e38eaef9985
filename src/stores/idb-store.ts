import { PlimsollError } from '../ports/errors.ts'
import type { OpResult, Scope, SealedOp } from '../ports/op.ts'
import { scopeName, scopeNamed } from '../ports/scope-name.ts'
import {
  type Attachment,
  type Changes,
  type Decide,
  type DerivedRow,
  type EntriesQuery,
  type Head,
  type IndexQuery,
  type OutboxRow,
  PAGE_ROWS,
  type Page,
  type Reads,
  type RegisterRow,
  type ScopeStore,
  type Sum,
  UNUSED_AT_ONCE,
} from '../ports/store.ts'
import {
  broadcastChannel,
  freshId,
  isServer,
  type KeyValue,
  later,
  localKeyValue,
  noise,
  type PageEvents,
  pageEvents,
} from './browser.ts'
import type { DexieStore, DexieStoreOptions } from './dexie.ts'
import { Connection, type ConnectionOptions } from './idb-connection.ts'
import { mayPass, noBrowser, storageError, upgradeRequired } from './idb-errors.ts'
import type { OpenDatabase } from './idb-open.ts'
import {
  DERIVED_VERSION,
  META,
  type MetaRow,
  RESERVE,
  RESERVE_BYTES,
  type UnusedRow,
  WRITER_VERSION,
} from './idb-schema.ts'
import {
  CallerError,
  checkWriter,
  DexieScope,
  removeAttachment,
  type ScopeCall,
  type ScopeGiven,
  type ScopeResult,
} from './idb-scope.ts'
import { all, type Requests } from './idb-transaction.ts'
import type { MemoryMode, MemoryModeScope } from './memory-mode.ts'
import { READY, type StoreStatus } from './store-status.ts'
import { TabChannel } from './tab-channel.ts'

/** After a first write, in milliseconds, when no answer waits for it any more. */
const PREPARE_MS = 3_000

/** Opens the database, keeps watch over it, and goes down the ladder when it fails. */
export class RecoveringStore implements DexieStore {
  readonly tabs: TabChannel
  readonly #options: ConnectionOptions
  readonly #openDatabase: OpenDatabase
  readonly #mirror: KeyValue | undefined
  readonly #page: PageEvents | undefined
  readonly #mirrorKey: string
  readonly #listeners = new Set<(status: StoreStatus) => void>()
  #status = READY
  #connection: Connection | undefined
  #opening: Promise<Connection> | undefined
  /** Id of the database that this store has been using. */
  #id: string | undefined
  #accepting = false
  /** Calls it off. */
  #preparing: (() => void) | undefined
  #memory: MemoryMode | undefined
  /**
   * What is known of each scope, for all that have it open: what one has read, another must not
   * call absent when the database fails.
   */
  readonly #scopes = new Map<string, WeakRef<DexieScope>>()

  constructor(options: DexieStoreOptions & Pick<ConnectionOptions, 'durability'>, open: OpenDatabase) {
    this.#openDatabase = open
    const { name, durability, mirror = localKeyValue(), page = pageEvents() } = options
    const { channel = broadcastChannel, indexedDB, IDBKeyRange } = options
    this.#options = {
      name,
      durability,
      ...(indexedDB && { indexedDB }),
      ...(IDBKeyRange && { IDBKeyRange }),
    }
    this.#mirror = mirror ?? undefined
    this.#mirrorKey = `plimsoll/${name}`
    this.#page = page ?? undefined
    this.tabs = new TabChannel(() => channel?.(this.#mirrorKey))
    this.#page?.addEventListener('pagehide', this.#hide)
    this.#page?.addEventListener('pageshow', this.#show)
  }

  open(scope: Scope): ScopeStore {
    const name = scopeName(scope)
    const known = this.#scopes.get(name)?.deref() ?? new DexieScope(name)
    this.#scopes.set(name, new WeakRef(known))
    return new RecoveringScope(this, name, known)
  }

  async oldestUnused(): Promise<number | undefined> {
    const done = await this.run('oldestUnused', (connection) =>
      connection.read(['unused'], async (requests) => {
        const [rows = []] = await all<UnusedRow[]>([oldestUnused(requests).getAll(null, 1)])
        return rows[0]?.at
      }),
    )
    return 'result' in done ? done.result : done.memory.store.oldestUnused()
  }

  async removeUnused(until: number): Promise<number> {
    const done = await this.run(
      'removeUnused',
      (connection) =>
        connection.write(async (requests) => {
          const [meta] = await requests.get<MetaRow>(requests.table('meta'), [META])
          checkWriter(meta)
          const [rows = []] = await all<UnusedRow[]>([oldestUnused(requests).getAll(null, UNUSED_AT_ONCE)])
          const old = rows.filter(({ at }) => at <= until)
          for (const { scope, id } of old) removeAttachment(requests, [scope, id])
          return old.length
        }),
      true,
    )
    return 'result' in done ? done.result : done.memory.store.removeUnused(until)
  }

  async scopes(after?: Scope): Promise<readonly Scope[]> {
    const done = await this.run('scopes', (connection) =>
      connection.read(['head'], async (requests) => {
        // Arrays stand behind all texts.
        const range = requests.between(after ? scopeName(after) : '', [], true)
        const [names = []] = await all<IDBValidKey[]>([requests.table('head').getAllKeys(range, PAGE_ROWS)])
        return names.map((name) => scopeNamed(name as string))
      }),
    )
    if ('result' in done) return done.result
    // To remove or copy everything, what is in memory is not enough.
    throw new PlimsollError(
      'ERR_STORAGE',
      'dexieStore: the database failed, and its scopes cannot be listed',
      {
        cause: this.#status.cause,
      },
    )
  }

  status(): StoreStatus {
    return this.#status
  }

  onStatus(listener: (status: StoreStatus) => void): () => void {
    const own = (status: StoreStatus): void => listener(status)
    this.#listeners.add(own)
    return () => this.#listeners.delete(own)
  }

  async acceptLoss(): Promise<void> {
    if (this.#status.state !== 'lost') return
    this.#accepting = true
    this.#become(READY)
    await this.run('acceptLoss', async () => {})
  }

  async close(): Promise<void> {
    this.#page?.removeEventListener('pagehide', this.#hide)
    this.#page?.removeEventListener('pageshow', this.#show)
    this.#preparing?.()
    this.#hide()
  }

  /** Id of the database in use. */
  get id(): string | undefined {
    return this.#id
  }

  /**
   * Runs `work` on an open connection. What may pass is tried again, once, on a new handle.
   *
   * @param frees whether it makes room: then there is a reserve for it, where there is none left.
   * @returns what it gave; once the store is in memory mode, the store in memory
   */
  async run<Result>(
    operation: string,
    work: (connection: Connection) => Promise<Result>,
    frees = false,
  ): Promise<{ readonly result: Result } | { readonly memory: MemoryMode }> {
    let reserve = frees
    for (let failures = 0; ; ) {
      if (this.#memory) return { memory: this.#memory }
      if (this.#status.state === 'lost') throw this.#status.cause
      let connection: Connection | undefined
      try {
        connection = this.#connection ?? (await this.#open())
        return { result: await work(connection) }
      } catch (error) {
        if (error instanceof CallerError) throw error.error
        const failure = storageError(operation, error)
        // One that cannot even be opened is too old, and nothing can be read of it.
        if (failure.code === 'ERR_UPGRADE_REQUIRED' && connection)
          this.#become({ state: 'read-only', durable: true, cause: failure })
        if (failure.code === 'ERR_STORAGE_LOST')
          this.#become({ state: 'lost', durable: false, cause: failure })
        if (failure.code === 'ERR_STORAGE_FULL' && reserve && connection) {
          reserve = false
          await connection.freeReserve().catch(ignore)
          continue
        }
        // A database that cannot even be opened, for want of room or whatever else, cannot be read
        // either.
        const isOurs = failure.cause !== error
        if (isOurs || (connection && !mayPass(error))) throw failure
        if (failures++ === 0) this.#disconnect(connection)
        else await this.#goOnInMemory(failure)
      }
    }
  }

  #open(): Promise<Connection> {
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = undefined
    })
    return this.#opening
  }

  async #connect(): Promise<Connection> {
    if (!this.#options.indexedDB && isServer()) throw noBrowser()
    let connection: Connection | undefined
    const known = this.#accepting ? undefined : (this.#id ?? this.#mirrored())
    const end = (): void => {
      if (this.#connection === connection) this.#connection = undefined
    }
    const handle = await this.#openDatabase(this.#options, end, known !== undefined)
    connection = new Connection(handle, this.#options)
    try {
      await this.#identify(connection, known)
    } catch (error) {
      connection.close()
      throw error
    }
    this.#connection = connection
    return connection
  }

  async #loadMemoryMode(): Promise<typeof import('./memory-mode.ts')> {
    return import('./memory-mode.ts')
  }

  /**
   * Few need what goes on without the database: it is loaded soon after something was written that
   * may be lost, since there may be no network then.
   */
  prepareForLoss(): void {
    if (this.#preparing !== undefined) return
    const again = (): void => {
      this.#preparing = undefined
    }
    this.#preparing = later(PREPARE_MS, () => {
      if (globalThis.navigator?.onLine === false) again()
      else this.#loadMemoryMode().catch(again)
    })
  }

  /**
   * Makes sure that this is the database that was used before, by its id; gives it one when it is
   * new.
   *
   * @throws ERR_STORAGE_LOST
   */
  async #identify(connection: Connection, known: string | undefined): Promise<void> {
    let [meta, reserved] = await connection.read(['meta'], async (requests) => {
      const table = requests.table('meta')
      const [row, count] = await all<unknown>([table.get(META), table.count(RESERVE)])
      return [row as MetaRow | undefined, count as number] as const
    })
    meta ??= await connection.write(async (requests) => {
      const table = requests.table('meta')
      const [there] = await requests.get<MetaRow>(table, [META])
      const made: MetaRow = {
        key: META,
        id: freshId(),
        writer: WRITER_VERSION,
        scopes: 0,
        derived: DERIVED_VERSION,
      }
      if (!there) table.add(made)
      return there ?? made
    })
    if (known !== undefined && meta.id !== known) throw lost()
    if (meta.derived !== DERIVED_VERSION && meta.writer <= WRITER_VERSION) await dropDerived(connection)
    this.#accepting = false
    this.#id = meta.id
    this.#remember(meta.id)
    if (meta.writer > WRITER_VERSION)
      this.#become({ state: 'read-only', durable: true, cause: upgradeRequired(meta.writer) })
    // Beside the calls that wait for the handle; without it a full database cannot be deleted from.
    else if (!reserved) connection.fillReserve(noise(RESERVE_BYTES)).catch(ignore)
  }

  #mirrored(): string | undefined {
    try {
      return this.#mirror?.getItem(this.#mirrorKey) ?? undefined
    } catch {
      return undefined
    }
  }

  /**
   * Where it cannot be kept, the next loss between two visits goes unnoticed; nothing else depends
   * on it.
   */
  #remember(id: string): void {
    try {
      if (this.#mirrored() !== id) this.#mirror?.setItem(this.#mirrorKey, id)
    } catch {}
  }

  async #goOnInMemory(cause: PlimsollError): Promise<void> {
    const { MemoryMode } = await this.#loadMemoryMode().catch(() => {
      throw cause
    })
    // Another call may have found out meanwhile that it is lost, or failed alike.
    if (this.#status.state === 'lost') throw this.#status.cause
    this.#memory ??= new MemoryMode(cause)
    this.#become({ state: 'memory', durable: false, cause })
  }

  #become(status: StoreStatus): void {
    if (status.state === this.#status.state) return
    this.#status = status
    for (const listener of [...this.#listeners]) {
      try {
        listener(status)
      } catch {
        // An observer stops nothing: the event has already happened.
      }
    }
  }

  /** Closes a handle, unless that was done and there is a newer one. */
  #disconnect(connection: Connection | undefined): void {
    if (!connection || connection !== this.#connection) return
    this.#connection = undefined
    connection.close()
  }

  readonly #hide = (): void => {
    this.#disconnect(this.#connection)
    this.tabs.close()
  }

  readonly #show = (): void => this.tabs.tellAll()
}

/** One scope, in the database or in memory. */
class RecoveringScope implements ScopeStore {
  readonly #store: RecoveringStore
  readonly #name: string
  readonly #scope: DexieScope
  readonly #listeners = new Set<() => void>()
  readonly #stops = new Set<() => void>()

  constructor(store: RecoveringStore, name: string, scope: DexieScope) {
    this.#store = store
    this.#name = name
    this.#scope = scope
  }

  async commit(ops: readonly SealedOp[], decide: Decide): Promise<readonly OpResult[]> {
    const { results, wrote } = await this.#run(
      'commit',
      (connection) => this.#scope.commit(connection, ops, decide),
      (memory) => memory.commit(ops, decide),
      ops.every(({ envelope: { kind } }) => kind === 'delete' || kind === 'erase'),
    )
    if (wrote) {
      this.#store.tabs.tell(this.#name, this.#listeners)
      this.#store.prepareForLoss()
    }
    return results
  }

  entries(query?: EntriesQuery): Promise<Page> {
    return this.#call('entries', query)
  }

  head(): Promise<Head> {
    return this.#call('head')
  }

  register(key: string): Promise<RegisterRow | undefined> {
    return this.#call('register', key)
  }

  registers(prefix: string, after?: string): Promise<readonly RegisterRow[]> {
    return this.#call('registers', prefix, after)
  }

  indexed(group: string, query?: IndexQuery): Promise<readonly RegisterRow[]> {
    return this.#call('indexed', group, query)
  }

  sums(groups: readonly string[]): Promise<ReadonlyMap<string, Sum>> {
    return this.#call('sums', groups)
  }

  changesSince(seq: number): Promise<Changes> {
    return this.#call('changesSince', seq)
  }

  snapshot<Result>(work: (reads: Reads) => Promise<Result>): Promise<Result> {
    const scope = this.#scope
    let failure: unknown
    const noting = async <Value>(read: Promise<Value>): Promise<Value> => {
      try {
        return await read
      } catch (error) {
        failure = error
        throw error
      }
    }
    return this.#run(
      'snapshot',
      (connection) =>
        connection.snapshot(async (reader) => {
          const reads = READS.map((name) => {
            const call = callOf(scope, name)
            return [name, (...given: readonly unknown[]) => noting(call(reader, ...given))]
          })
          try {
            return await work(Object.fromEntries(reads))
          } catch (error) {
            throw error === failure ? error : new CallerError(error)
          }
        }),
      work,
    )
  }

  attach(attachment: Attachment, at: number): Promise<'stored' | 'kept' | 'deleted'> {
    return this.#call('attach', attachment, at)
  }

  attachment(id: string): Promise<Attachment | undefined> {
    return this.#call('attachment', id)
  }

  attached(ids: readonly string[]): Promise<readonly string[]> {
    return this.#call('attached', ids)
  }

  derive(row: DerivedRow, seq: number): Promise<boolean> {
    return this.#call('derive', row, seq)
  }

  derived(prefix: string, after?: string): Promise<readonly DerivedRow[]> {
    return this.#call('derived', prefix, after)
  }

  outbox(after: number): Promise<readonly OutboxRow[]> {
    return this.#call('outbox', after)
  }

  async close(): Promise<void> {
    for (const stop of [...this.#stops]) stop()
  }

  watch(listener: () => void): () => void {
    const own = (): void => listener()
    const stopListening = this.#store.tabs.listen(this.#name, own)
    this.#listeners.add(own)
    const stop = (): void => {
      stopListening()
      this.#listeners.delete(own)
      this.#stops.delete(stop)
    }
    this.#stops.add(stop)
    return stop
  }

  /** Of the scope in the database or, with the same arguments, of the one in memory. */
  #call<Name extends ScopeCall>(name: Name, ...given: ScopeGiven<Name>): ScopeResult<Name> {
    return this.#run(
      name,
      (connection) => callOf(this.#scope, name)(connection, ...given),
      (memory) => callOf(memory, name)(...given),
    ) as ScopeResult<Name>
  }

  async #run<Result>(
    operation: string,
    work: (connection: Connection) => Promise<Result>,
    inMemory: (memory: MemoryModeScope) => Promise<Result>,
    frees?: boolean,
  ): Promise<Result> {
    const store = this.#store
    const onThis = (connection: Connection): Promise<Result> => {
      this.#scope.readFrom(store.id)
      return work(connection)
    }
    const done = await store.run(operation, onThis, frees)
    return 'result' in done ? done.result : inMemory(done.memory.scope(this.#name, this.#scope.known))
  }
}

const READS = ['entries', 'head', 'register', 'registers', 'indexed', 'sums', 'changesSince'] as const

type Call = (...given: readonly unknown[]) => Promise<unknown>

function callOf(scope: DexieScope | MemoryModeScope, name: ScopeCall): Call {
  return (scope[name] as Call).bind(scope)
}

/** Removes all that was derived, so that it is made again as this version has it. */
async function dropDerived(connection: Connection): Promise<void> {
  await connection.write(
    async (requests) => {
      const table = requests.table('meta')
      const [meta] = await requests.get<MetaRow>(table, [META])
      if (!meta || meta.derived === DERIVED_VERSION) return
      requests.table('derived').clear()
      table.put({ ...meta, derived: DERIVED_VERSION })
    },
    ['meta', 'derived'],
  )
}

/** Attachments that no message has named, oldest first. */
function oldestUnused(requests: Requests): IDBIndex {
  return requests.table('unused').index('at')
}

function ignore(): void {}

/** The database is another one, or is gone. */
export function lost(): PlimsollError {
  return new PlimsollError('ERR_STORAGE_LOST', 'dexieStore: the database that was used before is gone')
}
