/** Ends objects in the middle of what they do. */
import { env, runInDurableObject } from 'cloudflare:test'
import { objectName } from '../../../src/edge/objects/object-name.ts'
import { SessionObject } from '../../../src/edge/objects/session-object.ts'
import { UserObject } from '../../../src/edge/objects/user-object.ts'
import type { Scope } from '../../../src/ports/op.ts'
import { encryption, openedIn } from './opened.ts'

/** The test runner logs every abort but those with this reason. */
const REASON = 'Instance dispose'

type Method = (this: { readonly ctx: DurableObjectState }, ...args: unknown[]) => unknown

/**
 * Steps of some objects: the statements that they run, and each call's beginning and end, which is
 * where others wait.
 */
export interface Steps {
  readonly names: readonly string[]
}

class Plan implements Steps {
  readonly names: string[] = []
  readonly #at: number

  constructor(at: number) {
    this.#at = at
  }

  step(state: DurableObjectState, name: string): void {
    this.names.push(name)
    if (this.names.length === this.#at) state.abort(REASON)
  }
}

const plans = new Map<string, Plan>()
const states = new WeakMap<object, DurableObjectState>()

/**
 * Counts the steps of the objects of some scopes together from now on, and ends the one that takes
 * step `at`, once. Of an object that another step ended nothing more is counted until it wakes.
 */
export function watch(scopes: readonly Scope[], at = Number.POSITIVE_INFINITY): Steps {
  const plan = new Plan(at)
  for (const scope of scopes) plans.set(objectName(scope), plan)
  return plan
}

/**
 * Which steps to try, from 1 on: calls' beginnings and ends above all, and of both these and the
 * statements as many as there is time for.
 */
export function chosen({ names }: Steps, most: number): readonly number[] {
  const all = names.map((name, index) => ({ place: index + 1, isBorder: / (begins|ends)$/.test(name) }))
  const borders = thinned(
    all.filter(({ isBorder }) => isBorder),
    Math.ceil((most * 3) / 4),
  )
  const statements = thinned(
    all.filter(({ isBorder }) => !isBorder),
    most - borders.length,
  )
  return [...borders, ...statements].map(({ place }) => place)
}

function thinned<Item>(items: readonly Item[], most: number): readonly Item[] {
  const every = Math.ceil(items.length / most)
  // From the end, which is where most is at stake.
  return items.filter((_, index) => (items.length - 1 - index) % every === 0)
}

function stepOf(state: DurableObjectState, name: string): void {
  plans.get(state.id.name ?? '')?.step(state, name)
}

function stubOf(scope: Scope): DurableObjectStub {
  return (scope.sessionId === undefined ? env.USERS : env.SESSIONS).getByName(objectName(scope))
}

let isBetween = false

/**
 * Puts itself between objects and their storage, once for all files of tests that run in one place.
 */
export async function sabotage(): Promise<void> {
  if (isBetween) return
  isBetween = true
  for (const { prototype } of [SessionObject, UserObject])
    for (const name of Object.getOwnPropertyNames(prototype)) {
      const method = Object.getOwnPropertyDescriptor(prototype, name)?.value as unknown
      if (typeof method === 'function' && name !== 'constructor')
        Object.defineProperty(prototype, name, { value: watched(name, method as Method) })
    }
  await runInDurableObject(stubOf({ userId: 'nobody' }), (_, { storage }) => {
    const sql = Object.getPrototypeOf(storage.sql) as SqlStorage
    const { exec } = sql
    sql.exec = function (this: SqlStorage, query: string, ...bindings: unknown[]) {
      const state = states.get(this)
      if (state) stepOf(state, query)
      return exec.call(this, query, ...bindings)
    } as typeof exec
  })
}

function watched(name: string, method: Method): Method {
  return function (...args) {
    const { ctx } = this
    states.set(ctx.storage.sql, ctx)
    stepOf(ctx, `${name} begins`)
    const result = method.apply(this, args)
    if (!(result instanceof Promise)) return result
    return result.then((value: unknown) => {
      stepOf(ctx, `${name} ends`)
      return value
    })
  }
}

/**
 * Rows of the objects of some scopes, without what differs from run to run: as one text, or a
 * difference would fill the screen.
 */
export async function dump(scopes: readonly Scope[]): Promise<string> {
  const found = []
  for (const scope of scopes)
    if (encryption) found.push(await openedRows(stubOf(scope)))
    else found.push(await plainRows(stubOf(scope)))
  return (
    JSON.stringify(found)
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'uuid')
      .replace(/\b1[5-9]\d{11}\b/g, 'time')
      // Keyed by a secret of each session; and the secret.
      .replace(/[0-9a-f]{64}/g, 'hash')
  )
}

/** Of what is encrypted no two runs have the same bytes. */
async function openedRows(stub: DurableObjectStub): Promise<unknown> {
  return Object.values(await openedIn(stub)).map(({ rows, registers }) => [
    rows.map(({ seq, kind, id, ordinal, round, body, derived }) => ({
      seq,
      kind,
      id,
      ordinal,
      round,
      body,
      derived,
    })),
    registers.map(({ key, seq, index, body }) => ({ key, seq, index, body })),
  ])
}

function plainRows(stub: DurableObjectStub): Promise<unknown> {
  return runInDurableObject(stub, (_, { storage: { sql } }) => {
    const all = (query: string): unknown[] => sql.exec(query).toArray()
    if (all(`SELECT 1 FROM sqlite_master WHERE name = 'plimsoll_log'`).length === 0) return []
    return [
      all(
        'SELECT name, seq, kind, id, ordinal, round, body, derived FROM plimsoll_log JOIN plimsoll_scope USING (scope) ORDER BY n',
      ),
      all('SELECT scope, sort, seq, places, body FROM plimsoll_register ORDER BY scope, sort'),
      all('SELECT scope, grp, sort, key FROM plimsoll_index ORDER BY scope, grp, sort, key'),
      all('SELECT scope, grp, count, weight FROM plimsoll_sum ORDER BY scope, grp'),
      all('SELECT scope, slot, id, seq, chain FROM plimsoll_mark ORDER BY scope, slot'),
    ]
  })
}
