import { describe, expect, it } from 'vitest'
import { lawChecker } from '../../src/assert-laws.ts'
import { charsPerToken } from '../../src/index.ts'
import { decide } from '../../src/kernel/log/decide.ts'
import { sealOp } from '../../src/kernel/log/seal.ts'
import { attach } from '../../src/operations/attachments.ts'
import { readAudit } from '../../src/operations/audit.ts'
import { deleteSession } from '../../src/operations/delete-session.ts'
import { eraseUser } from '../../src/operations/forget/erase.ts'
import { forget, forgetFact } from '../../src/operations/forget/forget.ts'
import { listSessions, titleSession } from '../../src/operations/sessions.ts'
import type { Scope } from '../../src/ports/op.ts'
import type { ScopeStore, Store } from '../../src/ports/store.ts'
import { type FullMemory, type FullSession, fullMemory } from '../contract/full-memory.ts'

/** A store, and a look at all that it holds which goes past it. */
export interface World {
  readonly store: Store
  readonly dump: () => Promise<string>
}

export const ADA = { tenant: 'acme', userId: 'ada' }
/** A word that nothing else says, in lower case, since indexes are. */
export const CANARY = 'xylocanaryq'

const BYTES = {
  mediaType: 'image/png',
  bytes: Uint8Array.from(`picture of ${CANARY}`, (character) => character.charCodeAt(0)),
}

export function memoryOver(store: Store, clock: () => number = () => 1_000): FullMemory {
  return fullMemory({
    store,
    budget: 2_000,
    counter: charsPerToken(4),
    compaction: { ahead: false },
    recall: {},
    checkpoint: { excerptTokens: 100 },
    laws: lawChecker,
    clock,
  })
}

/** Says a canary in a session, and lets everything derive from it that can. */
export async function writeCanary(
  memory: FullMemory,
): Promise<{ readonly trip: FullSession; readonly home: FullSession }> {
  const trip = memory.session({ ...ADA, sessionId: 'trip' })
  const home = memory.session({ ...ADA, sessionId: 'home' })
  const picture = await attach(trip, { ...BYTES, id: 'picture', tokens: 9 })
  const shared = await attach(trip, { ...BYTES, bytes: Uint8Array.of(1), id: 'shared-picture', tokens: 9 })
  const text = `Remember that ${CANARY} is the door code at /srv/${CANARY}/door.`
  await trip.append({ id: 'said', role: 'user', content: [{ type: 'text', text }, picture, shared] })
  await trip.append({ id: 'heard', role: 'assistant', content: 'I will.' })
  await trip.append({ id: 'again', role: 'user', content: [{ type: 'text', text: 'And this?' }, shared] })
  await trip.facts.remember({ id: 'own', kind: 'finding', text: `The code is ${CANARY}.`, sources: ['said'] })
  await trip.facts.remember({
    id: 'of-own',
    kind: 'finding',
    text: `It says ${CANARY} too.`,
    sources: ['fact/own'],
  })
  await trip.facts.remember({
    id: 'direct',
    kind: 'preference',
    text: `Likes ${CANARY} doors.`,
    sources: ['said'],
  })
  await trip.facts.remember({
    id: 'promoted',
    kind: 'constraint',
    text: `Never say ${CANARY} aloud.`,
    trust: 'tool',
    sources: ['said'],
  })
  await trip.facts.promote('promoted', { pinned: true })
  // Of no message: only the session knows where it comes from.
  await trip.facts.remember({
    id: 'of-fact',
    kind: 'preference',
    text: `Prefers it said: ${CANARY}.`,
    trust: 'tool',
    sources: ['fact/own'],
  })
  await trip.facts.promote('of-fact')
  await trip.facts.remember({ id: 'apart', kind: 'preference', text: 'Likes windows.' })
  await trip.context()
  await home.append({ role: 'user', content: 'Which door?' })
  await home.context()
  for (let round = 0; round < 150; round++) {
    await trip.append([
      { id: `q${round}`, role: 'user', content: `Question ${round} about trains and seats.` },
      { id: `a${round}`, role: 'assistant', content: `Answer ${round}: it depends on the train.` },
    ])
    if (round % 10 === 0) await trip.context()
  }
  await trip.recall.find(`where is ${CANARY}`)
  await trip.compaction.settled()
  return { trip, home }
}

