/**
 * Ends a sentence: a mark of the end before a space, one of the CJK ones, or the end of the line.
 */
const SENTENCE = /[^\n]*?(?:[.!?…]["'”’)\]]*(?=\s|$)|[。！？]|(?=\n)|$)/gu

/** The sentences of a text that hold a letter or a digit, in order. A line ends a sentence. */
export function sentences(text: string): readonly string[] {
  return [...text.matchAll(SENTENCE)]
    .map(([sentence]) => sentence.trim())
    .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence))
}
