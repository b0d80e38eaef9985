import { valueIn } from '../kernel/log/bodies.ts'
import { decide } from '../kernel/log/decide.ts'
import { PlimsollError } from '../ports/errors.ts'
import type { Json } from '../ports/message.ts'
import type { Envelope, Scope, SealedOp } from '../ports/op.ts'
import type { RegisterRow, ScopeStore } from '../ports/store.ts'
import { jsonIn } from '../text/json-in.ts'
import type { Replica } from './replica.ts'
import type { Refusal, Waiting } from './state.ts'

/** An op of this device's that its home refused. It was taken back, and is kept here alone. */
export interface Refused {
  readonly scope: Scope
  /** Its number in the scope's outbox. */
  readonly order: number
  /** What everyone may read of it. */
  readonly op: Envelope
  /** As they were written: JSON, or what an encrypted store made of it. `null`: forgotten since. */
  readonly bodies: readonly (string | null)[]
  readonly refusal: Refusal
  /**
   * Of a put in conflict: the value here, and the one that holds; absent: none, or not readable.
   */
  readonly mine?: Json
  readonly theirs?: Json
}

/**
 * What is to hold: the value that was refused, the one that is there, or another one, of the shape
 * that `mine` has: others a home with `checkPushed` refuses later, as `forbidden`.
 */
export type Resolution = 'mine' | 'theirs' | { readonly value: Json }

/** How often a put is tried again, where the register changed meanwhile. */
const TRIES = 8

/**
 * Writes what is to hold in place of what was refused, on the version that is there.
 *
 * @param open opens the scope as the app writes to it
 * @throws ERR_NOT_FOUND, ERR_INVALID_ARGUMENT, ERR_CONFLICT
 */
export async function resolve(
  replica: Replica,
  order: number,
  resolution: Resolution,
  { open, newId }: { readonly open: () => ScopeStore; readonly newId: () => string },
): Promise<void> {
  const { outbox } = await replica.view()
  const found = outbox.find((one) => one.order === order && one.refusal)
  if (!found) throw new PlimsollError('ERR_NOT_FOUND', `resolve: nothing is refused as ${order}`)
  if (resolution !== 'theirs') {
    const store = open()
    try {
      await putAgain(store, found, resolution, newId)
    } finally {
      await store.close()
    }
  }
  // What it says is elsewhere by now.
  await replica.discard([order])
}

async function putAgain(
  store: ScopeStore,
  { envelope, bodies }: Waiting,
  resolution: Exclude<Resolution, 'theirs'>,
  newId: () => string,
): Promise<void> {
  const { key, sources, index } = envelope
  const mine = bodies?.[0]
  // What is sealed holds in its own place alone, and nothing else may stand there in the clear.
  if (key === undefined || mine == null || jsonIn(mine) === undefined)
    throw new PlimsollError('ERR_INVALID_ARGUMENT', 'resolve: only a put that can be read can be put again')
  const body = resolution === 'mine' ? mine : JSON.stringify(resolution.value)
  let version: string | null = null
  for (let attempt = 0; attempt < TRIES; attempt++) {
    version = (await store.register(key))?.version ?? null
    const listed = { ...(sources && { sources }), ...(index && { index }) }
    const op: SealedOp = {
      envelope: { opId: newId(), kind: 'put', ids: [key], key, base: version, ...listed },
      bodies: [body],
    }
    const [result] = await store.commit([op], decide)
    if (result?.status === 'accepted') return
    if (result?.status === 'rejected')
      throw new PlimsollError('ERR_CONFLICT', `resolve: ${key} was deleted`, { version })
  }
  throw new PlimsollError('ERR_CONFLICT', `resolve: ${key} changed again and again`, { version })
}

/** What was refused, as an app sees it. */
export async function refusedOf(
  scope: Scope,
  { store }: Replica,
  { order, envelope, bodies = [], refusal }: Waiting,
): Promise<Refused> {
  const { key } = envelope
  const isConflict = refusal !== undefined && 'conflict' in refusal
  const row = isConflict && key !== undefined ? await store.register(key) : undefined
  const mine = key === undefined ? undefined : readable({ key, body: bodies[0] ?? null })
  const theirs = row && readable(row)
  return {
    scope,
    order,
    op: envelope,
    bodies,
    refusal: refusal as Refusal,
    ...(mine !== undefined && { mine }),
    ...(theirs !== undefined && { theirs }),
  }
}

/** What is sealed is no JSON. */
function readable(row: Pick<RegisterRow, 'key' | 'body'>): Json | undefined {
  try {
    return valueIn(row)
  } catch {
    return undefined
  }
}
