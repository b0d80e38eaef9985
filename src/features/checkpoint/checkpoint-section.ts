import type { SectionUse } from '../../ports/context.ts'
import { capOutput } from '../../text/cap.ts'

/**
 * The checkpoint as a section of the tail: whole if it fits, else its shape, as an old output of a
 * tool is shown; nothing where that does not fit either.
 */
export function checkpointSection(
  value: unknown,
  size: number,
  count: (text: string) => number,
): { readonly text: string; readonly use: SectionUse } {
  const whole = JSON.stringify(value)
  const tokens = count(whole)
  const cut = tokens <= size ? whole : capOutput(whole, size, count, 'the checkpoint')
  const text = count(cut) <= size ? cut : ''
  const shown = count(text)
  const isCut = text !== whole
  return {
    text,
    use: {
      name: 'checkpoint',
      cap: size,
      tokens: shown,
      items: text === '' ? 0 : 1,
      overflow: { count: isCut ? 1 : 0, tokens: isCut ? Math.max(0, tokens - shown) : 0, first: [] },
    },
  }
}