/** Everything that a store's reads tell of all its scopes. */
export async function readEverything(store: Store): Promise<string> {
  const parts: string[] = []
  for (let after: Scope | undefined; ; ) {
    const page = await store.scopes(after)
    for (const scope of page) parts.push(JSON.stringify(scope), await readScope(store.open(scope)))
    after = page.at(-1)
    if (after === undefined) return parts.join('\n').toLowerCase()
  }
}

async function readScope(scope: ScopeStore): Promise<string> {
  const parts: string[] = []
  for (let seq = 0, more = true; more; ) {
    const page = await scope.changesSince(seq)
    parts.push(JSON.stringify(page.rows))
    more = page.more
    seq = page.rows.at(-1)?.seq ?? seq
  }
  for (let after: string | undefined; ; ) {
    const page = await scope.registers('', after)
    parts.push(JSON.stringify(page))
    after = page.at(-1)?.key
    if (after === undefined) break
  }
  for (let after: string | undefined; ; ) {
    const page = await scope.derived('', after)
    parts.push(...page.map(({ key, bytes }) => `${key} ${textOf(bytes)}`))
    after = page.at(-1)?.key
    if (after === undefined) break
  }
  for (const id of ['picture', 'shared-picture']) {
    const attachment = await scope.attachment(id)
    if (attachment) parts.push(`${id} ${textOf(attachment.bytes)}`)
  }
  return parts.join('\n')
}

/** Bytes as text, each a character. */
export function textOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')
}

