/**
 * Conversations written on a device without a network, sent, and fetched by a second device: all
 * subjects in turns, two Chromiums and a server on one machine.
 */
import { median, round } from '../stats.ts'
import type { DevicePage } from './devices.ts'
import type { Lab } from './lab.ts'
import {
  type DeviceOrder,
  type Durability,
  type Exchange,
  type Held,
  PATHS,
  type SubjectName,
  type Tally,
} from './orders.ts'

export interface Cell {
  readonly subject: SubjectName
  readonly durability: Durability
}

export type Direction = 'push' | 'pull'

/** A subject in one direction: medians over the rounds. */
export interface TransferRow extends Cell {
  readonly direction: Direction
  readonly samples: number
  readonly ms: number
  readonly leastMs: number
  readonly mostMs: number
  readonly requests: number
  readonly upBytes: number
  readonly downBytes: number
  /** Of its messages with ids and times, as JSON. */
  readonly rawBytes: number
}

export interface TransferReport {
  readonly chromium: string
  readonly exchanges: number
  readonly rows: readonly TransferRow[]
}

export interface TransferPlan {
  readonly cells: readonly Cell[]
  readonly exchanges: readonly Exchange[]
  /** After one that does not count. */
  readonly rounds: number
}

interface Sample {
  readonly ms: number
  readonly tally: Tally
}

export async function measureTransfer(
  { cells, exchanges, rounds }: TransferPlan,
  lab: Lab,
  progress: (line: string) => void,
): Promise<TransferReport> {
  const transfers = new Transfers(lab, exchanges)
  for (let lap = 0; lap <= rounds; lap++) {
    // Each begins at another place, so that nobody always comes after the same one.
    for (let index = 0; index < cells.length; index++)
      await transfers.run(cells[(index + lap) % cells.length] as Cell, lap)
    progress(lap === 0 ? 'transfer: warm' : `transfer: round ${lap} of ${rounds}`)
  }
  return {
    chromium: lab.first.version,
    exchanges: exchanges.length,
    rows: cells.flatMap((cell) => transfers.rows(cell)),
  }
}

class Transfers {
  readonly #lab: Lab
  readonly #exchanges: readonly Exchange[]
  readonly #samples = new Map<string, Sample[]>()
  readonly #rawBytes = new Map<string, number>()

  constructor(lab: Lab, exchanges: readonly Exchange[]) {
    this.#lab = lab
    this.#exchanges = exchanges
  }

  /** One conversation through one subject. The round 0 warms up. */
  async run(cell: Cell, lap: number): Promise<void> {
    const { subject, durability } = cell
    // As RxDB takes names of databases.
    const name = `${subject} ${durability} ${lap}`.toLowerCase().replaceAll(/\W+/g, '-')
    const order: Omit<DeviceOrder, 'writes'> = { ...cell, name }
    const { server, first, second } = this.#lab
    for (const page of [first, second]) await page.load(server.url)
    await first.call('open', { ...order, writes: true })
    await first.call('write', this.#exchanges)
    await second.call('open', { ...order, writes: false })
    await server.tally()
    const push = await this.#timed(first)
    const pull = await this.#timed(second)
    const written = await first.call('held')
    this.#check(name, written, await server.held(PATHS[subject], name), 'server')
    this.#check(name, written, await second.call('held'), 'second device')
    for (const page of [first, second]) await page.call('remove')
    if (lap === 0) return
    this.#note(cell, 'push', push)
    this.#note(cell, 'pull', pull)
    this.#rawBytes.set(keyOf(cell), written.bytes)
  }

  rows(cell: Cell): TransferRow[] {
    return (['push', 'pull'] as const).map((direction) => {
      const samples = this.#samples.get(keyOf(cell, direction)) ?? []
      const times = samples.map(({ ms }) => ms)
      const middle = (key: keyof Tally) => median(samples.map(({ tally }) => tally[key]))
      return {
        ...cell,
        direction,
        samples: samples.length,
        ms: round(median(times), 4),
        leastMs: round(Math.min(...times), 4),
        mostMs: round(Math.max(...times), 4),
        requests: middle('requests'),
        upBytes: middle('upBytes'),
        downBytes: middle('downBytes'),
        rawBytes: this.#rawBytes.get(keyOf(cell)) ?? 0,
      }
    })
  }

  async #timed(page: DevicePage): Promise<Sample> {
    const ms = await page.call('goOnline')
    return { ms, tally: await this.#lab.server.tally() }
  }

  /** A number counts only where both ends hold the same. */
  #check(name: string, written: Held, held: Held, place: string): void {
    if (written.messages !== 2 * this.#exchanges.length)
      throw new Error(`${name}: the first device holds ${written.messages} messages`)
    if (written.hash !== held.hash)
      throw new Error(`${name}: the ${place} holds ${held.messages} messages, not what was written`)
  }

  #note(cell: Cell, direction: Direction, sample: Sample): void {
    const key = keyOf(cell, direction)
    this.#samples.set(key, [...(this.#samples.get(key) ?? []), sample])
  }
}

function keyOf({ subject, durability }: Cell, direction = ''): string {
  return [subject, durability, direction].join()
}
