import type { Decision, ScopeStore, Store } from '../../src/ports/store.ts'
import type { Disk, Place } from './world.ts'

interface Written extends Place {
  /** All that was ever written there. */
  readonly decisions: Decision[]
}

/** Scopes of a store. A copy is written again, decision by decision. */
export function storeDisk(store: Store): Disk & { close(): Promise<void> } {
  let places = 0
  const opened: ScopeStore[] = []
  const place = (): Written => {
    const scope = { userId: 'ada', sessionId: `${++places}` }
    const decisions: Decision[] = []
    return {
      decisions,
      open: () => {
        const handle = store.open(scope)
        opened.push(handle)
        return written(handle, decisions)
      },
    }
  }
  return {
    place,
    copy: async (from) => {
      const to = place()
      const scope = to.open()
      for (const decision of (from as Written).decisions) await scope.commit([], () => decision)
      return to
    },
    close: async () => {
      for (const scope of opened) await scope.close()
    },
  }
}

function written(scope: ScopeStore, decisions: Decision[]): ScopeStore {
  const commit: ScopeStore['commit'] = async (ops, decide) => {
    let decision: Decision | undefined
    const results = await scope.commit(ops, (given, rows) => {
      decision = decide(given, rows)
      return decision
    })
    if (decision) decisions.push(decision)
    return results
  }
  return new Proxy(scope, {
    get: (target, name) => {
      if (name === 'commit') return commit
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
