import type { SectionName } from '../ports/context.ts'

/** One message or item of a request, in order. */
export interface Marked {
  /** Its parts that can carry a mark. */
  readonly parts: readonly { prompt_cache_breakpoint?: { mode: 'explicit' } }[]
  readonly section: SectionName
  readonly role: string
}

/**
 * Sets at most four marks, where later requests may part from this one: after system text, after
 * memory, where the previous call ended, and after all but the tail.
 */
export function setMarks(items: readonly Marked[]): void {
  const lastOf = (section: SectionName): number => items.findLastIndex((item) => item.section === section)
  const replied = items.findLastIndex(({ role }) => role === 'assistant')
  const answered = items.findLastIndex(({ role }, index) => index < replied && role !== 'assistant')
  const stays = items.findLastIndex(({ section }) => section !== 'tail')
  for (const end of [lastOf('system'), lastOf('memory'), answered, stays]) {
    const index = items.findLastIndex(({ parts }, at) => at <= end && parts.length > 0)
    const part = items[index]?.parts.at(-1)
    if (part) part.prompt_cache_breakpoint = { mode: 'explicit' }
  }
}
