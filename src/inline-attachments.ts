import { keptOf } from './kernel/context/kept.ts'
import { base64 } from './ports/base64.ts'
import type { Block, Context } from './ports/context.ts'
import { isPlimsollError } from './ports/errors.ts'
import type { Part } from './ports/message.ts'
import type { Attachment } from './ports/store.ts'
import { checkBuilt } from './render/check-built.ts'
import { checkFunction } from './text/check-value.ts'

/**
 * Contract: the bytes that a media part names by its `ref`; rejects with ERR_NOT_FOUND where there
 * are none.
 */
export type ReadAttachment = (ref: string) => Promise<Pick<Attachment, 'mediaType' | 'bytes'>>

/**
 * A context whose pictures are in it, as `data:` URLs, for a provider that is to see them:
 * renderers show an attachment only as `[image/png attachment …]`. What is no picture, has a URL
 * already, or is not there any more, stays as it is. The same attachments give the same bytes, so
 * that a prompt cache holds.
 *
 * @throws ERR_STORAGE; ERR_INVALID_ARGUMENT: it is no context, or `read` no function
 * @example
 * ```ts
 * import { inlineAttachments, readAttachment, toAnthropic } from 'plimsoll'
 *
 * const context = await session.context()
 * const request = toAnthropic(await inlineAttachments(context, (ref) => readAttachment(session, ref)))
 * ```
 */
export async function inlineAttachments(context: Context, read: ReadAttachment): Promise<Context> {
  checkBuilt('inlineAttachments', context)
  checkFunction('inlineAttachments', 'read', read)
  const urls = new Map<string, string>()
  for (const ref of new Set(
    context.blocks.flatMap(({ parts }) => parts.flatMap((part) => refOf(part) ?? [])),
  )) {
    const url = await dataUrl(read, ref)
    if (url !== undefined) urls.set(ref, url)
  }
  const inlined = (part: Part): Part => {
    const url = urls.get(refOf(part) ?? '')
    return url === undefined ? part : ({ ...part, url } as Part)
  }
  // What has none stays the same object, which was rendered and written before.
  const blocks = context.blocks.map(
    (block): Block =>
      block.parts.some((part) => urls.has(refOf(part) ?? ''))
        ? { ...block, parts: block.parts.map(inlined) }
        : block,
  )
  const kept = keptOf.get(context.blocks)
  if (kept) keptOf.set(blocks, kept)
  return { ...context, blocks }
}

/** What a picture's part names, unless it has a URL. */
function refOf(part: Part): string | undefined {
  if (part.type !== 'media' || part.url !== undefined) return undefined
  return part.mediaType.startsWith('image/') ? part.ref : undefined
}

async function dataUrl(read: ReadAttachment, ref: string): Promise<string | undefined> {
  try {
    const { mediaType, bytes } = await read(ref)
    return `data:${mediaType};base64,${base64(bytes)}`
  } catch (error) {
    if (isPlimsollError(error, 'ERR_NOT_FOUND')) return undefined
    throw error
  }
}
