import type { Json } from '../../ports/message.ts'

/** Values of a JSON tree, one a line, without the keys, which are the tool's words. */
export function leaves(value: Json): string {
  const lines: string[] = []
  const walk = (value: Json): void => {
    if (typeof value !== 'object' || value === null) lines.push(String(value ?? ''))
    else for (const child of Object.values(value)) walk(child)
  }
  walk(value)
  return lines.join('\n')
}
