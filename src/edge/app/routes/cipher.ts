import type { MiddlewareHandler } from 'hono'
import { PlimsollError } from '../../../ports/errors.ts'
import { MOST_ATTACHED } from '../../../sync/home-attachments.ts'
import type { AppEnv } from '../app-env.ts'
import { readBytes } from '../body.ts'
import { onUser, userScope } from '../objects.ts'
import { acceptedSocket } from './live.ts'

const SYNC = /\/v1\/sync\/(?:push|pull|attachment)$/
const LIVE = /\/v1\/(?:me|sessions\/[^/]+)\/live$/
const ERASE = /\/v1\/me$/

/**
 * Where the edge keeps ciphertext alone, the user's object is the home of all that the user has;
 * what would have to read it is not there.
 */
export const cipherOnly: MiddlewareHandler<AppEnv> = async (context, next) => {
  const [settings, principal] = [context.get('settings'), context.get('principal')]
  const { req } = context
  if (req.method === 'DELETE' && ERASE.test(req.path)) return next()
  const user = userScope(principal)
  if (LIVE.test(req.path)) return acceptedSocket(context, user)
  if (!SYNC.test(req.path))
    throw new PlimsollError('ERR_NOT_FOUND', 'this edge keeps ciphertext: no such route')
  const { url, method, raw } = req
  const type = req.header('Content-Type')
  const bytes = method === 'GET' ? undefined : await readBytes(raw, MOST_ATTACHED)
  const headers = type === undefined ? {} : { 'Content-Type': type }
  const given = { url, method, headers, ...(bytes && { bytes: new Uint8Array(bytes) }) }
  const {
    status,
    headers: answered,
    body,
  } = await onUser(settings, user, async (object) => object.cipher(user, given))
  return new Response(body, { status, headers: { ...answered } })
}

/** Operators find and export nothing that can be read. */
export const cipherErased: MiddlewareHandler<AppEnv> = async ({ req, var: { settings } }, next) => {
  if (settings.ciphertext && req.method !== 'DELETE')
    throw new PlimsollError('ERR_NOT_FOUND', 'this edge keeps ciphertext: no such route')
  await next()
}
