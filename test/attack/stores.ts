import { IDBFactory, IDBKeyRange } from 'fake-indexeddb'
import { mapStore, type Scope, type ScopeStore, type Store } from '../../src/index.ts'
import { dexieStore } from '../../src/stores/dexie.ts'
import { durableObjectStore } from '../../src/stores/durable-object.ts'
import { encryptedStore, secretKeys } from '../../src/stores/encrypted/index.ts'
import { sqliteStorage } from '../unit/edge/support/sqlite-storage.ts'
import { SqliteFiles } from '../unit/support/sqlite-files.ts'
import type { Program } from './program.ts'

const SECRET = 'a secret of no fewer bytes than thirty-two'

/** The data of one run, and the stores that its processes open. */
export interface Disk {
  /** A store as a process opens it. */
  open(): Store
  /** The store that keeps the bytes: what it holds is what a thief would find. */
  readonly bytes: Store
  close(): Promise<void>
}

export function diskOf(kind: Program['store']): Disk {
  if (kind === 'dexie') {
    const indexedDB = new IDBFactory()
    const opened: ReturnType<typeof dexieStore>[] = []
    const open = (): Store => {
      const store = dexieStore({ name: 'attack', mirror: null, channel: null, indexedDB, IDBKeyRange })
      opened.push(store)
      return store
    }
    return {
      open,
      bytes: open(),
      close: async () => void (await Promise.all(opened.map((store) => store.close()))),
    }
  }
  if (kind === 'object') {
    // One object has one process at a time.
    const bytes = durableObjectStore(sqliteStorage())
    return { open: () => bytes, bytes, close: async () => {} }
  }
  if (kind === 'sqlite') {
    const files = new SqliteFiles()
    // Tabs are of one process, which alone may write.
    const store = files.open()
    return { open: () => store, bytes: files.openReader(store), close: () => files.remove() }
  }
  const bytes = mapStore()
  const open = (): Store => (kind === 'map' ? bytes : encryptedStore(bytes, secretKeys(SECRET)))
  return { open, bytes, close: async () => {} }
}

/** What a write that a crash ended rejects with. */
export class Crash extends Error {}

/** When the next crash comes. */
export interface Fuse {
  /** Commits and attachments until then; undefined: none comes. */
  left?: number | undefined
  reached: boolean
}

/** A store whose writes fail when the fuse says so, before or after they reached it. */
export function crashing(store: Store, fuse: Fuse): Store {
  const crashing = async <Result>(what: string, write: () => Promise<Result>): Promise<Result> => {
    const isNow = fuse.left !== undefined && fuse.left-- === 0
    if (!isNow) return write()
    fuse.left = undefined
    if (!fuse.reached) throw new Crash(`before the ${what}`)
    await write()
    throw new Crash(`after the ${what}`)
  }
  return over(store, (scope) => ({
    commit: (...given) => crashing('commit', () => scope.commit(...given)),
    attach: (...given) => crashing('attachment', () => scope.attach(...given)),
  }))
}

/** A store with some other methods. */
export function over(
  store: Store,
  methodsOf: (opened: ScopeStore, scope: Scope) => Partial<ScopeStore>,
): Store {
  const methods = bound(store)
  return {
    ...methods,
    open: (scope) => {
      const opened = store.open(scope)
      return { ...bound(opened), ...methodsOf(opened, scope) }
    },
  }
}

/** Its methods as an object of its own, those of its class included. */
function bound<T extends object>(target: T): T {
  const methods: Record<string, unknown> = {}
  for (
    let owner: object | null = target;
    owner && owner !== Object.prototype;
    owner = Object.getPrototypeOf(owner)
  )
    for (const name of Object.getOwnPropertyNames(owner)) {
      if (name === 'constructor' || name in methods) continue
      const value: unknown = Reflect.get(target, name)
      if (typeof value === 'function') methods[name] = value.bind(target)
    }
  return methods as T
}
