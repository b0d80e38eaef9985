import type { AISDKRequest } from './to-ai-sdk.ts'
import type { Prompt, PromptMessage } from './types.ts'

/**
 * A request as the prompt of a language model: what the SDK makes of it, without downloads. Results
 * that follow each other share a message; so nothing here depends on the model.
 */
export function promptOf({ instructions = [], messages }: AISDKRequest): Prompt {
  const prompt: Prompt = [...instructions]
  for (const message of messages) {
    const { content, providerOptions } = message
    const whole = {
      ...message,
      content:
        message.role !== 'system' && typeof content === 'string'
          ? [{ type: 'text', text: content }]
          : content,
    } as PromptMessage
    const last = prompt.at(-1)
    if (whole.role !== 'tool' || last?.role !== 'tool') prompt.push(whole)
    else {
      const merged = { ...last, content: [...last.content, ...whole.content] }
      // A mark of the message before it stays where it was: on the last of its results.
      const end = last.content.length - 1
      const ended = last.content[end]
      if (last.providerOptions && ended) {
        merged.content[end] = {
          ...ended,
          providerOptions: { ...last.providerOptions, ...ended.providerOptions },
        }
      }
      delete merged.providerOptions
      prompt[prompt.length - 1] = { ...merged, ...(providerOptions && { providerOptions }) }
    }
  }
  return prompt
}
