import { webHost } from '../../../src/platform/web.ts'
import type { Host } from '../../../src/ports/host.ts'

/**
 * A host that counts the time limits which neither ended nor were taken back. Files share a
 * process: a count of all its timers has those of others, too.
 */
export function ownTimeouts() {
  const open = new Set<object>()
  const { timeout: webTimeout } = webHost
  const timeout: Host['timeout'] = (ms) => {
    const { signal, clear } = webTimeout(ms)
    open.add(signal)
    signal.addEventListener('abort', () => open.delete(signal))
    return {
      signal,
      clear() {
        open.delete(signal)
        clear()
      },
    }
  }
  return { host: { ...webHost, timeout }, open }
}
