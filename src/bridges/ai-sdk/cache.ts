import type { ModelMessage, SystemModelMessage } from 'ai'

/**
 * Sets at most four marks, as `toAnthropic` does: after the system text, after memory, where the
 * previous call ended (so that what it wrote is found however long the newest step is: Anthropic
 * looks back 20 blocks), and after all that stays, which is all but the `passing` messages at the
 * end.
 */
export function setMarks(
  instructions: readonly SystemModelMessage[],
  messages: readonly ModelMessage[],
  memoryEnd: number,
  passing: number,
): void {
  mark(instructions.at(-1))
  mark(messages[memoryEnd])
  mark(messages[previousEnd(messages)])
  mark(messages[messages.length - 1 - passing])
}

/** Index of the message that the newest reply answered. */
function previousEnd(messages: readonly ModelMessage[]): number {
  let index = messages.length - 1
  while (index >= 0 && messages[index]?.role !== 'assistant') index--
  while (index >= 0 && messages[index]?.role === 'assistant') index--
  return index
}

/**
 * On a message the SDK's provider puts the mark on its last part; none of ours ends with what
 * cannot carry one.
 */
function mark(message: ModelMessage | undefined): void {
  if (!message) return
  const { anthropic, ...others } = message.providerOptions ?? {}
  message.providerOptions = { ...others, anthropic: { ...anthropic, cacheControl: { type: 'ephemeral' } } }
}

/** Whether a model is Anthropic's, behind any provider. */
export function isAnthropic(model: unknown): boolean {
  const { provider = '', modelId = '' } = (
    typeof model === 'object' && model !== null ? model : { modelId: model }
  ) as {
    readonly provider?: string
    readonly modelId?: string
  }
  return /anthropic|claude/i.test(`${provider} ${modelId}`)
}
