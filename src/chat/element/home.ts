/** How a conversation's home is told: by a word and by a picture. */
import type { TemplateResult } from 'lit/html.js'
import type { HomeKind } from '../ports.ts'
import type { Words } from '../strings/words.ts'
import { icon } from './icons.ts'

export function homeName(words: Words, home: HomeKind): string {
  return words.text(home === 'edge' ? 'homeEdge' : 'homeLocal')
}

export function homeIcon(home: HomeKind): TemplateResult {
  return icon(home === 'edge' ? 'service' : 'device')
}
