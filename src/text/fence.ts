import type { Json, Part } from '../ports/message.ts'

/**
 * Puts text between a pair of tags that the text itself cannot close: wherever it holds the tag,
 * the tag is broken up. `tag` is derived from session, lane and epoch, so it is the same on every
 * call of an epoch.
 */
export function fenced(tag: string, label: string, text: string): string {
  const escaped = text.replaceAll(tag, tag.replace('-', '_'))
  return `<${tag} ${label}>\n${escaped}\n</${tag}>`
}

/** How a fence of any epoch begins or ends. */
const FENCE = /<(\/?)ctx-(?=[0-9a-f]{8})/g

/**
 * Parts that cannot pass for a fence: what messages hold is shown as it is, but a tag that looks
 * like one of ours is broken up. What the model thought stays as it was signed, and what a provider
 * wrote for itself as it is. The same list, where there is nothing to break.
 */
export function unfenced(parts: readonly Part[]): readonly Part[] {
  const changed = parts.map(unfencedPart)
  return changed.every((part, index) => part === parts[index]) ? parts : changed
}

/** Where a part holds what is shown. */
const SHOWN: { readonly [type in Part['type']]?: string } = {
  text: 'text',
  'tool-call': 'input',
  'tool-result': 'output',
}

function unfencedPart(part: Part): Part {
  const field = SHOWN[part.type]
  if (field === undefined) return part
  const value = part[field as never] as Json
  const isText = typeof value === 'string'
  // Neither a tag's characters nor the quotes around them are escaped in JSON.
  const text = isText ? value : JSON.stringify(value)
  const broken = text.includes('ctx-') ? text.replace(FENCE, '<$1ctx_') : text
  return broken === text ? part : { ...part, [field]: isText ? broken : JSON.parse(broken) }
}
