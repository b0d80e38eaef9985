export { PlimsollChatHistory, type TrimmerOptions, toLangChain } from './history.ts'
