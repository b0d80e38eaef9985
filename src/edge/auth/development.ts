import { PlimsollError } from '../../ports/errors.ts'
import type { Authenticate } from '../principal.ts'
import { isLoopback, isLoopbackHost } from './loopback.ts'

/**
 * For a developer's own machine: everybody is the user `local`, whatever token they send. By the
 * host in the URL, since a page elsewhere can make its own name point here (DNS rebinding), but
 * cannot take one of these names. By the header `Host` too: in development the URL can be that of
 * another header, which such a page may send (`MF-Original-URL`).
 *
 * @param key what `npm start` sends along with what it hands on. Default: none
 * @returns a call of it throws ERR_NOT_CONFIGURED for any other host than 127.0.0.1, [::1] and
 * localhost.
 */
export function developmentAuthenticator(key = ''): Authenticate {
  return async function authenticate({ url, headers }) {
    const host = headers.get('Host')
    const isLocal = isLoopback(new URL(url)) && (host === null || isLoopbackHost(host))
    if (isLocal && (key === '' || headers.get('Plimsoll-Development') === key)) return { userId: 'local' }
    throw new PlimsollError('ERR_NOT_CONFIGURED', 'authenticate: development works on loopback hosts only')
  }
}
