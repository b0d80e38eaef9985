import { decide } from '../../src/kernel/log/decide.ts'
import { dexieStore } from '../../src/stores/dexie.ts'
import { append, SCOPE } from '../contract/samples.ts'

/** Appends so many messages, one after the other. */
async function run(name: string, prefix: string, count: number): Promise<number> {
  const store = dexieStore({ name, durability: 'relaxed' })
  const scope = store.open(SCOPE)
  for (let turn = 0; turn < count; turn++) {
    const id = `${prefix}${turn}`
    await scope.commit([append(id, [id])], decide)
  }
  await store.close()
  return count
}

// Vitest's server writes this into each `import()`; its runner is in pages of its own alone.
const runner = { wrapDynamicImport: (load: () => Promise<unknown>) => load() }
Object.assign(globalThis, { run, __vitest_browser_runner__: runner })
