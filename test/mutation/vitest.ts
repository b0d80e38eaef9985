/**
 * As much of Vitest as the suites need, without its runner: tests are collected, and one of them
 * can be run as often as it takes. Assertions and spies are Vitest's own.
 */
type Body = (...input: never[]) => unknown
type Hook = () => unknown
type Declare = (name: string, ...rest: readonly unknown[]) => void

interface Suite {
  readonly name: string
  readonly parent: Suite | undefined
  readonly hooks: Readonly<Record<'beforeAll' | 'beforeEach' | 'afterEach' | 'afterAll', Hook[]>>
}

export interface Test {
  readonly name: string
  readonly run: () => Promise<void>
}

let suite: Suite = suiteOf('', undefined)
let tests: Test[] = []
let pending: unknown[] = []
const finished: Hook[] = []

/** The tests of a file, which `load` imports. */
export async function collect(load: () => Promise<unknown>): Promise<readonly Test[]> {
  suite = suiteOf('', undefined)
  tests = []
  pending = []
  await load()
  await Promise.all(pending)
  return tests
}

export { assert, expect, expectTypeOf, vi } from 'vitest'

export function inject(name: string): unknown {
  return name === 'histories' ? 20 : undefined
}

export const beforeAll = hook('beforeAll')
export const beforeEach = hook('beforeEach')
export const afterEach = hook('afterEach')
export const afterAll = hook('afterAll')

/** Called once the test that runs is over. */
export function onTestFinished(body: Hook): void {
  finished.push(body)
}

export const describe = variants((name, body) => {
  const outer = suite
  suite = suiteOf(`${nameOf(outer)}${name} > `, outer)
  pending.push(body())
  suite = outer
})

export const it = variants((name, body) => {
  const own = suite
  tests.push({ name: `${nameOf(own)}${name}`, run: () => run(own, body) })
})
export const test = it

async function run(own: Suite, body: Hook): Promise<void> {
  const suites: Suite[] = []
  for (let one: Suite | undefined = own; one; one = one.parent) suites.unshift(one)
  const call = async (kind: keyof Suite['hooks'], all: readonly Suite[]): Promise<void> => {
    for (const { hooks } of all) for (const one of hooks[kind]) await one()
  }
  try {
    await call('beforeAll', suites)
    await call('beforeEach', suites)
    await body()
  } finally {
    for (const one of finished.splice(0).toReversed()) await one()
    await call('afterEach', suites.toReversed())
    await call('afterAll', suites.toReversed())
  }
}

function suiteOf(name: string, parent: Suite | undefined): Suite {
  return { name, parent, hooks: { beforeAll: [], beforeEach: [], afterEach: [], afterAll: [] } }
}

function nameOf({ name }: Suite): string {
  return name
}

function hook(kind: keyof Suite['hooks']): (body: Hook) => void {
  return (body) => {
    suite.hooks[kind].push(body)
  }
}

/** `it` and `describe` with `each`, `for` and their kin. Options may stand before the body. */
function variants(declare: (name: string, body: Hook) => void) {
  const bodyOf = (rest: readonly unknown[]): Body | undefined =>
    rest.find((one): one is Body => typeof one === 'function')
  const plain: Declare = (name, ...rest) => {
    const body = bodyOf(rest)
    if (body) declare(name, () => body({ skip: () => {} } as never))
  }
  const nothing: Declare = () => {}
  const each = (rows: readonly unknown[]): Declare => {
    return (name, ...rest) => {
      const body = bodyOf(rest)
      for (const [index, row] of rows.entries()) {
        const input = (Array.isArray(row) ? row : [row]) as never[]
        if (body) declare(`${name} #${index}`, () => body(...input))
      }
    }
  }
  const oneByOne = (rows: readonly unknown[]): Declare => {
    return (name, ...rest) => {
      const body = bodyOf(rest)
      for (const [index, row] of rows.entries())
        if (body) declare(`${name} #${index}`, () => body(row as never, { skip: () => {} } as never))
    }
  }
  return Object.assign(plain, {
    each,
    for: oneByOne,
    skip: nothing,
    todo: nothing,
    skipIf: (isSkipped: unknown) => (isSkipped ? nothing : plain),
    runIf: (isRun: unknown) => (isRun ? plain : nothing),
  })
}
