import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import { base64url } from '../../ports/base64.ts'

/** Name of the one object of a deployment. */
export const DEPLOYMENT = 'deployment'

/** Name of the object, of the same class, that holds a tenant's budgets. */
export function tenantName(tenant: string): string {
  return `tenant.${base64url(sha256(utf8ToBytes(tenant)))}`
}
