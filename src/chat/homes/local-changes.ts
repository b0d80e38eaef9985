/**
 * What changes a conversation that is kept in this browser: loaded behind what answers, before the
 * page may be offline, or when somebody wants it earlier.
 */
import { attach } from '../../operations/attachments.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { MediaPart } from '../../ports/message.ts'
import { isPicture, isPictureType } from '../../ports/picture.ts'
import { utf8Length } from '../../ports/utf8-length.ts'
import { MAX_ID_BYTES } from '../../text/json.ts'
import type { Upload } from '../ports.ts'
import type { LocalMemorySession } from './local-memory.ts'

export { switchTo } from '../../operations/branches.ts'
export { editMessage, rewind, undo } from '../../operations/rewind.ts'

/**
 * Tokens of a file that is no picture: a model is told its type, its name and its id alone, in
 * fewer than these. Without them it would count as a picture does.
 */
const TOLD_TOKENS = 100

/**
 * Keeps a file under an id, once.
 *
 * @throws ERR_UNSUPPORTED_MEDIA_TYPE: a picture is not of its type, and no model would take it
 */
export async function attachFile(
  session: LocalMemorySession,
  { mediaType, bytes, name }: Upload,
  id: string,
): Promise<MediaPart> {
  if (isPictureType(mediaType) && !isPicture(mediaType, bytes))
    throw new PlimsollError(
      'ERR_UNSUPPORTED_MEDIA_TYPE',
      `chat: ${name} is not of the type that it is said to be, ${mediaType}`,
      { argument: 'uploads', id: name },
    )
  const tokens = mediaType.startsWith('image/') ? {} : { tokens: TOLD_TOKENS }
  return attach(session, { mediaType, bytes, id, ...named(name), ...tokens })
}

/** Of a long name what fits, with its ending: 64 code points are 256 bytes at most. */
function named(name: string): { readonly name?: string } {
  if (name === '') return {}
  return { name: utf8Length(name) <= MAX_ID_BYTES ? name : [...name].slice(-64).join('') }
}
