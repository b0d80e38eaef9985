import { PlimsollError } from '../../ports/errors.ts'
import type { EdgeBindings } from './bindings.ts'

const KNOWN: readonly string[] = ['eu', 'us', 'fedramp', 'fedramp-high'] satisfies DurableObjectJurisdiction[]

/**
 * An environment whose objects run and store in one jurisdiction. Give it to `createApp`, and to
 * the constructors of both classes of objects, which reach each other: an object that is left out
 * would look for the others elsewhere, and find none.
 *
 * A name is another object in each jurisdiction, so it is chosen once, before anything is stored.
 * workerd on one's own machine knows none.
 *
 * @param jurisdiction `undefined` or empty: wherever the platform puts them
 * @throws ERR_NOT_CONFIGURED: a jurisdiction that is not known
 * @example In a Worker:
 * ```ts
 * import { inJurisdiction, SessionObject as Session, type SessionSettings } from 'plimsoll/cloudflare'
 *
 * export class SessionObject extends Session<Env> {
 *   constructor(ctx: DurableObjectState, env: Env) {
 *     super(ctx, inJurisdiction(env, 'eu'))
 *   }
 *   protected settings(): SessionSettings {
 *     return { memory: { budget: 16_000 } }
 *   }
 * }
 * ```
 */
export function inJurisdiction<Env extends EdgeBindings>(env: Env, jurisdiction: string | undefined): Env {
  if (!jurisdiction) return env
  if (!KNOWN.includes(jurisdiction))
    throw new PlimsollError(
      'ERR_NOT_CONFIGURED',
      `inJurisdiction: the name is unknown; known are ${KNOWN.join(', ')}`,
    )
  const name = jurisdiction as DurableObjectJurisdiction
  const { SESSIONS, USERS, DEPLOYMENT } = env
  return {
    ...env,
    SESSIONS: SESSIONS.jurisdiction(name),
    USERS: USERS.jurisdiction(name),
    ...(DEPLOYMENT && { DEPLOYMENT: DEPLOYMENT.jurisdiction(name) }),
  }
}
