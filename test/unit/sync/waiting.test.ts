import { expect, it } from 'vitest'
import { readLog } from '../../contract/samples.ts'
import { settle } from '../../sync/check.ts'
import type { Command } from '../../sync/commands.ts'
import { mapDisk } from '../../sync/play.ts'
import { World } from '../../sync/world.ts'
import { FOUND } from './support/found.ts'

async function played(commands: readonly Command[]): Promise<World> {
  const world = await World.of(mapDisk())
  for (const command of commands) await world.play(command)
  return world
}

/** The ids of all deletes that the home has. */
async function deletesIn({ home }: World): Promise<readonly string[]> {
  return (await readLog(home.scope)).flatMap(({ kind, opId }) => (kind === 'delete' ? opId : []))
}

it('what a waiting delete emptied by its sources needs no delete of its own', async () => {
  const world = await played([
    { do: 'append', tab: 4, shape: 1, at: 0 },
    { do: 'put', tab: 4, key: 2, from: 0 },
    { do: 'pull', tab: 0, limit: 6 },
    { do: 'deliver', message: 0 },
    { do: 'deliver', message: 0 },
    { do: 'delete', tab: 0, target: 0 },
    { do: 'append', tab: 4, shape: 1, at: 0 },
  ])
  await settle(world)
  expect(await deletesIn(world)).toEqual(['o3'])
})

it('what is written elsewhere meanwhile, without those sources, does: deletes win', async () => {
  const name = 'a delete waits, and what it emptied by its sources is written elsewhere without them'
  const world = await played(FOUND[name] ?? [])
  await settle(world)
  expect(await deletesIn(world)).toEqual(['o3', expect.stringMatching(/^gone\/[0-9a-f]{64}$/)])
})

it('what a home has again after a restore is deleted by nobody who only saw it empty', async () => {
  const name = 'a page tells of a put that is deleted later, and the home goes back to between them'
  const world = await played(FOUND[name] ?? [])
  await settle(world)
  expect(await deletesIn(world)).toEqual([])
})

it('a secret waits no longer once a delete has put another one in its place', async () => {
  const commands: readonly Command[] = [
    { do: 'append', tab: 4, shape: 1, at: 0 },
    { do: 'mark', tab: 0, shape: 0, from: 0 },
    { do: 'delete', tab: 4, target: 0 },
    { do: 'pull', tab: 0, limit: 6 },
    { do: 'deliver', message: 0 },
  ]
  const world = await played(commands)
  const [tab] = world.tabs
  expect(JSON.stringify(await tab?.outbox())).toContain('secret of')
  await world.play({ do: 'deliver', message: 0 })
  expect(JSON.stringify(await tab?.outbox())).not.toContain('secret of')
})
