import { messagesOf } from '../kernel/log/fold.ts'
import type { SessionBase } from '../ports/memory.ts'
import type { Message } from '../ports/message.ts'
import { kernelOf } from './kernel-of.ts'

/**
 * Writes a plain exchange, and returns the messages of the window that is now shown.
 *
 * @throws as `append` and `context`; after ERR_BUDGET_TOO_SMALL the exchange is written
 */
export async function addExchange(
  session: SessionBase,
  userText: string,
  assistantText: string,
): Promise<readonly Message[]> {
  const kernel = kernelOf('addExchange', session)
  return kernel.run(async () => {
    await kernel.append('addExchange', [
      { role: 'user', content: userText },
      { role: 'assistant', content: assistantText },
    ])
    const { window } = await kernel.lane.context({})
    return messagesOf(window.units)
  })
}
