import { describe, expect, it, vi } from 'vitest'
import type { TablesWorker } from '../../../src/counters/o200k.ts'
import { describeO200k } from '../../everywhere/o200k.ts'

type Listener = Parameters<TablesWorker['addEventListener']>[1]

/** A worker that answers what it is asked as `answer` says, and notes whether it was ended. */
function workerThat(answer: (listeners: ReadonlyMap<string, Listener>) => void) {
  const listeners = new Map<string, Listener>()
  let ended = 0
  const worker: TablesWorker = {
    addEventListener: (type, listener) => listeners.set(type, listener),
    postMessage: () => queueMicrotask(() => answer(listeners)),
    terminate: () => {
      ended++
    },
  }
  return { make: () => worker, ended: () => ended }
}

// Modules that have loaded nothing yet, wherever this file runs.
vi.resetModules()
const { loadO200k, readTables } = await import('../../../src/counters/o200k.ts')

describe('loading the o200k counter', () => {
  it('that fails says why, ends the worker, and is tried again by the next call', async () => {
    const failing = [
      workerThat((listeners) => listeners.get('message')?.({ data: { reason: 'gone' } })),
      workerThat((listeners) => listeners.get('error')?.({ message: 'gone' })),
      workerThat((listeners) => listeners.get('messageerror')?.({ message: 'gone' })),
    ]
    for (const { make, ended } of failing) {
      await expect(loadO200k({ worker: make })).rejects.toMatchObject({
        code: 'ERR_COUNTER_UNAVAILABLE',
        message: 'loadO200k: no rank tables: gone',
        cause: expect.any(Error),
      })
      expect(ended()).toBe(1)
    }
    const broken = [
      workerThat((listeners) => listeners.get('error')?.({})),
      workerThat((listeners) => listeners.get('message')?.({ data: { tables: {} } })),
    ]
    for (const { make, ended } of broken) {
      await expect(loadO200k({ worker: make })).rejects.toMatchObject({ code: 'ERR_COUNTER_UNAVAILABLE' })
      expect(ended()).toBe(1)
    }
    const deaf = workerThat(() => {})
    const closed = {
      ...deaf.make(),
      postMessage: () => {
        throw new Error('closed')
      },
    }
    await expect(loadO200k({ worker: () => closed })).rejects.toMatchObject({
      message: expect.stringContaining('closed'),
    })
    expect(deaf.ended()).toBe(1)
    const none = () => {
      throw new Error('no workers here')
    }
    await expect(loadO200k({ worker: none })).rejects.toMatchObject({ code: 'ERR_COUNTER_UNAVAILABLE' })

    const tables = await readTables()
    const good = workerThat((listeners) => {
      // What else a worker may say is not for the loader.
      for (const data of [undefined, 'ready', { progress: 1 }, { tables }])
        listeners.get('message')?.({ data })
    })
    const loaded = await loadO200k({ worker: good.make })
    expect(good.ended()).toBe(1)
    expect(loaded).toMatchObject({ id: 'o200k', kind: 'exact' })
  })

  it('happens once: all calls give the same counter', async () => {
    expect(await loadO200k()).toBe(await loadO200k())
  })
})

describeO200k(loadO200k, 2_000)
