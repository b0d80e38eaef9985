import { expect, it } from 'vitest'
import { createMemory, facts, mapStore } from '../../../src/index.ts'
import { deleteSession } from '../../../src/operations/delete-session.ts'
import { titleSession } from '../../../src/operations/sessions.ts'
import { exportFrom } from '../../../src/operations/transfer/export.ts'
import { importInto } from '../../../src/operations/transfer/import.ts'

const ADA = { userId: 'ada' }

it('a session that was deleted is refused once, by its log, and not by what lists it too', async () => {
  const [from, to] = [0, 1].map(() => createMemory({ store: mapStore(), budget: 16_000, use: [facts()] }))
  if (!from || !to) throw new Error('no memories')
  const ids = Array.from({ length: 60 }, (_, index) => `s${index}`)
  for (const sessionId of ids) {
    await from.session({ ...ADA, sessionId }).append({ role: 'user', content: sessionId })
    await titleSession(from, ADA, sessionId, `Title of ${sessionId}`)
  }
  const file: string[] = []
  for await (const chunk of exportFrom(from, ADA)) file.push(chunk)
  // The user has a log of their own here.
  await to.user(ADA).facts.remember({ kind: 'finding', text: 'The lift is shut.' })
  await importInto(to, ADA, file)
  for (const sessionId of ids) await deleteSession(to, ADA, sessionId)
  const { conflicts } = await importInto(to, ADA, file)
  const refused = conflicts.first.filter(({ part, sessionId }) => part === 'log' && sessionId !== undefined)
  expect(refused).toHaveLength(60)
})
