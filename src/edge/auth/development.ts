import { PlimsollError } from '../../ports/errors.ts'
import type { Authenticate } from '../principal.ts'
import { isLoopback } from './loopback.ts'

/**
 * For a developer's own machine: everybody is the user `local`, whatever token they send. By the
 * host in the URL, since a page elsewhere can make its own name point here (DNS rebinding), but
 * cannot take one of these names.
 *
 * A call throws ERR_NOT_CONFIGURED for any other host than 127.0.0.1, [::1] and localhost.
 */
export const developmentAuthenticator: Authenticate = async (request) => {
  if (isLoopback(new URL(request.url))) return { userId: 'local' }
  throw new PlimsollError('ERR_NOT_CONFIGURED', 'authenticate: development works on loopback hosts only')
}
