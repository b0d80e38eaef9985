import { expect, it } from 'vitest'
import type { Timeout } from '../../../src/ports/host.ts'
import { Alarm } from '../../../src/sync/alarm.ts'

it('rings when it is set to now, though a timer from before a sleep is still to come', () => {
  let now = 1_000
  const timers: { ms: number; ring: () => void; isCleared: boolean }[] = []
  const timeout = (ms: number): Timeout => {
    const controller = new AbortController()
    const timer = { ms, ring: () => controller.abort(), isCleared: false }
    timers.push(timer)
    const clear = () => {
      timer.isCleared = true
    }
    return { signal: controller.signal, clear }
  }
  let rung = 0
  const alarm = new Alarm({ now: () => now, timeout }, () => rung++)
  alarm.set(30_000)
  alarm.set(40_000)
  expect(timers).toHaveLength(1)
  // Timers stand still while a device sleeps; its clock does not.
  now += 3_600_000
  alarm.set(50_000)
  expect(timers.map(({ ms, isCleared }) => [ms, isCleared])).toEqual([
    [30_000, true],
    [0, false],
  ])
  timers[1]?.ring()
  expect(rung).toBe(1)
})
