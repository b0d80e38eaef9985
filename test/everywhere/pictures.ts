/** How pictures begin, by their types: a byte a character. */
export const HEADS: { readonly [mediaType: string]: string } = {
  'image/jpeg': '\xff\xd8\xff',
  'image/png': '\x89PNG\r\n\x1a\n',
  'image/gif': 'GIF89a',
  'image/webp': 'RIFF\x04\x00\x00\x00WEBP',
}

/** What a program takes for a picture of that type. */
export function pictureOf(mediaType: string, size = 16): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size)
  for (const [place, character] of [...(HEADS[mediaType] ?? '')].entries())
    bytes[place] = character.charCodeAt(0)
  return bytes
}
