import { expect, test } from 'vitest'
import { HomeTime } from '../../../src/sync/clock.ts'

/** A clock whose home is so many milliseconds ahead. */
function device(ahead: number) {
  const own = { now: 1_000_000 }
  const time = new HomeTime(() => own.now)
  return {
    own,
    time,
    /** Asks the home; both ways take so many milliseconds. */
    ask: (there: number, back: number) => {
      const sentAt = own.now
      const home = own.now + there + ahead
      own.now += there + back
      time.heard(home, sentAt)
    },
    bounds: () => [time.earliest() - own.now, time.latest() - own.now],
  }
}

test('the time of a home that was never asked is that of the clock', () => {
  expect(device(50).bounds()).toEqual([0, 0])
})

test('an answer says the time of the home to within the way there and back', () => {
  const { ask, bounds } = device(50_000)
  ask(30, 10)
  expect(bounds()).toEqual([49_990, 50_030])
})

test('each further answer narrows it down', () => {
  const { ask, bounds } = device(-5_000)
  ask(100, 5)
  ask(2, 100)
  const [earliest = 0, latest = 0] = bounds()
  expect(earliest).toBeGreaterThan(-5_006)
  expect(earliest).toBeLessThanOrEqual(-5_000)
  expect(latest).toBeLessThan(-4_997)
  expect(latest).toBeGreaterThanOrEqual(-5_000)
})

test('what was said long ago says less, since clocks drift', () => {
  const { own, ask, bounds } = device(0)
  ask(1, 1)
  own.now += 3_600_000
  expect(bounds()).toEqual([-361, 361])
})

test('a clock that was set is noticed by the next answer', () => {
  const { own, time, ask } = device(0)
  ask(1, 1)
  own.now += 600_000
  const home = 1_000_500
  time.heard(home, own.now - 4)
  expect([time.earliest(), time.latest()]).toEqual([home, home + 4])
})
