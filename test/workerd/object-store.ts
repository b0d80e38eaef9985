import { runInDurableObject } from 'cloudflare:test'
import type { Scope } from '../../src/ports/op.ts'
import type { ScopeStore, Store } from '../../src/ports/store.ts'
import { durableObjectStore } from '../../src/stores/durable-object.ts'

/**
 * A store whose every call runs inside one Durable Object, as it must; opened again whenever that
 * one was.
 */
export class ObjectStore implements Store {
  readonly stub: DurableObjectStub
  readonly #make: (storage: DurableObjectStorage) => Store
  readonly #stores = new WeakMap<DurableObjectStorage, Store>()

  constructor(stub: DurableObjectStub, make: (storage: DurableObjectStorage) => Store = durableObjectStore) {
    this.stub = stub
    this.#make = make
  }

  open(scope: Scope): ScopeStore {
    const opened = new WeakMap<Store, ScopeStore>()
    const run = <Result>(call: (inside: ScopeStore) => Promise<Result>): Promise<Result> =>
      this.#run((store) => {
        const inside = opened.get(store) ?? store.open(scope)
        opened.set(store, inside)
        return call(inside)
      })
    return {
      commit: (ops, decide) => run((inside) => inside.commit(ops, decide)),
      entries: (query) => run((inside) => inside.entries(query)),
      head: () => run((inside) => inside.head()),
      register: (key) => run((inside) => inside.register(key)),
      registers: (prefix, after) => run((inside) => inside.registers(prefix, after)),
      indexed: (group, query) => run((inside) => inside.indexed(group, query)),
      sums: (groups) => run((inside) => inside.sums(groups)),
      changesSince: (seq) => run((inside) => inside.changesSince(seq)),
      attach: (attachment, at) => run((inside) => inside.attach(attachment, at)),
      attachment: (id) => run((inside) => inside.attachment(id)),
      attached: (ids) => run((inside) => inside.attached(ids)),
      derive: (row, seq) => run((inside) => inside.derive(row, seq)),
      derived: (prefix, after) => run((inside) => inside.derived(prefix, after)),
      outbox: (after) => run(async (inside) => (await inside.outbox?.(after)) ?? []),
      close: () => run((inside) => inside.close()),
    }
  }
  oldestUnused(): Promise<number | undefined> {
    return this.#run((store) => store.oldestUnused())
  }

  removeUnused(until: number): Promise<number> {
    return this.#run((store) => store.removeUnused(until))
  }

  scopes(after?: Scope): Promise<readonly Scope[]> {
    return this.#run((store) => store.scopes(after))
  }

  #run<Result>(call: (store: Store) => Promise<Result>): Promise<Result> {
    return runInDurableObject(this.stub, (_, { storage }) => {
      const store = this.#stores.get(storage) ?? this.#make(storage)
      this.#stores.set(storage, store)
      return call(store)
    })
  }
}
