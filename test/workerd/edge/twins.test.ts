import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { objectName } from '../../../src/edge/objects/object-name.ts'
import { webHost } from '../../../src/platform/web.ts'
import { limit, runs } from '../../everywhere/runs.ts'
import { differenceOf } from '../../twins/compare.ts'
import { HTTP_PAIRS } from '../../twins/twins.ts'
import type { Seen } from '../../twins/world.ts'
import { Caller } from './caller.ts'
import { histories } from './twin-steps.ts'
import { callerAt, HttpWorld, holdOthers, injectHost } from './twin-world.ts'

/** Of one length, and of as many tokens. */
const SECRETS = ['xylomarquen', 'zephtanvoli'] as const
/** Half of it for playing, and for making a history that fails shorter. */
const LIMIT_MS = 120_000

beforeAll(holdOthers)

let worlds = 0
const newName = (): string => `tenant-${String(++worlds).padStart(6, '0')}`
const newCaller = () => callerAt({ tenant: newName(), userId: 'ada' })

function compare(one: readonly Seen[], other: readonly Seen[]): void {
  const difference = differenceOf(one, other)
  if (difference !== undefined) throw new Error(difference)
}

it('is the same in two worlds that differ in a secret, in each answer, line and row, once it is forgotten', {
  timeout: limit(LIMIT_MS),
}, async () => {
  await injectHost()
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      const seen: (readonly Seen[])[] = []
      for (const secret of SECRETS) {
        const all = await new HttpWorld(secret, await newCaller()).play(history)
        for (const { what, value } of all)
          expect((JSON.stringify(value) ?? '').split(secret)[1]?.slice(0, 200), what).toBeUndefined()
        seen.push(all)
      }
      compare(seen[0] ?? [], seen[1] ?? [])
    }),
    { ...runs(HTTP_PAIRS), interruptAfterTimeLimit: limit(LIMIT_MS / 2) },
  )
})

it('is played while no alarm of another test rings', async () => {
  const other = new Caller()
  const session = await other.session()
  await other.call('POST', `/v1/sessions/${session}/facts`, { kind: 'finding', text: 'The lift is shut.' })
  await injectHost()
  const stub = env.SESSIONS.getByName(objectName({ ...other.user, sessionId: session }))
  const due = Date.now()
  await runInDurableObject(stub, (_, { storage }) => storage.setAlarm(due))
  const next = () => runInDurableObject(stub, (_, { storage }) => storage.getAlarm())
  const number = (id: string): number => Number(id.slice(3))
  const taken = number(webHost.newId())
  // By the platform's clock: that of the worlds is a century ahead.
  await expect.poll(next).toSatisfy((at: number) => at > due + 10_000 && at < due + 3_600_000)
  expect(number(webHost.newId())).toBe(taken + 1)
})

it.each(['tenant', 'user'] as const)(
  'answers a user the same, whatever another %s says',
  { timeout: limit(LIMIT_MS) },
  async (kind) => {
    await injectHost()
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        const seen: (readonly Seen[])[] = []
        for (const secret of SECRETS) {
          const caller = await newCaller()
          const other = await callerAt(
            kind === 'tenant' ? { tenant: newName(), userId: 'ada' } : { ...caller.user, userId: 'eve' },
          )
          seen.push(await new HttpWorld(secret, caller).playBeside(history, other))
        }
        compare(seen[0] ?? [], seen[1] ?? [])
      }),
      { ...runs(HTTP_PAIRS / 4), interruptAfterTimeLimit: limit(LIMIT_MS / 2) },
    )
  },
)
