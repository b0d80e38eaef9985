import { describe, expect, it } from 'vitest'
import { restingHost } from '../../../../src/edge/relay/resting-host.ts'
import { webHost } from '../../../../src/platform/web.ts'

describe('a host that an object may rest in', () => {
  it('keeps timers of short waits alone, and ends long ones at the first beat after their time', () => {
    let now = 0
    const timers: number[] = []
    const host = restingHost({
      ...webHost,
      now: () => now,
      timeout: (ms) => {
        timers.push(ms)
        return { signal: webHost.controller().signal, clear: () => {} }
      },
    })
    host.timeout(59_999)
    const long = host.timeout(60_000)
    const longer = host.timeout(90_000)
    const cleared = host.timeout(60_000)
    cleared.clear()
    const aborted = (): boolean[] => [long, longer, cleared].map(({ signal }) => signal.aborted)
    now = 59_999
    host.beat()
    expect(aborted()).toEqual([false, false, false])
    now = 60_000
    expect(aborted()).toEqual([false, false, false])
    host.beat()
    expect(aborted()).toEqual([true, false, false])
    now = 200_000
    host.beat()
    expect(aborted()).toEqual([true, true, false])
    expect(timers).toEqual([59_999])
  })
})
