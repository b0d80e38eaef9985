import { type ScopePass, scopePass } from '../../features/scope-pass.ts'
import { OWED, owedIn } from '../../forgetting/owed.ts'
import type { KernelMemory } from '../../kernel/feature.ts'
import type { Scope } from '../../ports/op.ts'
import { scopeName } from '../../ports/scope-name.ts'
import { finishOwed } from './cascade.ts'

/** What was begun to be forgotten in a memory's store, and was not ended. */
export function owedWork(kernel: KernelMemory): ScopePass {
  const { store, host, user: userOf } = kernel
  const make = (): ScopePass =>
    scopePass(store, host, async (scopes) => {
      const users = new Map<string, Scope>()
      for (const { sessionId: _, ...user } of scopes) users.set(scopeName(user), user)
      const failed: unknown[] = []
      for (const user of users.values()) {
        const { store: userStore, session: open } = userOf(user)
        try {
          if (Object.keys(owedIn(await userStore.register(OWED))).length === 0) continue
          const all = await finishOwed({ userStore, open, host })
          await Promise.all(all.map(({ done }) => done))
        } catch (error) {
          failed.push(error)
        }
      }
      if (failed.length > 0) throw failed[0]
    })
  return kernel.shared('forget', make)
}
