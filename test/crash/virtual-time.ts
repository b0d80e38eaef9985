import { webHost } from '../../src/platform/web.ts'
import type { Host } from '../../src/ports/host.ts'
import { ONE_SECRET } from '../contract/full-memory.ts'

/** A clock that goes on when nothing else does: to the next timer. */
export class VirtualTime {
  now = 1_700_000_000_000
  readonly #timers = new Set<{ readonly at: number; readonly fire: () => void }>()

  /**
   * @param name by which its ids differ from others'
   * @param offset by how many milliseconds its clock is wrong. Default 0
   */
  host(name: string, offset = 0): Host {
    let ids = 0
    return {
      ...webHost,
      now: () => this.now + offset,
      newId: () => `${name}/${++ids}`,
      newSecret: () => ONE_SECRET,
      timeout: (ms) => {
        const controller = webHost.controller()
        const timer = { at: this.now + ms, fire: () => controller.abort(undefined) }
        this.#timers.add(timer)
        return { signal: controller.signal, clear: () => void this.#timers.delete(timer) }
      },
    }
  }

  wait(ms: number): Promise<void> {
    return new Promise((fire) => this.#timers.add({ at: this.now + ms, fire }))
  }

  /** @throws where work waits for nothing, or for longer than an hour */
  async run<Value>(work: Promise<Value>): Promise<Value> {
    let isOver = false
    const end = (): void => {
      isOver = true
    }
    work.then(end, end)
    const until = this.now + 3_600_000
    for (;;) {
      // All that needs no time is done before it.
      await new Promise<void>((resolve) => setImmediate(resolve))
      if (isOver) return work
      let next: { readonly at: number; readonly fire: () => void } | undefined
      for (const timer of this.#timers) if (!next || timer.at < next.at) next = timer
      if (!next || next.at > until) throw new Error('nothing happens any more')
      this.#timers.delete(next)
      this.now = Math.max(this.now, next.at)
      next.fire()
    }
  }
}
