import { webHost } from '../../platform/web.ts'
import { callObject } from '../replica/call-object.ts'
import { type Ask, TokenLease } from '../rows/token-lease.ts'
import type { DeploymentObject } from './deployment-object.ts'
import type { TenantBudgets } from './settings.ts'

/** What an object takes in advance of a wider budget, in what one of its askers takes of it. */
const ASKERS = 4

/**
 * Tokens that an object takes of a wider budget, for several of its askers at once: one object
 * answers all of them.
 *
 * @param stub Contract: gives a new stub of the object that keeps the wider budget
 * @param tenant whose budget it is. Default: the deployment's
 */
export function widerBudget(
  storage: DurableObjectStorage,
  { wanted }: Ask,
  stub: () => DurableObjectStub<DeploymentObject>,
  tenant?: TenantBudgets,
): TokenLease {
  return new TokenLease(storage, wanted * ASKERS, (ask) =>
    callObject(stub, webHost, 'budget', (object) => object.lease(ask, tenant)),
  )
}
