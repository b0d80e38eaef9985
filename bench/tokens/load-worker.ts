/** `plimsoll/o200k/worker` in a thread of Node, which has no `self`. */
import { parentPort } from 'node:worker_threads'

const port = parentPort
if (!port) throw new Error('load-worker.ts runs in a worker')
Object.assign(globalThis, {
  self: {
    addEventListener: (type: 'message', listener: (event: { data: unknown }) => void) =>
      port.on(type, (data: unknown) => listener({ data })),
    postMessage: (message: unknown, transfer: readonly ArrayBuffer[]) => port.postMessage(message, transfer),
  },
})
await import('../../src/o200k-worker.ts')
