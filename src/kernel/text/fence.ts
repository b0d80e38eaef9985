import type { Json, Part } from '../../ports/message.ts'

/**
 * Puts text between a pair of tags that the text itself cannot close: wherever it holds the tag, the tag is broken up.
 * `tag` is derived from session, lane and epoch, so it is the same on every call of an epoch.
 */
export function fenced(tag: string, label: string, text: string): string {
  const escaped = text.replaceAll(tag, tag.replace('-', '_'))
  return `<${tag} ${label}>\n${escaped}\n</${tag}>`
}

/** How a fence of any epoch begins or ends. */
const FENCE = /<(\/?)ctx-(?=[0-9a-f]{8})/g

/**
 * Parts that cannot pass for a fence: what messages hold is shown as it is, but a tag that looks like one of ours is broken up. What the
 * model thought stays as it was signed, and what a provider wrote for itself as it is. The same list, where there is nothing to break.
 */
export function unfenced(parts: readonly Part[]): readonly Part[] {
  const changed = parts.map(unfencedPart)
  return changed.every((part, index) => part === parts[index]) ? parts : changed
}

function unfencedPart(part: Part): Part {
  const field = part.type === 'tool-call' ? 'input' : part.type === 'tool-result' ? 'output' : 'text'
  if (part.type === 'reasoning' || !(field in part)) return part
  const value = (part as unknown as { readonly [field: string]: Json })[field] as Json
  const broken = brokenUpIn(value)
  return broken === value ? part : ({ ...part, [field]: broken } as Part)
}

/** The same value, where no string in it looks like a fence. */
function brokenUpIn(value: Json): Json {
  if (typeof value === 'string') return brokenUp(value)
  if (typeof value !== 'object' || value === null) return value
  const text = JSON.stringify(value)
  // Neither a tag's characters nor the quotes around them are escaped in JSON.
  const broken = brokenUp(text)
  return broken === text ? value : (JSON.parse(broken) as Json)
}

function brokenUp(text: string): string {
  return text.includes('ctx-') ? text.replace(FENCE, '<$1ctx_') : text
}
