/** `npm run sizes:tag`, after `npm run build:tag`. */
import { resolve } from 'node:path'
import { weighTag } from './tag.ts'

const { steps, firstLook, answering, edge } = weighTag(resolve(import.meta.dirname, '../../dist/tag'))
console.table({
  ...steps,
  'until a conversation shows': firstLook,
  'with all that answers here': answering,
  'until one of an edge shows': edge,
})
