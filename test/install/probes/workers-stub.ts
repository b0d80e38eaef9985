/** What RPC makes of a context: the object of docs/stores.md, called through its stub. */
import type { Context } from 'plimsoll'
import type { SessionObject } from '../stores/session-object.ts'

declare const stub: DurableObjectStub<SessionObject>

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
/** RPC adds only that it may be let go of. */
type Given = Omit<Awaited<ReturnType<typeof stub.context>>, keyof Disposable>

/** Neither `never` nor `any`. */
export const isContext: Same<Given, Omit<Context, never>> = true
export const asGiven: Context = await stub.context('trip')
