import { expect } from 'vitest'
import type { Chat } from '../../../src/chat/open-chat.ts'
import type { Conversation, ConversationState } from '../../../src/chat/ports.ts'

/**
 * Resolves with the state once it is as it should be. @throws after fifteen seconds, with what it
 * was
 */
export async function until(
  { conversation }: { readonly conversation: Conversation },
  isSo: (state: ConversationState) => boolean,
): Promise<ConversationState> {
  return new Promise((resolve, reject) => {
    const look = (): void => {
      const state = conversation.getSnapshot()
      if (!isSo(state)) return
      unsubscribe()
      clearTimeout(timer)
      resolve(state)
    }
    const unsubscribe = conversation.subscribe(look)
    const timer = setTimeout(() => {
      unsubscribe()
      reject(new Error(`never so: ${JSON.stringify(conversation.getSnapshot(), undefined, 1)}`))
    }, 15_000)
    look()
  })
}

/** Messages as `role: text`. */
export function said({ messages }: ConversationState): readonly string[] {
  return messages.map(({ message: { role, content } }) => {
    const text =
      typeof content === 'string'
        ? content
        : content
            .map((part) =>
              part.type === 'text'
                ? part.text
                : part.type === 'tool-call'
                  ? `[${part.name}]`
                  : `[${part.type}]`,
            )
            .join(' ')
    return `${role}: ${text}`
  })
}

export const idle = ({ reply, messages, loaded }: ConversationState): boolean =>
  loaded && reply === undefined && messages.at(-1)?.message.role === 'assistant'

/** Says something in a new conversation, and waits for the answer. @returns its id */
export async function talked({ conversation }: Chat, text: string): Promise<string> {
  const id = await conversation.create()
  expect(await conversation.send(text)).toBe(true)
  await until({ conversation }, idle)
  return id
}
