import type { PlainMessage } from './orders.ts'

/** What the server does for one subject. */
export interface Served {
  /** @param path after the subject's own, for example `/push/log-1` */
  answer(path: string, request: Request): Promise<Response>
  /** What it keeps of a conversation, in order. */
  messages(name: string): Promise<readonly PlainMessage[]>
  close(): Promise<void>
}
