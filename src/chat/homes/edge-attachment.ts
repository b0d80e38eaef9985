import type { Attachment } from '../../ports/store.ts'
import { httpTransport } from '../../sync/http.ts'
import { NO_GENERATION } from '../../sync/state.ts'
import type { EdgeSessionParts } from './edge-session.ts'

/**
 * A file of a session, as an edge has it. Loaded with the first that is opened.
 *
 * @throws as `Transport.attachment`
 */
export function attachmentAt(
  { src, platform: { fetch }, access }: EdgeSessionParts,
  sessionId: string,
  id: string,
): Promise<Attachment | undefined> {
  const transport = httpTransport({ url: src, fetch, token: (refused) => access.token(refused) })
  // Whichever log of the session it is of.
  return transport.attachment({ sessionId, generation: NO_GENERATION, id }, new AbortController().signal)
}
