import { PlimsollError } from '../../ports/errors.ts'
import type { Attachment } from '../../ports/store.ts'
import type { EdgeSessionParts } from './edge-session.ts'

/**
 * A file of a session, as an edge has it. Loaded with the first that is opened.
 *
 * @throws ERR_OFFLINE, ERR_UNAUTHENTICATED
 */
export async function attachmentAt(
  { src, platform: { fetch }, access }: EdgeSessionParts,
  sessionId: string,
  id: string,
): Promise<Attachment | undefined> {
  // Whichever log of the session it is of.
  const query = new URLSearchParams({ session: sessionId, generation: '', id })
  const path = '/v1/sync/attachment'
  const failed = (
    code: 'ERR_OFFLINE' | 'ERR_UNAUTHENTICATED',
    reason: string,
    cause?: unknown,
  ): PlimsollError => new PlimsollError(code, `GET ${path}: ${reason}`, { cause })
  const ask = (token: string): Promise<Response> =>
    fetch(`${src}${path}?${query}`, { redirect: 'manual', headers: { authorization: `Bearer ${token}` } })
  const token = await access.token()
  try {
    let response = await ask(token)
    if (response.status === 401) response = await ask(await access.token(token))
    const { ok, status, headers } = response
    if (status === 404) return undefined
    if (status === 401) throw failed('ERR_UNAUTHENTICATED', 'the token was refused')
    if (!ok) throw failed('ERR_OFFLINE', `status ${status}`)
    const bytes = new Uint8Array(await response.arrayBuffer())
    return { id, mediaType: headers.get('content-type') ?? '', bytes }
  } catch (error) {
    throw error instanceof PlimsollError ? error : failed('ERR_OFFLINE', 'no answer', error)
  }
}
