import type { Store } from '../../src/ports/store.ts'
import { type DexieStore, dexieStore } from '../../src/stores/dexie.ts'
import { describeSessionRecall } from '../everywhere/session-recall.ts'

const names = new WeakMap<Store, string>()

function open(name: string = crypto.randomUUID()): Store {
  const store = dexieStore({ name, durability: 'relaxed' })
  names.set(store, name)
  return store
}

describeSessionRecall(
  'Dexie',
  () => open(),
  async (store) => {
    await (store as DexieStore).close()
    return open(names.get(store))
  },
)
