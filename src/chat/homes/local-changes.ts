/**
 * What changes a conversation that is kept in this browser: loaded behind what answers, before the
 * page may be offline, or when somebody wants it earlier.
 */
export { attach } from '../../operations/attachments.ts'
export { switchTo } from '../../operations/branches.ts'
export { editMessage, rewind, undo } from '../../operations/rewind.ts'
