import type { Damage } from './commands.ts'

/** The lines of a file after it was damaged. */
export function damaged(lines: readonly string[], damage: Damage | undefined): readonly string[] {
  const middle = Math.floor(lines.length / 2)
  switch (damage) {
    case undefined:
      return lines
    case 'cut':
      return lines.slice(0, middle)
    case 'garbled':
      return lines.map((line, at) => (at === middle ? `{${line}` : line))
    case 'swapped': {
      const [one = '', other = ''] = lines.slice(middle, middle + 2)
      return [...lines.slice(0, middle), other, one, ...lines.slice(middle + 2)]
    }
    case 'changed':
      return lines.map((line) =>
        line.startsWith('{"type":"message"') ? line.replace(/"content":"\w/, '"content":"Changed') : line,
      )
  }
}
