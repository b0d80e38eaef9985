/**
 * What the URL of a picture or a file may be: a page may show it, and a model's server may be asked
 * to read it. Addresses by https or http, and data of kinds that run nothing.
 */
export const MEDIA_URL =
  /^(?:https?:\/\/[^\s]+|data:(?:image|audio|video)\/[\w.+-]+[;,]|data:(?:application\/(?:pdf|json)|text\/(?:plain|csv|markdown))[;,])/i

export function isMediaUrl(url: string): boolean {
  return MEDIA_URL.test(url)
}
