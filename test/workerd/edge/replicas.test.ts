import { env, runInDurableObject } from 'cloudflare:test'
import { describe, expect, it } from 'vitest'
import { RecentPulls } from '../../../src/edge/replica/recent-pulls.ts'

const MINUTE = 60_000

function inObject(
  run: (replicas: RecentPulls, clock: { now: number }, state: DurableObjectState) => Promise<void>,
) {
  return runInDurableObject(env.SESSIONS.get(env.SESSIONS.newUniqueId()), async (_, state) => {
    const clock = { now: 1_000 * MINUTE }
    await run(new RecentPulls({ storage: state.storage, now: () => clock.now }), clock, state)
  })
}

describe('the replicas of a user', () => {
  it('are told of commits where they pulled lately, the latest first, at most 32, but for the writer', () =>
    inObject(async (replicas, clock) => {
      expect(replicas.recent()).toEqual([])
      for (let at = 0; at < 40; at++) {
        clock.now += 1
        replicas.pulled(`s${at}`)
      }
      const recent = replicas.recent('s38')
      expect(recent).toHaveLength(32)
      expect(recent.slice(0, 3)).toEqual(['s39', 's37', 's36'])
      clock.now += 10 * MINUTE
      replicas.pulled('s3')
      expect(replicas.recent()).toEqual(['s3'])
      expect(replicas.recent('s3')).toEqual([])
    }))

  it('are kept in a table of 64, whatever becomes of the object', () =>
    inObject(async (replicas, clock, { storage }) => {
      for (let at = 0; at < 100; at++) {
        clock.now += 1
        replicas.pulled(`s${at}`)
      }
      const rows = storage.sql.exec('SELECT COUNT(*) AS count FROM plimsoll_edge_replica').one()
      expect(rows.count).toBe(64)
      const again = new RecentPulls({ storage, now: () => clock.now })
      expect(again.recent()).toHaveLength(32)
      expect(again.recent()[0]).toBe('s99')
    }))

  it('are not written down each time', () =>
    inObject(async (replicas, clock, { storage }) => {
      const at = () => storage.sql.exec('SELECT at FROM plimsoll_edge_replica').one().at
      replicas.pulled('trip')
      const first = at()
      clock.now += 10 * MINUTE - 1
      replicas.pulled('trip')
      expect(at()).toBe(first)
      clock.now += 1
      replicas.pulled('trip')
      expect(at()).toBe(clock.now)
    }))

  it('are told as long as they may have pulled lately, where nobody knows any more when they did', () =>
    inObject(async (replicas, clock, { storage }) => {
      replicas.pulled('trip')
      clock.now += 9 * MINUTE
      replicas.pulled('trip')
      const woken = new RecentPulls({ storage, now: () => clock.now })
      clock.now += 10 * MINUTE
      expect([replicas.recent(), woken.recent()]).toEqual([[], ['trip']])
      expect([replicas, woken].map((one) => one.mayHaveChanged('trip', clock.now))).toEqual([true, true])
      clock.now += MINUTE
      expect(woken.recent()).toEqual([])
      expect([replicas, woken].map((one) => one.mayHaveChanged('trip', clock.now))).toEqual([false, true])
    }))

  it('are told as a hint: what fails is passed over', () =>
    inObject(async (replicas) => {
      for (const name of ['a', 'b', 'c', 'writer']) replicas.pulled(name)
      const told: string[] = []
      const poke = async (sessionId: string): Promise<void> => {
        told.push(sessionId)
        if (sessionId === 'b') throw new Error('asleep')
      }
      await replicas.poke(poke, 'writer')
      expect(told.sort()).toEqual(['a', 'b', 'c'])
      await replicas.poke(() => {
        throw new Error('at once')
      })
    }))
})
