import { dexieStore } from '../../../src/stores/dexie.ts'
import { encryptedStore, secretKeys } from '../../../src/stores/encrypted/index.ts'
import { exchangeAt } from '../messages.ts'
import { type Durability, ENCRYPTED, EXCHANGE_BYTES, OURS, START } from '../page-orders.ts'
import { closeOurs, fillOurs, type Ours, openOurs, openSession } from './ours.ts'
import { type Times, type Turn, takeTurns, timed } from './turns.ts'

const WARM_UP = 30
const SECRET = 'a secret of the bench, of 32 bytes or more'

/** One exchange appended and the context ready, in the clear and encrypted. */
export async function measureEncrypted(durability: Durability, laps: number): Promise<Times> {
  const plain = openOurs(`encrypted-not-${durability}`, durability)
  const store = dexieStore({ name: `encrypted-${durability}`, durability })
  const encrypted: Ours = { store, session: openSession(encryptedStore(store, secretKeys(SECRET))) }
  const turn = (name: string, ours: Ours): Turn => ({
    name,
    run: (number) => {
      const messages = exchangeAt(START + number, EXCHANGE_BYTES)
      return timed(async () => {
        await ours.session.append(messages)
        await ours.session.context()
      })
    },
  })
  for (const ours of [plain, encrypted]) await fillOurs(ours, 0, START / 2, START)
  const times = await takeTurns([turn(OURS, plain), turn(ENCRYPTED, encrypted)], laps, WARM_UP)
  for (const ours of [plain, encrypted]) await closeOurs(ours)
  return times
}
