/** As many classes as a pre-tokenizer has, by UTF-16 unit. */
const classes = Uint8Array.from({ length: 0x1_0000 }, (_, unit) => classOf(String.fromCharCode(unit)))

function classOf(character: string): number {
  if (/\p{L}/u.test(character)) return 1
  if (/\p{N}/u.test(character)) return 2
  return /\s/u.test(character) ? 3 : 4
}

/**
 * The least that a counter which looks at each character can do: counts the runs of characters of
 * one class.
 */
export function classPass(text: string): number {
  let runs = 0
  let last = 0
  for (let index = 0; index < text.length; index++) {
    const found = classes[text.charCodeAt(index)] as number
    if (found !== last) runs++
    last = found
  }
  return runs
}
