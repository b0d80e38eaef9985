/**
 * The element by itself: the conversation is in the browser's database, and of it the newest page
 * is read.
 */
import '../../../../src/chat/define.ts'

const chat = document.createElement('plimsoll-chat')
chat.placement = 'inline'
chat.model = () => 'Noted.'
document.querySelector('#chat')?.append(chat)
