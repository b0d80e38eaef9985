/** A line that is like no other one. @param number of the line, each used once */
export function lineOf(number: number, word: string): string {
  const kind = ['train', 'ferry', 'hotel', 'museum', 'ticket', 'harbour', 'garden'][number % 7]
  return `Line ${number} of ${kind}-${number * 7919} says ${word} about ${kind}${number}.`
}
