import { type DexieStore, dexieStore } from '../../../src/stores/dexie.ts'
import { LAST, OPEN_AND_READ, OURS, START } from '../page-orders.ts'
import { DexieMessages } from './dexie-peers.ts'
import { closeOurs, fillOurs, openOurs, openSession, SCOPE } from './ours.ts'
import { type Times, type Turn, takeTurns, timed } from './turns.ts'

/** Rounds that a read of the end of a log asks for. */
const ROUNDS = LAST / 2

/** The first context of a database that was closed, against Dexie's first read. */
export async function measureReopens(laps: number): Promise<Times> {
  const [oursName, plainName] = ['reopen-ours', 'reopen-plain']
  const filled = openOurs(oursName, 'strict')
  await fillOurs(filled, 0, START / 2, START)
  await filled.session.context()
  await closeOurs(filled)
  const plain = new DexieMessages(plainName, 'strict')
  await plain.fill(0, START / 2)
  plain.close()
  return takeTurns(
    [
      {
        name: OURS,
        run: async () => {
          const start = performance.now()
          const ours = openOurs(oursName, 'strict')
          await ours.session.context()
          const ms = performance.now() - start
          await closeOurs(ours)
          return ms
        },
      },
      {
        name: OPEN_AND_READ,
        run: async () => {
          const start = performance.now()
          const reopened = new DexieMessages(plainName, 'strict', plain.seq)
          await reopened.open()
          await reopened.last()
          const ms = performance.now() - start
          reopened.close()
          return ms
        },
      },
    ],
    laps,
    1,
  )
}

const logName = (size: number): string => `log-${size}`

/** Adds exchanges to the log of a size; in parts, so that the bench can say how far it is. */
export async function fillLog(size: number, from: number, to: number, batch: number): Promise<number> {
  const ours = openOurs(logName(size), 'relaxed')
  const ms = await timed(() => fillOurs(ours, from, to, batch))
  await closeOurs(ours)
  return ms
}

/** Reads of the end of logs of several sizes, in turns; by what is read, then by size. */
export async function measureEnds(sizes: readonly number[], laps: number): Promise<Record<string, Times>> {
  const stores = sizes.map((size) => ({
    size,
    store: dexieStore({ name: logName(size), durability: 'strict' }),
  }))
  const each = (run: (store: DexieStore) => Promise<unknown>): Turn[] =>
    stores.map(({ size, store }) => ({ name: `${size}`, run: () => timed(() => run(store)) }))
  const ends: Record<string, Times> = {
    [`entries({ last: ${LAST} })`]: await takeTurns(
      // Opened again each time: what was read before is in memory.
      each((store) => store.open(SCOPE).entries({ last: LAST })),
      laps,
      5,
    ),
    [`history({ rounds: ${ROUNDS} }) of a new session`]: await takeTurns(
      each((store) => openSession(store).history({ rounds: ROUNDS })),
      laps / 4,
      5,
    ),
    // The warm-up begins the epoch; later sessions go on with it.
    [`first context() of a new session, ${ROUNDS} rounds`]: await takeTurns(
      each((store) => openSession(store, ROUNDS).context()),
      laps / 4,
      5,
    ),
  }
  for (const { store } of stores) await store.close()
  return ends
}
