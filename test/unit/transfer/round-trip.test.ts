import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OWED } from '../../../src/forgetting/owed.ts'
import {
  type Head,
  type Imported,
  type ImportOptions,
  type LogRow,
  mapStore,
  type RegisterRow,
  type Scope,
  type ScopeStore,
  type Store,
  type TransferPart,
} from '../../../src/index.ts'
import { exportFrom } from '../../../src/operations/transfer/export.ts'
import { importInto } from '../../../src/operations/transfer/import.ts'
import { type FullMemoryOptions, fullMemory } from '../../contract/full-memory.ts'
import { readAll } from '../../contract/samples.ts'
import { FailingStore, type Failure } from '../support/failing-store.ts'
import { histories } from '../support/histories.ts'
import { Household, happenings } from '../support/household.ts'
import { limit, runs } from '../support/runs.ts'
import { Scene } from '../support/scene.ts'
import { sealingStore } from '../support/sealing-store.ts'

const ADA = { userId: 'ada' }
const BOB = { tenant: 'acme', userId: 'bob' }
const SESSIONS = ['trip', 'home']
/** Noon of the last day of a household. */
const LATER = 20_900.5 * 86_400_000

interface Run {
  readonly parts?: readonly TransferPart[]
  readonly now?: number
}

function memoryOf(store: Store, now = LATER) {
  return fullMemory({ store, budget: 4_000, clock: () => now, recall: {} })
}

async function exported(store: Store, scope: Scope, { parts, now }: Run = {}): Promise<string> {
  let text = ''
  for await (const line of exportFrom(memoryOf(store, now), scope, parts ? { parts } : {})) text += line
  return text
}

function imported(store: Store, scope: Scope, text: string, options?: ImportOptions, now?: number) {
  return importInto(memoryOf(store, now), scope, [text], options)
}

/** A household whose sessions are listed. */
async function household(options: Partial<FullMemoryOptions> = {}): Promise<Household> {
  const made = new Household({ budget: 4_000, recall: {}, ...options })
  for (const sessionId of SESSIONS) await made.open(sessionId).append({ role: 'user', content: 'Hello.' })
  return made
}

/** All that the scopes of a user hold. */
async function everything(store: Store, user: Scope): Promise<unknown> {
  const scopes = [user, ...SESSIONS.map((sessionId) => ({ ...user, sessionId }))]
  const ending = new Set<string>()
  for (const scope of scopes)
    for (const { key, body } of await store.open(scope).registers(''))
      if (body?.includes('"expiresAt"')) ending.add(key.split('/').at(-1) ?? '')
  return Promise.all(scopes.map((scope) => heldBy(store.open(scope), ending)))
}

/** @param ending facts that may have ended: they are noted until their session writes next */
async function heldBy(scope: ScopeStore, ending: ReadonlySet<string>): Promise<unknown> {
  const all = (await readAll(scope)) as {
    readonly head: Head
    readonly log: readonly LogRow[]
    readonly registers: readonly RegisterRow[]
  }
  const { indexed: _, ...head } = all.head
  // What was done where the file was made is no part of it.
  const transferred = all.registers
    .filter(({ key }) => !key.startsWith('audit/') && !key.startsWith('untold/') && key !== OWED)
    // Sessions' facts are noted by who imports them.
    .flatMap(({ version, seq, ...row }) => {
      if (!row.key.startsWith('kept/')) return { version, seq, ...row }
      return row.body === 'null' || ending.has(row.key.split('/').at(-1) ?? '') ? [] : row
    })
  // A fact that has ended is taken off the lists at the next write, or where it is imported.
  const registers = transferred.map(({ index, ...row }) =>
    row.body?.includes('"expiresAt"') ? row : { ...row, index },
  )
  // Nothing was handed out where it was imported.
  const log = all.log.map(({ contexts: _, ...row }) => row)
  return { head, log, registers }
}

function writtenIn({ parts }: Imported): number {
  return Object.values(parts).reduce((sum, { written }) => sum + written, 0)
}

const failure: fc.Arbitrary<Failure> = fc.record({
  at: fc.integer({ min: 1, max: 80 }),
  when: fc.constantFrom('before' as const, 'after' as const),
  isEnd: fc.boolean(),
})

