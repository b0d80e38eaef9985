import { expect, it } from 'vitest'
import { loadO200k } from '../../src/counters/o200k.ts'
import { describeO200k } from '../everywhere/o200k.ts'

const made: Worker[] = []
const ended: Worker[] = []

/** Loads in a worker, as a page does that must not stall. */
const load = () =>
  loadO200k({
    worker: () => {
      const worker = new Worker(new URL('../../src/o200k-worker.ts', import.meta.url), { type: 'module' })
      made.push(worker)
      return {
        postMessage: (message) => worker.postMessage(message),
        addEventListener: (type, listener) => worker.addEventListener(type, listener as EventListener),
        terminate: () => {
          ended.push(worker)
          worker.terminate()
        },
      }
    },
  })

describeO200k(load, 300)

it('has its tables from one worker, which has been ended', async () => {
  await load()
  expect(made.length).toBe(1)
  expect(ended).toEqual(made)
})