export function describeGovernance(name: string, open: () => Promise<World>): void {
  describe(`what is removed from the ${name} store`, () => {
    it('is nowhere in it once its message is forgotten, nor in what derived from it, in any session', async () => {
      const { store, dump } = await open()
      const memory = memoryOver(store)
      const { trip, home } = await writeCanary(memory)
      const before = await dump()
      expect(before.split(CANARY).length).toBeGreaterThan(10)

      const certificate = await forget(trip, 'said')
      expect(await dump()).not.toContain(CANARY)
      expect(certificate).toMatchObject({
        action: 'forget',
        target: 'said',
        at: 1_000,
        already: false,
        removed: {
          sessions: { count: 0 },
          messages: { count: 1, first: ['said'] },
          facts: { count: 5 },
          attachments: { count: 1, first: ['picture'] },
        },
        kept: { count: 1, first: ['shared-picture'] },
        confirmed: ['store'],
      })
      expect(certificate.removed.summaries.count).toBeGreaterThan(0)
      expect(certificate.removed.heads.count).toBeGreaterThan(0)
      expect([...certificate.removed.facts.first].sort()).toEqual([
        'direct',
        'of-fact',
        'of-own',
        'own',
        'promoted',
      ])
      expect(JSON.stringify(certificate)).not.toContain(CANARY)

      for (const session of [trip, home, memoryOver(store).session({ ...ADA, sessionId: 'trip' })])
        expect(JSON.stringify(await session.context()).toLowerCase()).not.toContain(CANARY)
      expect((await trip.recall.find(CANARY)).map(({ id }) => id)).not.toContain('said')
      expect(await trip.facts.list({ all: true })).toMatchObject([{ id: 'apart' }])
      expect(await dump()).not.toContain(CANARY)
      const next = await forget(trip, 'heard')
      for (const id of next.removed.summaries.first)
        expect(certificate.removed.summaries.first).not.toContain(id)
      expect(await forget(trip, 'said')).toMatchObject({ already: true, removed: { messages: { count: 0 } } })
      expect(await readAudit(memory, ADA)).toMatchObject([
        { action: 'forget', target: 'heard' },
        { action: 'forget', target: 'said', counts: { messages: 1, facts: 5, attachments: 1 } },
        { action: 'promote', target: 'of-fact' },
        { action: 'promote', target: 'promoted' },
      ])
    })

    it('is nowhere in it once it was forgotten as a fact of the user, who has no session at hand', async () => {
      const { store, dump } = await open()
      const memory = memoryOver(store)
      const session = memory.session({ ...ADA, sessionId: 'trip' })
      await session.append({ role: 'user', content: 'Hello.' })
      await session.facts.remember({ id: 'shared', kind: 'preference', text: `Likes ${CANARY} doors.` })
      await session.context({ newEpoch: true })
      expect(await dump()).toContain(CANARY)
      await forgetFact(memory, ADA, 'shared')
      expect(await dump()).not.toContain(CANARY)
      expect(await readAudit(memory, ADA)).toMatchObject([
        { action: 'forget', target: 'shared', counts: { facts: 1, heads: 1 } },
      ])
    })

    it('is nowhere in it once its session is deleted, but for what the user has of it', async () => {
      const { store, dump } = await open()
      const memory = memoryOver(store)
      const { trip } = await writeCanary(memory)
      for (const id of ['direct', 'promoted', 'of-fact']) await forget(trip, id)
      const certificate = await deleteSession(memory, ADA, 'trip')
      expect(await dump()).not.toContain(CANARY)
      expect(certificate).toMatchObject({
        action: 'erase',
        target: 'trip',
        already: false,
        removed: { sessions: { count: 1, first: ['trip'] }, messages: { count: 303 } },
      })
      expect(await deleteSession(memory, ADA, 'trip')).toMatchObject({ already: true })
      expect(await memory.user(ADA).facts.list()).toMatchObject([{ id: 'apart' }])
      expect((await readAudit(memory, ADA, { first: 1 }))[0]).toMatchObject({
        action: 'erase',
        target: 'trip',
      })
      expect(await memory.session({ ...ADA, sessionId: 'trip' }).history()).toEqual([])
    })

    it('is nowhere in it once its user is erased, listed or not, and the erase is known', async () => {
      const { store, dump } = await open()
      const memory = memoryOver(store)
      const { trip, home } = await writeCanary(memory)
      await memory.user(ADA).profile.set('SOUL.md', `Speak like ${CANARY}.`)
      await titleSession(memory, ADA, 'trip', `About ${CANARY}`)
      await trip.checkpoint.set({ door: CANARY })
      // Unlisted, as a crash between the two scopes leaves it.
      const unlisted = store.open({ ...ADA, sessionId: 'unlisted' })
      const message = { id: 'm1', role: 'user', content: CANARY, createdAt: 1, trust: 'user' } as const
      await unlisted.commit(
        [sealOp({ kind: 'append', opId: 'op-1', round: 'm1', messages: [message] })],
        decide,
      )
      const others = memoryOver(store).session({ userId: 'ada', sessionId: 'elsewhere' })
      await others.append({ role: 'user', content: 'Of another tenant.' })
      await trip.close()
      await home.close()

      const certificate = await eraseUser(memory, ADA)
      expect(await dump()).not.toContain(CANARY)
      expect(await dump()).not.toContain('question 7')
      expect(certificate).toMatchObject({ action: 'erase', target: 'ada', already: false })
      expect(certificate.removed.sessions.count).toBe(3)
      expect([...certificate.removed.sessions.first].sort()).toEqual(['home', 'trip', 'unlisted'])
      expect(certificate.removed.messages.count).toBe(305)
      expect(certificate.pending).toEqual(['replicas', 'devices', 'recovery'])
      expect(await store.scopes()).not.toContainEqual({ ...ADA, sessionId: 'elsewhere' })
      expect(await listSessions(memory, ADA)).toEqual([])
      expect(await memory.user(ADA).facts.list()).toEqual([])
      expect(await readAudit(memory, ADA)).toMatchObject([
        { action: 'erase', target: 'ada', counts: { sessions: 3 } },
      ])
      expect(await others.history()).toMatchObject([{ content: 'Of another tenant.' }])
      expect(await eraseUser(memory, ADA)).toMatchObject({
        already: true,
        removed: { sessions: { count: 0 } },
      })
      expect(await readAudit(memory, ADA)).toHaveLength(1)
    })
  })
}
