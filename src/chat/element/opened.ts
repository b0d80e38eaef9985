/** What the element loads when it is opened for the first time, all at once. */
export { openChat } from '../open-chat.ts'
export { wordsOf } from '../strings/words.ts'
export { firstSession } from './first-session.ts'
export { ChatView } from './view.ts'
