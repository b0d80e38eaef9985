import type { MessageInput, Part } from '../src/ports/message.ts'

/**
 * The classic estimate, four characters a token, for what has no counter of its own. All text here
 * is ASCII.
 */
export function estimateText(text: string): number {
  return text.length === 0 ? 0 : Math.max(1, Math.floor(text.length / 4))
}

/** Tokens of a message: its text, names, arguments and outputs, and four for the message. */
export function estimate(message: MessageInput): number {
  const { content } = message
  if (typeof content === 'string') return 4 + estimateText(content)
  return content.reduce((sum, part) => sum + estimatePart(part), 4)
}

function estimatePart(part: Part): number {
  if (part.type === 'text') return estimateText(part.text)
  if (part.type === 'tool-call') return estimateText(part.name) + estimateText(JSON.stringify(part.input))
  if (part.type === 'tool-result') return estimateText(outputText(part.output))
  return 0
}

export function outputText(output: unknown): string {
  return typeof output === 'string' ? output : JSON.stringify(output)
}
