import type { Session } from '../../ports/memory.ts'
import type { MessageInput } from '../../ports/message.ts'
import { hashText } from '../../text/hash.ts'

/** Under ids that are made from a key, so that repeating it writes nothing. */
export async function appendOnce(
  session: Session,
  messages: readonly MessageInput[],
  key: readonly (string | number)[],
): Promise<void> {
  if (messages.length === 0) return
  await session.append(
    messages.map((message, index) => ({
      ...message,
      id: `ai-sdk/${hashText(JSON.stringify([...key, index]))}`,
    })),
  )
}
