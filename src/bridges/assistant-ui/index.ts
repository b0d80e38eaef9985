export {
  type MessageFormat,
  plimsollHistory,
  type ThreadHistory,
  type ThreadItem,
  type ThreadMessageLike,
} from './history.ts'
