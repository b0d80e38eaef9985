/**
 * Browsers cannot send headers with a WebSocket's upgrade, and a token in the URL ends in logs and
 * histories. So a client opens `new WebSocket(url, ['plimsoll.v1', 'bearer.' + token])`.
 */
import { unauthenticated } from './verify-token.ts'

/**
 * What the answer to an upgrade must name in `Sec-WebSocket-Protocol`: this alone, never the token.
 */
export const SOCKET_PROTOCOL = 'plimsoll.v1'
const BEARER = 'bearer.'

/** Whether a request asks for a WebSocket. */
export function isUpgrade(request: Request): boolean {
  return request.headers.get('Upgrade')?.toLowerCase() === 'websocket'
}

/**
 * The token among the subprotocols of a WebSocket's upgrade; `undefined`: no upgrade, not this
 * protocol, or no token.
 *
 * @throws ERR_UNAUTHENTICATED where there are several
 */
export function socketToken(request: Request): string | undefined {
  if (!isUpgrade(request)) return undefined
  const protocols = (request.headers.get('Sec-WebSocket-Protocol') ?? '')
    .split(',')
    .map((name) => name.trim())
  if (!protocols.includes(SOCKET_PROTOCOL)) return undefined
  const [token, another] = protocols.filter((name) => name.startsWith(BEARER))
  if (another !== undefined) throw unauthenticated('several tokens')
  return token?.slice(BEARER.length)
}
