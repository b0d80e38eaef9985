/**
 * What changes a conversation that is kept in this browser: loaded behind what answers, before the
 * page may be offline, or when somebody wants it earlier.
 */
import { MAX_ENTRY_BYTES } from '../../kernel/log/message.ts'
import { attach } from '../../operations/attachments.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { MediaPart } from '../../ports/message.ts'
import { isPicture, isPictureType } from '../../ports/picture.ts'
import { utf8Length } from '../../ports/utf8-length.ts'
import { MAX_ID_BYTES } from '../../text/json.ts'
import type { Problem, Upload } from '../ports.ts'
import type { LocalMemorySession } from './local-memory.ts'
import { problemOf } from './problem.ts'

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
  checkType(name, mediaType, bytes)
  const tokens = mediaType.startsWith('image/') ? {} : { tokens: TOLD_TOKENS }
  return attach(session, { mediaType, bytes, id, ...named(name), ...tokens })
}

/**
 * Of files, those that {@link attachFile} takes, and why it does not take the others: known when
 * they are added, and not only when their message is sent.
 *
 * @param comma what stands between their names
 */
export async function checkFiles(
  files: readonly File[],
  comma: string,
): Promise<{ readonly taken: readonly File[]; readonly problem: Problem | undefined }> {
  const taken: File[] = []
  const problems = new Map<string, Problem>()
  for (const file of files)
    try {
      await checkFile(file)
      taken.push(file)
    } catch (error) {
      const problem = problemOf(error, 'ERR_INTERNAL')
      const before = problems.get(problem.code)
      const id = before ? before.id + comma + file.name : file.name
      problems.set(problem.code, { ...problem, id, retryable: false })
    }
  const [first, ...others] = problems.values()
  return { taken, problem: first && { ...first, others } }
}

async function checkFile(file: File): Promise<void> {
  const { name, type, size } = file
  if (size > MAX_ENTRY_BYTES)
    throw new PlimsollError('ERR_ENTRY_TOO_LARGE', `chat: ${name} has ${size} bytes`, {
      size,
      limit: MAX_ENTRY_BYTES,
      id: name,
    })
  // A folder that was dropped cannot be read, nor a file that is gone by now.
  checkType(name, type, new Uint8Array(await file.slice(0, 12).arrayBuffer()))
}

/** @param bytes at least the first twelve */
function checkType(name: string, mediaType: string, bytes: Uint8Array): void {
  if (isPictureType(mediaType) && !isPicture(mediaType, bytes))
    throw new PlimsollError(
      'ERR_UNSUPPORTED_MEDIA_TYPE',
      `chat: ${name} is not of the type that it is said to be, ${mediaType}`,
      { argument: 'uploads', id: name },
    )
}

/** Of a long name what fits, with its ending: 64 code points are 256 bytes at most. */
function named(name: string): { readonly name?: string } {
  if (name === '') return {}
  return { name: utf8Length(name) <= MAX_ID_BYTES ? name : [...name].slice(-64).join('') }
}
