/** What removes something that is kept in this browser; loaded when somebody wants that. */
export { deleteSession } from '../../operations/delete-session.ts'
export { forget } from '../../operations/forget/forget.ts'
