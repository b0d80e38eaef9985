import { oneLine } from './one-line.ts'

/** A text behind its title; alone where it begins with that, so that the title says no more. */
export function titled(title: string, text: string): string {
  return oneLine(text).startsWith(title.replace(/…$/, '')) ? text : `${title}: ${text}`
}
