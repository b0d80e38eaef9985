import { MapScope, MapScopeStore } from '../../src/stores/map-scope.ts'
import { Broken, check, checkAgain, checkConfirmed, same, settle, shownBy } from './check.ts'
import type { Command } from './commands.ts'
import { type Disk, type Place, type Sabotage, World } from './world.ts'

/** What is broken by a run, if anything is. */
export async function play(
  commands: readonly Command[],
  disk: Disk = mapDisk(),
  sabotage: Sabotage = {},
  isPartial = false,
): Promise<string | undefined> {
  return broken(() => played(commands, disk, sabotage, isPartial))
}

/** What is broken by a run over other stores, or ends otherwise there than over maps. */
export async function playOver(
  commands: readonly Command[],
  disk: Disk,
  isPartial = false,
): Promise<string | undefined> {
  return broken(async () => {
    const wanted = await played(commands, mapDisk(), {}, isPartial)
    same('I14: the home', await played(commands, disk, {}, isPartial), wanted)
  })
}

async function broken(run: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await run()
    return undefined
  } catch (error) {
    if (error instanceof Broken) return error.message
    return `threw ${error instanceof Error ? error.stack : error}`
  }
}

/** What the home shows after a run; all devices show the same. */
async function played(
  commands: readonly Command[],
  disk: Disk,
  sabotage: Sabotage = {},
  isPartial = false,
): Promise<unknown> {
  const world = await World.of(disk, sabotage, isPartial)
  const left = [...commands]
  world.next = () => left.shift()
  for (let command = left.shift(); command; command = left.shift()) await world.play(command)
  await checkConfirmed(world)
  await settle(world)
  await check(world)
  await checkAgain(world)
  return shownBy(world.home.scope)
}

/** The same break, in as few commands as leaving out one after the other gives. */
export async function shrunk(
  commands: readonly Command[],
  isBroken: (commands: readonly Command[]) => Promise<boolean>,
): Promise<readonly Command[]> {
  let least = commands
  for (let size = Math.ceil(least.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let from = 0; from < least.length; ) {
      const fewer = [...least.slice(0, from), ...least.slice(from + size)]
      if (await isBroken(fewer)) least = fewer
      else from += size
    }
  return least
}

interface MapPlace extends Place {
  readonly rows: MapScope
}

export function mapDisk(): Disk {
  const placeOf = (rows: MapScope): MapPlace => ({ rows, open: () => new MapScopeStore(rows) })
  return {
    place: () => placeOf(new MapScope()),
    copy: (place) => placeOf(copyOf((place as MapPlace).rows)),
  }
}

/** Another scope with the same rows, which are never changed in place. */
export function copyOf(scope: MapScope): MapScope {
  const copy = new MapScope()
  for (const [name, value] of Object.entries(scope)) {
    const own = copy as unknown as Record<string, unknown>
    if (name === 'listeners') continue
    if (value instanceof Map) {
      const map = own[name] as Map<unknown, unknown>
      for (const [key, one] of value) map.set(key, Array.isArray(one) ? [...one] : one)
    } else if (value instanceof Set) {
      for (const one of value) (own[name] as Set<unknown>).add(one)
    } else own[name] = Array.isArray(value) ? [...value] : value
  }
  return copy
}
