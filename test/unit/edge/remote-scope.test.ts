import { describe, expect, it } from 'vitest'
import { answerScopeCall, remoteScope, type ScopeCall } from '../../../src/edge/replica/remote-scope.ts'
import { onlyAt } from '../../../src/edge/replica/rules.ts'
import { decide } from '../../../src/kernel/log/decide.ts'
import { allOrNone, look, once } from '../../../src/kernel/log/once.ts'
import { isPlimsollError, PlimsollError } from '../../../src/ports/errors.ts'
import type { Store } from '../../../src/ports/store.ts'
import { mapStore } from '../../../src/stores/map.ts'
import { accepted, append, erase, readAll, SCOPE } from '../../contract/samples.ts'
import { describeDifferential } from '../../everywhere/differential.ts'
import { lost, Namespace, platformError, waitingHost } from './namespace.ts'

function setUp(random?: () => number) {
  const store = mapStore()
  const namespace = new Namespace(store)
  const { host, waits } = waitingHost(random)
  const scope = remoteScope({ stub: () => namespace.get(), scope: SCOPE, host })
  return { store, namespace, waits, scope, home: store.open(SCOPE) }
}

async function failure(call: Promise<unknown>): Promise<PlimsollError> {
  const error: unknown = await call.catch((thrown: unknown) => thrown)
  if (!isPlimsollError(error)) throw error
  return error
}

function remoteStore(): Store {
  const store = mapStore()
  const namespace = new Namespace(store)
  const { host } = waitingHost()
  return { ...store, open: (scope) => remoteScope({ stub: () => namespace.get(), scope, host }) }
}

describe('a scope in another object', () => {
  describeDifferential('remote', remoteStore, { runs: 30 })

  it('keeps attachments and what was derived, byte for byte', async () => {
    const { scope } = setUp()
    const bytes = Uint8Array.from([1, 2, 3, 4]).subarray(1, 3)
    const attachment = { id: 'a', mediaType: 'image/png', bytes }
    expect(await scope.attach(attachment, 1)).toBe('stored')
    expect(await scope.attachment('a')).toEqual({ ...attachment, bytes: Uint8Array.from([2, 3]) })
    expect(await scope.attachment('b')).toBeUndefined()
    expect(await scope.derive({ key: 'k/1', bytes }, 0)).toBe(true)
    expect(await scope.derive({ key: 'k/2', bytes }, 0)).toBe(true)
    expect((await scope.derived('k/')).map(({ key }) => key)).toEqual(['k/1', 'k/2'])
    expect((await scope.derived('k/', 'k/1')).map(({ key }) => key)).toEqual(['k/2'])
    await scope.close()
  })

  it('sends no more bytes than a view shows', async () => {
    const sent: number[] = []
    const { host } = waitingHost()
    const bytes = new Uint8Array(1_000).subarray(10, 20)
    const stub = () => ({
      scope: async (_: unknown, call: ScopeCall) => {
        if (call.method === 'attach') sent.push(call.attachment.bytes.buffer.byteLength)
        if (call.method === 'derive') sent.push(call.row.bytes.buffer.byteLength)
      },
    })
    const scope = remoteScope({ stub, scope: SCOPE, host })
    await scope.attach({ id: 'a', mediaType: 'image/png', bytes }, 1)
    await scope.derive({ key: 'k', bytes }, 0)
    expect(sent).toEqual([10, 10])
  })

  it('commits by each rule of the core as its home would', async () => {
    for (const rule of [decide, allOrNone, once, look, onlyAt(1), onlyAt(7)]) {
      const [{ scope, home }, { home: other }] = [setUp(), setUp()]
      const ops = [append('op-2', ['m2']), append('op-3', ['m1'])]
      for (const one of [home, other]) await one.commit([append('op-1', ['m1'])], decide)
      expect(await scope.commit(ops, rule)).toEqual(await other.commit(ops, rule))
      expect(await readAll(home)).toEqual(await readAll(other))
    }
  })

  it('commits at one seq alone on demand, and says so again when the ops come again', async () => {
    const { scope, home } = setUp()
    await home.commit([append('op-1', ['m1']), append('op-2', ['m2'])], decide)
    const conflict = [{ status: 'conflict', version: null }]
    expect(await scope.commit([erase('op-3')], onlyAt(1))).toEqual(conflict)
    expect((await home.head()).ordinal).toBe(2)
    expect(await scope.commit([erase('op-3')], onlyAt(2))).toEqual([accepted(3)])
    expect(await scope.commit([erase('op-3')], onlyAt(2))).toEqual([{ ...accepted(3), repeated: true }])
    expect((await home.head()).ordinal).toBe(0)
  })

  it('refuses to commit by a function that has no name there, and sends nothing', async () => {
    const { scope, namespace } = setUp()
    const commit = scope.commit([append('op-1', ['m1'])], (ops, rows) => decide(ops, rows))
    expect((await failure(commit)).code).toBe('ERR_INVALID_ARGUMENT')
    expect(namespace.calls).toEqual([])
  })

  it('refuses rules and methods that it does not know, as of a newer version', async () => {
    const { home } = setUp()
    for (const name of ['newer', 'toString', '__proto__']) {
      const call = { method: 'commit', ops: [append('op-1', ['m1'])], rule: { name } } as unknown as ScopeCall
      expect((await failure(answerScopeCall(home, call))).code).toBe('ERR_INVALID_ARGUMENT')
    }
    const call = { method: 'newer' } as unknown as ScopeCall
    expect((await failure(answerScopeCall(home, call))).code).toBe('ERR_INVALID_ARGUMENT')
    expect((await home.head()).seq).toBe(0)
  })
})

