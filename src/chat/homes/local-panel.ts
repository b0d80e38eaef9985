import { certificateOf, removed } from '../../operations/forget/certificate.ts'
import { eraseUser } from '../../operations/forget/erase.ts'
import { forget, forgetFact } from '../../operations/forget/forget.ts'
import { listSessions } from '../../operations/sessions.ts'
import { exportFrom } from '../../operations/transfer/export.ts'
import { importInto } from '../../operations/transfer/import.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { Fact } from '../../ports/fact.ts'
import type { HomeMemory } from '../ports.ts'
import { counted } from './import-count.ts'
import type { LocalMemory, LocalMemorySession } from './local-memory.ts'
import { originOf, panelFact, sharedFirst } from './panel-facts.ts'

/** What is remembered of a user in this browser. */
export function localPanel(memory: LocalMemory, userId: string, now: () => number): HomeMemory {
  const scope = { userId }
  const user = memory.user(scope)
  const sessionIds = async (): Promise<readonly string[]> => {
    const found: string[] = []
    for (let after: string | undefined; ; ) {
      const page = await listSessions(memory, scope, after === undefined ? {} : { after })
      found.push(...page.map(({ sessionId }) => sessionId))
      after = page.at(-1)?.sessionId
      if (after === undefined) return found
    }
  }
  /** Facts with the session whose they are; those that all share, with none. */
  const all = async (): Promise<readonly { readonly fact: Fact; readonly sessionId?: string }[]> => {
    const shared = await user.facts.list()
    const known = new Set(shared.map(({ id }) => id))
    const own = []
    for (const sessionId of await sessionIds()) {
      const facts = await memory.session({ userId, sessionId }).facts.list()
      own.push(...facts.filter(({ id }) => !known.has(id)).map((fact) => ({ fact, sessionId })))
    }
    return [...shared.map((fact) => ({ fact })), ...own]
  }
  /** Whose a fact is: a session's, or all sessions'. */
  const ownerOf = async (
    factId: string,
  ): Promise<{ readonly session: LocalMemorySession | undefined; readonly fact: Fact }> => {
    const found = (await all()).find(({ fact }) => fact.id === factId)
    if (!found) throw new PlimsollError('ERR_NOT_FOUND', `memory: there is no fact ${factId}`, { id: factId })
    const { fact, sessionId } = found
    return { session: sessionId === undefined ? undefined : memory.session({ userId, sessionId }), fact }
  }
  return {
    async facts() {
      const found = await all()
      return sharedFirst(found.map(({ fact, sessionId }) => panelFact(fact, sessionId === undefined)))
    },
    async edit(factId, { text }) {
      const { session, fact } = await ownerOf(factId)
      await (session ?? user).facts.supersede(factId, { kind: fact.kind, text })
    },
    async pin(factId, pinned) {
      const { session } = await ownerOf(factId)
      const { facts } = session ?? user
      await (pinned ? facts.pin(factId) : facts.unpin(factId))
    },
    async promote(factId) {
      const { session } = await ownerOf(factId)
      await (session ?? user).facts.promote(factId)
    },
    async forget(factId) {
      const { session } = await ownerOf(factId)
      // Any session forgets what all of them share, and counts what goes with it.
      const [newest] = await listSessions(memory, scope)
      const by = session ?? (newest && memory.session({ userId, sessionId: newest.sessionId }))
      if (by) return forget(by, factId, { kind: 'fact' })
      await forgetFact(memory, scope, factId)
      return certificateOf({ now }, 'forget', factId, false, { facts: removed([factId]) })
    },
    origin: async (factId) =>
      originOf(factId, await all(), sessionIds, (sessionId, before) =>
        memory.session({ userId, sessionId }).history(before === undefined ? {} : { before }),
      ),
    profile: () => user.profile.list(),
    async setProfile(name, text) {
      await user.profile.set(name, text)
    },
    async skills() {
      const found = []
      for (const { name } of await user.skills.list()) {
        const skill = await user.skills.get(name)
        if (skill) found.push(skill)
      }
      return found
    },
    export: () => exportFrom(memory, scope),
    import: (lines) => counted(all, () => importInto(memory, scope, lines, { trust: 'user' })),
    eraseAll: () => eraseUser(memory, scope),
  }
}
