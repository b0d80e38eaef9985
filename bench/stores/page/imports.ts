import { Dexie } from 'dexie'
import { OURS, PLAIN, SAME_INDEXES } from '../page-orders.ts'
import { DexieLog, DexieMessages } from './dexie-peers.ts'
import { closeOurs, fillOurs, openOurs } from './ours.ts'
import { type Times, takeTurns, timed } from './turns.ts'

let made = 0

/**
 * So many messages into an empty log, so many a transaction; each time into a database of its own.
 */
export async function measureImports(messages: number, batch: number, laps: number): Promise<Times> {
  const exchanges = messages / 2
  const inBatches = async (fill: (from: number, to: number) => Promise<void>): Promise<void> => {
    for (let at = 0; at < exchanges; at += batch / 2) await fill(at, Math.min(exchanges, at + batch / 2))
  }
  return takeTurns(
    [
      {
        name: OURS,
        run: async () => {
          const name = `import-${made++}`
          const ours = openOurs(name, 'strict')
          // Opens the database.
          await ours.store.open({ userId: 'nobody' }).head()
          const ms = await timed(() => fillOurs(ours, 0, exchanges, batch))
          await closeOurs(ours)
          await Dexie.delete(name)
          return ms
        },
      },
      {
        name: SAME_INDEXES,
        run: async () => {
          const log = await DexieLog.open(`import-${made++}`, 'strict', 0)
          const ms = await timed(() => inBatches((from, to) => log.fill(from, to)))
          await log.delete()
          return ms
        },
      },
      {
        name: PLAIN,
        run: async () => {
          const plain = await new DexieMessages(`import-${made++}`, 'strict').open()
          const ms = await timed(() => inBatches((from, to) => plain.fill(from, to)))
          await plain.delete()
          return ms
        },
      },
    ],
    laps,
  )
}
