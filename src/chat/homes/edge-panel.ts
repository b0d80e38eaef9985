import type { Client } from '../../client/client.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { HomeMemory } from '../ports.ts'
import { counted } from './import-count.ts'
import { originOf, panelFact, sharedFirst } from './panel-facts.ts'

/** What is remembered of the caller at an edge. */
export function edgePanel(client: Client): HomeMemory {
  const sessionIds = async (): Promise<readonly string[]> => {
    const found: string[] = []
    for (let after: string | undefined; ; ) {
      const page = await client.sessions.list(after === undefined ? {} : { after })
      found.push(...page.map(({ sessionId }) => sessionId))
      after = page.at(-1)?.sessionId
      if (after === undefined) return found
    }
  }
  const all = async () => {
    const shared = await client.me.facts.list()
    const known = new Set(shared.map(({ id }) => id))
    const own = []
    for (const sessionId of await sessionIds()) {
      const facts = await client.session(sessionId).facts.list()
      own.push(...facts.filter(({ id }) => !known.has(id)).map((fact) => ({ fact, sessionId })))
    }
    return [...shared.map((fact) => ({ fact, sessionId: undefined })), ...own]
  }
  const ownerOf = async (factId: string) => {
    const found = (await all()).find(({ fact }) => fact.id === factId)
    const sessionId = found?.sessionId ?? (await sessionIds())[0]
    if (!found || sessionId === undefined)
      throw new PlimsollError('ERR_NOT_FOUND', `memory: there is no fact ${factId} that can be changed`, {
        id: factId,
      })
    return { facts: client.session(sessionId).facts, fact: found.fact }
  }
  return {
    async facts() {
      const found = await all()
      return sharedFirst(found.map(({ fact, sessionId }) => panelFact(fact, sessionId === undefined)))
    },
    async edit(factId, { text }) {
      const { facts, fact } = await ownerOf(factId)
      await facts.update(factId, { supersede: { kind: fact.kind, text } })
    },
    async pin(factId, pinned) {
      await (await ownerOf(factId)).facts.update(factId, { pinned })
    },
    async promote(factId) {
      await (await ownerOf(factId)).facts.update(factId, { promote: true })
    },
    forget: async (factId) => (await ownerOf(factId)).facts.forget(factId),
    origin: async (factId) =>
      originOf(factId, await all(), sessionIds, (sessionId, before) =>
        client.session(sessionId).messages(before === undefined ? {} : { before }),
      ),
    profile: () => client.me.profile.list(),
    async setProfile(name, text) {
      await client.me.profile.set(name, text)
    },
    async skills() {
      const found = []
      for (const { name } of await client.me.skills.list()) {
        const skill = await client.me.skills.get(name)
        if (skill) found.push(skill)
      }
      return found
    },
    export: () => client.me.export(),
    async import(lines) {
      let text = ''
      for await (const line of lines) text += line
      return counted(all, () => client.me.import(text, { trust: 'user' }))
    },
    eraseAll: () => client.me.erase(),
  }
}
