/** A text that is part of every prompt, for example SOUL.md, MEMORY.md or TASKS.md. */
export interface ProfileDocument {
  readonly name: string
  /** Markdown, as it was written. */
  readonly text: string
  readonly version: string
}
