/** The page of a device, which `devices.ts` drives. */
import {
  DEFAULT_BATCH,
  type DeviceOrder,
  type Exchange,
  type Held,
  type HomeOrder,
  heldIn,
  LIMIT,
  OURS,
  POUCHDB,
  POUCHDB_BATCH,
  POUCHDB_DEFAULT,
  RXDB,
  RXDB_BATCH,
  RXDB_DEFAULT,
  type SubjectName,
} from '../orders.ts'
import type { Device, OpenDevice } from './device.ts'
import { openLimit } from './limit.ts'
import { LiveScreen, openOurs } from './ours.ts'
import { openPouchdb } from './pouchdb.ts'
import { openRxdb } from './rxdb.ts'

const OPEN: Readonly<Record<SubjectName, OpenDevice>> = {
  [OURS]: openOurs,
  [LIMIT]: openLimit,
  [RXDB]: (order) => openRxdb(order, RXDB_BATCH),
  [RXDB_DEFAULT]: (order) => openRxdb(order, DEFAULT_BATCH),
  [POUCHDB]: (order) => openPouchdb(order, POUCHDB_BATCH),
  [POUCHDB_DEFAULT]: (order) => openPouchdb(order, DEFAULT_BATCH),
}

let device: Device
let screen: LiveScreen

export const page = {
  async open(order: DeviceOrder): Promise<void> {
    device = await OPEN[order.subject](order)
  },

  write: (exchanges: readonly Exchange[]): Promise<void> => device.write(exchanges),

  /** @returns milliseconds */
  async goOnline(): Promise<number> {
    const start = performance.now()
    await device.goOnline()
    return performance.now() - start
  },

  held: async (): Promise<Held> => heldIn(await device.messages()),

  remove: (): Promise<void> => device.remove(),

  async openLive(database: string, order: HomeOrder): Promise<void> {
    screen = new LiveScreen(database, order)
    await screen.begin()
  },

  say: (text: string): Promise<number> => screen.say(text),

  shown: (text: string, limitMs: number): Promise<number> => screen.shown(text, limitMs),

  closeLive: (): Promise<void> => screen.close(),
}

Object.assign(globalThis, { page })
