import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '../../../src/ports/store.ts'
import { type SqliteStore, type SqliteStoreOptions, sqliteStore } from '../../../src/stores/sqlite.ts'
import type { Side } from '../../oracle/play.ts'
import type { StoreLike } from '../../oracle/store.ts'

/** Database files of their own folder, which goes with them. */
export class SqliteFiles {
  readonly folder = mkdtempSync(join(tmpdir(), 'plimsoll-sqlite-'))
  readonly #stores: SqliteStore[] = []
  readonly #paths = new WeakMap<Store, string>()
  #made = 0

  /** A path at which there is nothing yet. */
  newPath(): string {
    return join(this.folder, `${this.#made++}.db`)
  }

  /** Not for what a crash of the machine leaves: the disk is not waited for. */
  open(path = this.newPath(), options: Omit<SqliteStoreOptions, 'path'> = {}): SqliteStore {
    const store = sqliteStore({ path, synchronous: 'normal', ...options })
    this.#stores.push(store)
    this.#paths.set(store, path)
    return store
  }

  pathOf(store: Store): string {
    return this.#paths.get(store) as string
  }

  /** Opens the file of a store beside it. */
  openReader(store: Store): SqliteStore {
    return this.open(this.pathOf(store), { readonly: true })
  }

  /** Closes what was opened since the last time. */
  async closeAll(): Promise<void> {
    for (const store of this.#stores.splice(0)) await store.close()
  }

  async remove(): Promise<void> {
    await this.closeAll()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** A build whose stores are files. */
export function onDisk(side: Side, files: SqliteFiles): Side {
  return { ...side, open: () => files.open() as unknown as StoreLike, close: () => files.closeAll() }
}
