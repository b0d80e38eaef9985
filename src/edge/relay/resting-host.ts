import type { Controller, Host, Timeout } from '../../ports/host.ts'

/** From here on, in milliseconds, a wait is one that the object may rest in. */
const LONG_MS = 60_000

export interface RestingHost extends Host {
  /** Ends the long waits that are over. To be called every half minute while somebody may wait. */
  beat(): void
}

/**
 * A host whose long waits keep no timer: with one, an object cannot hibernate, and is billed for
 * as long as it waits. They end at the first beat after their time instead.
 */
export function restingHost(host: Host): RestingHost {
  const waits = new Map<Controller, { readonly due: number; readonly ms: number }>()
  return {
    ...host,
    timeout(ms): Timeout {
      if (ms < LONG_MS) return host.timeout(ms)
      const controller = host.controller()
      waits.set(controller, { due: host.now() + ms, ms })
      return { signal: controller.signal, clear: () => void waits.delete(controller) }
    },
    beat() {
      const now = host.now()
      for (const [controller, { due, ms }] of waits) {
        if (due > now) continue
        waits.delete(controller)
        controller.abort(new Error(`no answer within ${ms} ms`))
      }
    },
  }
}
