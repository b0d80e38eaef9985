/**
 * A place in a conversation at which there are several versions: a message was edited, or a reply
 * made again.
 */
export interface Branch {
  /** Id of the message that they follow; `null`: they begin the conversation. */
  readonly after: string | null
  /**
   * Ids of the messages with which the versions begin, those first that were hidden first. One that
   * was never hidden is not among them: it is the newest, and shows after `after`.
   */
  readonly versions: readonly string[]
  /**
   * Which of them shows again. Where its first message was forgotten since, what is left of it
   * shows after `after`. Absent: all of them are hidden.
   */
  readonly shown?: string | undefined
}
