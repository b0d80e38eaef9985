import { socketToken } from './socket-token.ts'
import { unauthenticated } from './verify-token.ts'

/** RFC 6750, section 2.1. The scheme is written in any case (RFC 9110, section 11.1). */
const BEARER = /^Bearer +([\w.~+/-]+=*)$/i

/**
 * The token of a request: of its `Authorization` header, else of the subprotocols of a WebSocket's
 * upgrade; never of the URL. `undefined`: it has none.
 *
 * @throws ERR_UNAUTHENTICATED where the header is there and holds no bearer token
 */
export function bearerToken(request: Request): string | undefined {
  const header = request.headers.get('Authorization')
  if (header === null) return socketToken(request)
  const token = BEARER.exec(header)?.[1]
  if (token === undefined) throw unauthenticated('not a bearer token')
  return token
}
