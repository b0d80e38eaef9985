import { inlineAttachments } from '../../inline-attachments.ts'
import { MAX_ENTRY_BYTES } from '../../kernel/log/message.ts'
import { readAttachment } from '../../operations/attachments.ts'
import type { Block, Context } from '../../ports/context.ts'
import { isPlimsollError, PlimsollError } from '../../ports/errors.ts'
import type { SessionBase } from '../../ports/memory.ts'
import type { Part } from '../../ports/message.ts'
import type { Model } from '../../ports/model.ts'
import { isPicture, isPictureType, isPictureUrl } from '../../ports/picture.ts'
import type { Attachment } from '../../ports/store.ts'

/** Of the pictures of a call: an object has 128 MB, and a request holds each several times. */
const MOST_BYTES = MAX_ENTRY_BYTES

/** A model that is shown the newest pictures of a session, whose log only names them. */
export function withPictures(model: Model, session: SessionBase): Model {
  return {
    id: model.id,
    async *complete(request) {
      const pictures = await newestPictures(session, request.context)
      const context = await inlineAttachments(withoutForeign(request.context), async (ref) => {
        const picture = pictures.get(ref)
        if (picture) return picture
        throw new PlimsollError('ERR_NOT_FOUND', `chat: ${ref} is not shown`, { id: ref })
      })
      yield* model.complete({ ...request, context })
    },
  }
}

/** What has data in it that are no picture of their type is only named. */
function withoutForeign(context: Context): Context {
  const isForeign = (part: Part): boolean =>
    part.type === 'media' && /^data:/i.test(part.url ?? '') && !isPictureUrl(part.url ?? '')
  const named = (part: Part): Part => {
    if (part.type !== 'media' || !isForeign(part)) return part
    const { url: _, ...rest } = part
    return rest
  }
  const blocks = context.blocks.map(
    (block): Block => (block.parts.some(isForeign) ? { ...block, parts: block.parts.map(named) } : block),
  )
  return { ...context, blocks }
}

/** Those that have room, by what names them. */
async function newestPictures(
  session: SessionBase,
  { blocks }: Context,
): Promise<ReadonlyMap<string, Attachment>> {
  const refs = blocks.flatMap(({ parts }) =>
    parts.flatMap((part) =>
      part.type === 'media' && part.url === undefined && isPictureType(part.mediaType)
        ? (part.ref ?? [])
        : [],
    ),
  )
  const found = new Map<string, Attachment>()
  let bytes = 0
  for (const ref of new Set(refs.toReversed())) {
    const picture = await readAttachment(session, ref).catch(missing)
    // Of another one a call would fail, and each one after it.
    if (!picture || !isPicture(picture.mediaType, picture.bytes)) continue
    bytes += picture.bytes.length * refs.filter((one) => one === ref).length
    if (bytes > MOST_BYTES) break
    found.set(ref, picture)
  }
  return found
}

/** @throws what does not say that there is none */
function missing(error: unknown): undefined {
  if (!isPlimsollError(error, 'ERR_NOT_FOUND')) throw error
}