describe('an export', () => {
  it('imported under another user and exported again gives the same bytes, and all scopes the same rows', {
    timeout: limit(60_000),
  }, async () => {
    await fc.assert(
      fc.asyncProperty(happenings, fc.boolean(), async (played, isSealed) => {
        const home = await household()
        await home.play(played, async () => {})
        const { store, now } = home
        const target = isSealed ? sealingStore(mapStore()) : mapStore()
        const text = await exported(store, ADA, { now })
        const first = await imported(target, BOB, text, {}, now)
        expect(first).toMatchObject({ conflicts: { count: 0 }, skipped: { count: 0 } })
        expect(await exported(target, BOB, { now })).toBe(text)
        expect(await everything(target, BOB)).toEqual(await everything(store, ADA))
        const again = await imported(target, BOB, text, {}, now)
        expect([writtenIn(again), again.conflicts.count, again.skipped.count]).toEqual([0, 0, 0])
        expect(await everything(target, BOB)).toEqual(await everything(store, ADA))
      }),
      runs(120),
    )
  })

  it('of one session gives the same bytes and the same contexts', { timeout: limit(60_000) }, async () => {
    await fc.assert(
      fc.asyncProperty(histories, fc.integer({ min: 300, max: 3_000 }), async (actions, budget) => {
        const scene = new Scene({ budget })
        await scene.play(actions, async () => {})
        const scope = { userId: 'ada', sessionId: 'trip' }
        const text = await exported(scene.store, scope)
        const store = mapStore()
        await imported(store, scope, text)
        expect(await exported(store, scope)).toBe(text)
        const contexts = await Promise.all(
          [scene.store, store].map(async (one) => {
            const memory = fullMemory({ store: one, budget, clock: () => 0, newId: () => 'later' })
            const session = memory.session(scope)
            return session.context({ onPending: 'abandon' }).catch((error: Error) => error.message)
          }),
        )
        expect(contexts[1]).toEqual(contexts[0])
      }),
      runs(60),
    )
  })

  it('of some parts, imported where nothing is, gives the same bytes', {
    timeout: limit(60_000),
  }, async () => {
    const parts = fc.subarray<TransferPart>(['log', 'facts', 'profile', 'checkpoint'], { minLength: 1 })
    await fc.assert(
      fc.asyncProperty(happenings, parts, async (played, parts) => {
        const home = await household()
        await home.play(played, async () => {})
        const { store, now } = home
        const text = await exported(store, ADA, { parts, now })
        const target = mapStore()
        await imported(target, BOB, text, {}, now)
        expect(await exported(target, BOB, { parts, now })).toBe(text)
      }),
      runs(80),
    )
  })
})

describe('an import', () => {
  it('that was cut off anywhere is gone on with by the next one', { timeout: limit(60_000) }, async () => {
    await fc.assert(
      fc.asyncProperty(happenings, fc.array(failure, { maxLength: 3 }), async (played, failures) => {
        const home = await household()
        await home.play(played, async () => {})
        const { store, now } = home
        const text = await exported(store, ADA, { now })
        const target = mapStore()
        for (const one of failures)
          await imported(new FailingStore(target, one).store, BOB, text, {}, now).catch((error: Error) => {
            expect(error.message).toMatch(/^(call \d+ never arrived|nobody heard of call \d+)$/)
          })
        await imported(target, BOB, text, {}, now)
        expect(await exported(target, BOB, { now })).toBe(text)
      }),
      runs(120),
    )
  })

  it('of a newer export goes on where an older one ended', { timeout: limit(60_000) }, async () => {
    await fc.assert(
      fc.asyncProperty(happenings, happenings, async (played, further) => {
        const home = await household()
        const target = mapStore()
        for (const some of [played, further]) {
          await home.play(some, async () => {})
          const { store, now } = home
          const text = await exported(store, ADA, { now })
          const { conflicts } = await imported(target, BOB, text, {}, now)
          expect(conflicts).toEqual({ count: 0, first: [] })
          expect(await exported(target, BOB, { now })).toBe(text)
          expect(await everything(target, BOB)).toEqual(await everything(store, ADA))
        }
      }),
      runs(80),
    )
  })

  it('is the same in whatever chunks its file comes', async () => {
    const home = await household()
    const session = home.tabs[0]
    await session?.append({ role: 'user', content: 'Größe 👩‍👩‍👧 \u2028 ok' })
    const text = await exported(home.store, ADA)
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1 }), async (sizes) => {
        async function* chunks(): AsyncGenerator<string> {
          for (let at = 0, turn = 0; at < text.length; turn++) {
            const size = (sizes[turn % sizes.length] ?? 0) + (turn % 7 === 6 ? 1 : 0)
            yield text.slice(at, at + size)
            at += size
          }
        }
        const target = mapStore()
        await importInto(memoryOf(target), BOB, chunks())
        expect(await exported(target, BOB)).toBe(text)
      }),
      runs(40),
    )
  })
})
