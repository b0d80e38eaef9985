/**
 * `node test/released/write.ts FOLDER`: what a released version leaves in the world, a file of
 * SQLite and the export of its user. Run once when a storage format is released, and never again.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { attach, exportFrom, forget, rewind, undo } from '../../src/index.ts'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import { memoryOver, shownIn } from './shown.ts'

const [folder = ''] = process.argv.slice(2)
if (folder === '') throw new Error('Say where to')
mkdirSync(folder)
const store = sqliteStore({ path: join(folder, 'memory.db') })
const memory = memoryOver(store)
const session = memory.session({ userId: 'ada', sessionId: 'trip' })
await memory.user({ userId: 'ada' }).profile.set('SOUL.md', 'Be brief.')
const picture = await attach(session, { mediaType: 'image/png', bytes: new Uint8Array(300).fill(7) })
for (let round = 0; round < 12; round++) {
  await session.append([
    {
      id: `q${round}`,
      role: 'user',
      content: `Question ${round}: ${'when does the train to Turin leave? 🚆 '.repeat(24)}`,
    },
    {
      id: `c${round}`,
      role: 'assistant',
      content: [{ type: 'tool-call', id: `t${round}`, name: 'trains', input: { to: 'Turin' } }],
    },
    {
      id: `r${round}`,
      role: 'tool',
      content: [{ type: 'tool-result', callId: `t${round}`, output: `${round}:40` }],
    },
    { id: `a${round}`, role: 'assistant', content: `At ${round}:40.` },
  ])
  await session.context()
}
await session.append({
  id: 'seen',
  role: 'user',
  content: [{ type: 'text', text: 'What is this?' }, picture],
})
await session.facts.remember({ kind: 'preference', text: 'A window seat.' })
await session.checkpoint.set({ booked: 2 })
await forget(session, 'q3')
await rewind(session, 'seen')
await undo(session)
await session.context()
const lines: string[] = []
for await (const line of exportFrom(memory, { userId: 'ada' })) lines.push(line)
writeFileSync(join(folder, 'export.jsonl'), lines.join(''))
writeFileSync(join(folder, 'shown.json'), `${JSON.stringify(await shownIn(memory), null, 1)}\n`)
await store.vacuum()
await store.close()
