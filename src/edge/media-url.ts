import { isPictureType, isPictureUrl } from '../ports/picture.ts'

/**
 * What the URL of a picture or a file may be: a page may show it, and a model's server may be asked
 * to read it. Addresses by https or http, and data of kinds that run nothing.
 */
export const MEDIA_URL =
  /^(?:https?:\/\/[^\s]+|data:(?:image|audio|video)\/[\w.+-]+[;,]|data:(?:application\/(?:pdf|json)|text\/(?:plain|csv|markdown))[;,])/i

/** Also of what it holds: a provider would refuse a picture that is none. */
export function isMediaUrl(url: string): boolean {
  const [, mediaType = ''] = /^data:([^,]*)/i.exec(url) ?? []
  return MEDIA_URL.test(url) && (!isPictureType(mediaType) || isPictureUrl(url))
}
