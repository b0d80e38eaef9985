/**
 * What RPC makes of a context, checked by the compiler alone: a stub's call resolves with a
 * context, not with `never` or `any`, and not after a type that is nested without end.
 */
import { DurableObject } from 'cloudflare:workers'
import type { Context } from '../../src/index.ts'

declare class SessionObject extends DurableObject {
  context(session: string): Promise<Context>
}
declare const stub: DurableObjectStub<SessionObject>

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
/** What was transferred may be let go of: RPC adds that and nothing else. */
type Given = Omit<Awaited<ReturnType<typeof stub.context>>, keyof Disposable>

export const isContext: Same<Given, Omit<Context, never>> = true
const context = await stub.context('trip')
export const asGiven: Context = context