describe('a call that fails (T19)', () => {
  it('is sent again through a new stub where the object was not reached, after waits with full jitter', async () => {
    const { scope, namespace, waits, home } = setUp(() => 0.25)
    namespace.faults = [
      { when: 'before', error: lost() },
      { when: 'after', error: lost() },
    ]
    const results = await scope.commit([append('op-1', ['m1'])], decide)
    // The second attempt was done, and nobody heard of it.
    expect(results).toEqual([{ ...accepted(1), repeated: true }])
    expect((await home.head()).ordinal).toBe(1)
    expect(namespace.stubs).toBe(3)
    expect(waits).toEqual([25, 50])
  })

  it('is given up after three attempts', async () => {
    const { scope, namespace } = setUp()
    const errors = [lost(), lost(), lost()]
    namespace.faults = errors.map((error) => ({ when: 'before', error }))
    const error = await failure(scope.head())
    expect(error.code).toBe('ERR_STORAGE')
    expect(error.cause).toBe(errors[2])
    expect(namespace.calls).toHaveLength(3)
    expect((await scope.head()).seq).toBe(0)
  })

  it('is never sent again at once to an object that is overloaded', async () => {
    for (const flags of [
      { overloaded: true },
      { overloaded: true, retryable: true },
      { overloaded: true, remote: true },
    ] as const) {
      const { scope, namespace, waits } = setUp()
      const cause = platformError('Durable Object is overloaded.', flags)
      namespace.faults = [{ when: 'before', error: cause }]
      expect(await failure(scope.head())).toMatchObject({ code: 'ERR_OVERLOADED', retryAfter: 5, cause })
      expect([namespace.calls.length, waits.length]).toEqual([1, 0])
    }
  })

  it('passes on what the object itself threw, as it is', async () => {
    const thrown = [
      platformError('a bug', { remote: true }),
      platformError('a bug', { remote: true, retryable: true }),
      new PlimsollError('ERR_NOT_FOUND', 'scope: no such scope'),
      Object.assign(new PlimsollError('ERR_STORAGE_FULL', 'commit: full'), { remote: true }),
      Object.assign(new PlimsollError('ERR_OVERLOADED', 'commit: busy', { retryAfter: 9 }), {
        retryable: true,
      }),
    ]
    for (const error of thrown) {
      const { scope, namespace } = setUp()
      namespace.faults = [{ when: 'after', error }]
      await expect(scope.head()).rejects.toBe(error)
      expect(namespace.calls).toHaveLength(1)
    }
  })

  it('is an error of storage otherwise, and not sent again', async () => {
    for (const cause of [new TypeError('no such method'), undefined, 'text', null]) {
      const { scope, namespace } = setUp()
      namespace.faults = [{ when: 'before', error: cause }]
      expect(await failure(scope.head())).toMatchObject({ code: 'ERR_STORAGE' })
      expect(namespace.calls).toHaveLength(1)
    }
  })
})
