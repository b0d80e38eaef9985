import type { DeepChat } from 'deep-chat'
import 'deep-chat'
import { messagesBetween } from '../messages.ts'

/** Puts the element on the page. */
export function show(
  settings: Partial<Pick<DeepChat, 'history' | 'loadHistory' | 'maxVisibleMessages'>>,
): void {
  // Its types ask for an older DOM than this.
  const chat = document.createElement('deep-chat') as unknown as HTMLElement
  Object.assign(chat, { connect: { handler: () => {} }, ...settings })
  Object.assign(chat.style, { display: 'block', width: '100%', height: '100%', border: 'none' })
  document.querySelector('#chat')?.append(chat)
}

/** Messages `from` (inclusive) to `to` (exclusive), as the element wants them. */
export const contents = (from: number, to: number): { role: string; text: string }[] =>
  messagesBetween(from, to).map(({ role, text }) => ({ role: role === 'user' ? 'user' : 'ai', text }))
