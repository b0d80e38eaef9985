import { describe, expect, it } from 'vitest'
import { askSession, askUser } from '../../../src/edge/app/objects.ts'
import type { AppSettings } from '../../../src/edge/app/settings.ts'
import { NOTHING, packed } from '../../../src/edge/objects/answer.ts'
import type { CallMeta } from '../../../src/edge/objects/session-rpc.ts'
import { lost } from './namespace.ts'

const scope = { userId: 'ada', sessionId: 'trip' }
const appended = { messages: [{ role: 'user', content: 'Hi.' }] } as const

/** Objects whose first answer is lost; what each call went with is noted. */
function losing() {
  const metas: CallMeta[] = []
  const call = async (_: unknown, __: unknown, ___: object, meta: CallMeta) => {
    metas.push(meta)
    if (metas.length === 1) throw lost()
    return packed(NOTHING)
  }
  const namespace = { getByName: () => ({ call }) }
  const settings = { objects: { SESSIONS: namespace, USERS: namespace } } as unknown as AppSettings
  return { settings, metas }
}

describe('a call of an object whose answer is lost', () => {
  it('is sent again under the same op id, though the client named none', async () => {
    for (const ask of [
      (settings: AppSettings) => askSession(settings, scope, 'append', appended),
      (settings: AppSettings) =>
        askUser(settings, { userId: 'ada' }, 'setDocument', { name: 'about', text: 'Likes tea.' }),
    ]) {
      const { settings, metas } = losing()
      await ask(settings)
      const [first, second] = metas
      expect(first?.opId).toMatch(/./)
      expect(second).toEqual(first)
      const other = losing()
      await ask(other.settings)
      expect(other.metas[0]?.opId).not.toBe(first?.opId)
    }
  })

  it('names the op where messages have ids too: sent again by another call they are taken', async () => {
    const { settings, metas } = losing()
    await askSession(settings, scope, 'append', { messages: [{ id: 'm1', role: 'user', content: 'Hi.' }] })
    expect(metas[0]?.opId).toBeDefined()
    expect(metas[1]).toEqual(metas[0])
  })

  it('names none where the client named the request, after which the object does', async () => {
    const { settings, metas } = losing()
    const keyed = { key: 'mine', request: 'hash' }
    await askSession(settings, scope, 'append', appended, { keyed, bytes: 3 })
    expect(metas).toEqual([
      { keyed, bytes: 3 },
      { keyed, bytes: 3 },
    ])
  })
})
