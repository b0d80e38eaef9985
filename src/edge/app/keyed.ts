import type { HonoRequest } from 'hono'
import { base64url } from '../../ports/base64.ts'
import { invalid } from '../../text/json.ts'
import type { KeyedRequest } from '../rows/answers.ts'

/** What a header can hold without being guessed at: of other bytes nobody says what they mean. */
const KEY = /^[ -~]{1,256}$/
const HEADER = 'Idempotency-Key'
const NOTHING = new Uint8Array()

/**
 * What a request is known by that has an `Idempotency-Key`: method, path and body, as they came.
 * Undefined: it has none. @throws ERR_INVALID_ARGUMENT
 */
export async function keyedOf(
  req: HonoRequest,
  body: Uint8Array = NOTHING,
): Promise<KeyedRequest | undefined> {
  const key = req.header(HEADER)
  if (key === undefined) return undefined
  if (!KEY.test(key)) throw invalid('the request', HEADER, 'must be 1 to 256 characters of printable ASCII')
  const place = new TextEncoder().encode(JSON.stringify([req.method, req.path]))
  const bytes = new Uint8Array(place.length + body.length)
  bytes.set(place)
  bytes.set(body, place.length)
  return { key, request: base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))) }
}
