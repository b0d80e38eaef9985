import { describe, expect, it } from 'vitest'
import { mapStore, type Scope, type Store } from '../../src/index.ts'
import { attach } from '../../src/operations/attachments.ts'
import { deleteSession } from '../../src/operations/delete-session.ts'
import { eraseUser } from '../../src/operations/forget/erase.ts'
import { forget } from '../../src/operations/forget/forget.ts'
import { rewind } from '../../src/operations/rewind.ts'
import { listSessions, titleSession } from '../../src/operations/sessions.ts'
import { exportFrom } from '../../src/operations/transfer/export.ts'
import { importInto } from '../../src/operations/transfer/import.ts'
import type { TransferPart } from '../../src/ports/transfer.ts'
import { fullMemory } from '../contract/full-memory.ts'
import { bytesOf } from '../contract/samples.ts'

const ADA = { userId: 'ada' }
const BOB = { tenant: 'acme', userId: 'bob' }

function memoryOf(store: Store) {
  let ids = 0
  return fullMemory({
    store,
    budget: 600,
    clock: () => 1_700_000_000_000,
    newId: () => `id-${String(++ids).padStart(4, '0')}`,
  })
}

async function exported(store: Store, scope: Scope, parts?: readonly TransferPart[]): Promise<string> {
  let text = ''
  for await (const line of exportFrom(memoryOf(store), scope, parts && { parts })) text += line
  return text
}

/** A user with a long session, a picture, what is remembered, and something forgotten. */
async function live(store: Store): Promise<void> {
  const memory = memoryOf(store)
  const session = memory.session({ ...ADA, sessionId: 'trip' })
  const bytes = bytesOf(1_200_000)
  const picture = await attach(session, { mediaType: 'image/png', bytes })
  await session.append({
    role: 'user',
    content: [{ type: 'text', text: '海👩‍👩‍👧\u2028'.repeat(60_000) }, picture],
  })
  for (let round = 0; round < 12; round++) {
    await session.append({ role: 'user', content: `Round ${round}: ${'so much '.repeat(20)}` })
    await session.append({ role: 'assistant', content: 'Yes.' })
    await session.context().catch(() => {})
  }
  const [last] = (await session.history({ messages: 1 })).slice(-1)
  await rewind(session, last?.id ?? '')
  await session.facts.remember({ kind: 'constraint', text: 'Never fly.' })
  const { fact } = await session.facts.remember({ kind: 'finding', text: 'The 9:40 is full.' })
  await forget(session, fact.id)
  await session.checkpoint.set({ step: 1 })
  await memory.session({ ...ADA, sessionId: 'home' }).append({ role: 'user', content: 'Hello.' })
  const user = memory.user(ADA)
  await user.profile.set('SOUL.md', 'Be brief.')
  await user.skills.set({ name: 'tides', description: 'Reads tide tables.', text: '# Tides\n' })
}

/** Export and import: the same bytes over every store. */
export function describeTransfer(name: string, open: () => Store): void {
  describe(`an export over ${name}`, () => {
    it('imported elsewhere gives the same bytes as one of the map store, and nothing the second time', async () => {
      const [source, reference] = [open(), mapStore()]
      for (const store of [source, reference]) await live(store)
      const text = await exported(source, ADA)
      expect(text === (await exported(reference, ADA))).toBe(true)
      const target = open()
      await importInto(memoryOf(target), BOB, [text])
      expect((await exported(target, BOB)) === text).toBe(true)
      const again = await importInto(memoryOf(target), BOB, [text])
      expect(Object.values(again.parts).map(({ written }) => written)).toEqual([0, 0, 0, 0])
      expect(again.conflicts.count + again.skipped.count).toBe(0)
    }, 60_000)

    it.each(['erased', 'deleted'])(
      'brings back nothing of a session that was %s, nor its title',
      async (how) => {
        const store = open()
        const memory = memoryOf(store)
        for (const sessionId of ['said', 'empty']) {
          const session = memory.session({ ...ADA, sessionId })
          await session.append({ role: 'user', content: 'The word is swordfish.' })
          await session.facts.remember({ kind: 'finding', text: 'A swordfish is quick.' })
          await titleSession(memory, ADA, sessionId, 'About swordfish')
        }
        const whole = await exported(store, ADA)
        // Some parts alone, and sessions of which the file has the title alone.
        const facts = await exported(store, ADA, ['facts'])
        const bare = whole.split('\n').filter((line) => /"type":"(export|user|session)"/.test(line))
        const titles = `${[...bare, JSON.stringify({ type: 'end', lines: bare.length })].join('\n')}\n`
        if (how === 'erased') await eraseUser(memory, ADA)
        else for (const sessionId of ['said', 'empty']) await deleteSession(memory, ADA, sessionId)
        for (const file of [whole, facts, titles]) {
          const report = await importInto(memory, ADA, [file])
          const refused = report.conflicts.first.flatMap(({ sessionId = [] }) => sessionId)
          expect(refused).toEqual(['empty', 'said'])
          expect(await listSessions(memory, ADA)).toEqual([])
          expect(await exported(store, ADA)).not.toContain('swordfish')
        }
      },
    )
  })
}
