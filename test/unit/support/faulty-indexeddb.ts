import { IDBCursor, IDBDatabase, IDBFactory, IDBIndex, IDBKeyRange, IDBObjectStore } from 'fake-indexeddb'

export type Factory = InstanceType<typeof IDBFactory>
type Methods = Record<string, (...args: unknown[]) => unknown>

/**
 * What the engine is asked for, in its own words: `log.getAll`, `log.[scope+entry].get`,
 * `transaction`, `open`.
 */
export const requests: string[] = []

/** Throws what a request fails with; does nothing for one that works. */
let fault: (request: string, index: number) => void = () => {}

/** From now on every request of the engine goes through `next`, which may throw; counted from 0. */
export function failWith(next: (request: string, index: number) => void): void {
  requests.length = 0
  fault = next
}

/** The first request that matches fails, and no other. @returns whether one did */
export function failOnce(matches: (request: string, index: number) => boolean): () => boolean {
  let failed = false
  failWith((request, index) => {
    if (failed || !matches(request, index)) return
    failed = true
    throw engineError('UnknownError')
  })
  return () => failed
}

export function heal(): void {
  failWith(() => {})
}

/** An error as the engine throws it. */
export function engineError(name: string): Error {
  return new DOMException(`simulated ${name}`, name)
}

function intercept(owner: object, methods: readonly string[], name: (self: never) => string): void {
  const target = owner as Methods
  for (const method of methods) {
    const original = target[method]
    if (!original) continue
    target[method] = function (this: never, ...args: unknown[]) {
      requests.push(`${name(this)}${method}`)
      fault(requests.at(-1) ?? '', requests.length - 1)
      return original.apply(this, args)
    }
  }
}

interface Named {
  readonly name: string
  readonly objectStore?: { readonly name: string }
}

const READS = [
  'get',
  'getAll',
  'getKey',
  'getAllKeys',
  'getAllRecords',
  'openCursor',
  'openKeyCursor',
  'count',
]
intercept(
  IDBObjectStore.prototype,
  [...READS, 'add', 'put', 'delete', 'clear'],
  ({ name }: Named) => `${name}.`,
)
intercept(IDBIndex.prototype, READS, ({ name, objectStore }: Named) => `${objectStore?.name}.${name}.`)
intercept(IDBCursor.prototype, ['continue', 'advance', 'delete', 'update'], () => 'cursor.')
intercept(IDBDatabase.prototype, ['transaction'], () => '')
intercept(IDBFactory.prototype, ['open'], () => '')

export { IDBFactory, IDBKeyRange, IDBObjectStore }
