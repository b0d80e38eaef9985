import type { CallOptions } from '../../src/bridges/ai-sdk/types.ts'
import type { Counter } from '../../src/index.ts'

/**
 * Tokens of a request as a language model of the SDK receives it: every text, calls and outputs as
 * JSON, tools as JSON.
 */
export function promptTokens(
  counter: Counter,
  { prompt, tools }: Pick<CallOptions, 'prompt' | 'tools'>,
): number {
  let tokens = 3
  for (const message of prompt) {
    tokens += 4
    if (typeof message.content === 'string') {
      tokens += counter.count(message.content)
      continue
    }
    for (const part of message.content) {
      if (part.type === 'text' || part.type === 'reasoning') tokens += counter.count(part.text)
      if (part.type === 'tool-call')
        tokens += counter.count(part.toolName) + counter.count(JSON.stringify(part.input))
      if (part.type !== 'tool-result') continue
      const { output } = part
      const value = 'value' in output ? output.value : (output.reason ?? '')
      tokens += counter.count(typeof value === 'string' ? value : JSON.stringify(value))
    }
  }
  return tools?.length ? tokens + counter.count(JSON.stringify(tools)) : tokens
}
