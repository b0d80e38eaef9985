import { exchangeAt, type PlainMessage } from '../messages.ts'
import {
  APPEND_AND_READ,
  type Durability,
  EXCHANGE_BYTES,
  OURS,
  PLAIN,
  RAW,
  SAME_INDEXES,
  SAME_JOB,
  START,
} from '../page-orders.ts'
import { DexieLog, DexieMessages, RawLog } from './dexie-peers.ts'
import { closeOurs, fillOurs, openOurs } from './ours.ts'
import { type Times, type Turn, takeTurns, timed } from './turns.ts'

const WARM_UP = 30

const exchange = (number: number): PlainMessage[] => exchangeAt(START + number, EXCHANGE_BYTES)

/** One exchange, durable: the library, Dexie doing the same, and less and less of it. */
export async function measureAppends(durability: Durability, laps: number): Promise<Times> {
  const ours = openOurs(`append-ours-${durability}`, durability)
  await fillOurs(ours, 0, START / 2, START)
  const sameJob = await DexieLog.open(`append-same-job-${durability}`, durability)
  const sameIndexes = await DexieLog.open(`append-same-indexes-${durability}`, durability)
  const plain = new DexieMessages(`append-plain-${durability}`, durability)
  await plain.fill(0, START / 2)
  const raw = await RawLog.open(`append-raw-${durability}`, durability)
  const turn = (name: string, append: (messages: PlainMessage[]) => Promise<unknown>): Turn => ({
    name,
    run: (number) => {
      const messages = exchange(number)
      return timed(() => append(messages))
    },
  })
  const times = await takeTurns(
    [
      turn(OURS, (messages) => ours.session.append(messages)),
      turn(SAME_JOB, (messages) => sameJob.appendGuarded(messages)),
      turn(SAME_INDEXES, (messages) => sameIndexes.append(messages)),
      turn(PLAIN, (messages) => plain.append(messages)),
      turn(RAW, (messages) => raw.append(messages)),
    ],
    laps,
    WARM_UP,
  )
  await closeOurs(ours)
  return times
}

/** What one call costs, and how many messages the context showed. */
export interface Calls {
  readonly times: Times
  /** The part of ours after the append. */
  readonly context: readonly number[]
  readonly shows: number
}

/**
 * One exchange appended and the context ready, against Dexie's append and its read of the last
 * messages.
 */
export async function measureCalls(durability: Durability, laps: number): Promise<Calls> {
  const ours = openOurs(`call-ours-${durability}`, durability)
  await fillOurs(ours, 0, START / 2, START)
  const plain = new DexieMessages(`call-plain-${durability}`, durability)
  await plain.fill(0, START / 2)
  const context: number[] = []
  let shown = 0
  const times = await takeTurns(
    [
      {
        name: OURS,
        run: async (number) => {
          const messages = exchange(number)
          const start = performance.now()
          await ours.session.append(messages)
          const appended = performance.now()
          const { blocks } = await ours.session.context()
          const end = performance.now()
          if (number >= WARM_UP) {
            context.push(end - appended)
            shown += blocks.length
          }
          return end - start
        },
      },
      {
        name: APPEND_AND_READ,
        run: (number) => {
          const messages = exchange(number)
          return timed(async () => {
            await plain.append(messages)
            await plain.last()
          })
        },
      },
    ],
    laps,
    WARM_UP,
  )
  await closeOurs(ours)
  plain.close()
  return { times, context, shows: shown / context.length }
}
