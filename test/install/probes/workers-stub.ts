/** What RPC makes of a context: the object of docs/stores.md, called through its stub. */
import type { Context } from 'plimsoll'
import type { SessionObject } from '../stores/session-object.ts'

declare const stub: DurableObjectStub<SessionObject>

type IsAny<Type> = 0 extends 1 & Type ? true : false
type IsNever<Type> = [Type] extends [never] ? true : false

const context = await stub.context('trip')
export const isAny: IsAny<typeof context> = false
export const isNever: IsNever<typeof context> = false
export const asGiven: Context = context
