import type { RunningReply } from '../ports.ts'
import type { Words } from '../strings/words.ts'

/** At most this often something is said, in milliseconds. */
const EVERY_MS = 1_500

/**
 * Says aloud what a reply says, in whole sentences as they become whole; politely, and never token
 * by token.
 */
export class Announcer {
  readonly #region: HTMLElement
  #wasReplying = false
  #said = 0
  #text = ''
  #saidAt = 0

  /** @param region a live region; its children are written over */
  constructor(region: HTMLElement) {
    this.#region = region
  }

  follow(reply: RunningReply | undefined, words: Words, now: number): void {
    if (!reply) {
      if (this.#wasReplying) {
        this.say([...sentences(this.#text.slice(this.#said)), words.text('replyEnded')])
        this.#said = 0
        this.#text = ''
      }
    } else if (!this.#wasReplying) {
      this.say([words.text('replyBegan')])
      this.#saidAt = now
    } else {
      // A new step of the run begins with a text of its own.
      if (!reply.text.startsWith(this.#text.slice(0, this.#said))) this.#said = 0
      this.#text = reply.text
      const end = now - this.#saidAt < EVERY_MS ? 0 : wholeUntil(this.#text)
      if (end > this.#said) {
        this.say(sentences(this.#text.slice(this.#said, end)))
        this.#said = end
        this.#saidAt = now
      }
    }
    this.#wasReplying = reply !== undefined
  }

  /** Says no more what somebody else was told. */
  forget(): void {
    this.#said = this.#text.length
    this.say([])
  }

  /** Says it in place of what was said last. */
  say(texts: readonly string[]): void {
    const paragraphs = texts.map((text) => {
      const paragraph = document.createElement('p')
      paragraph.textContent = text
      return paragraph
    })
    this.#region.replaceChildren(...paragraphs)
  }
}

/** Where the last sentence that is whole ends. */
function wholeUntil(text: string): number {
  let end = 0
  for (const { index, 0: found } of text.matchAll(/[.!?…](?=\s)|[。！？؟]|\n\n/g)) end = index + found.length
  return end
}

/** A text without the marks of its Markdown, as it is read out; empty for nothing. */
function sentences(text: string): readonly string[] {
  const plain = text
    .replace(/[*_`#|>]+/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  return plain ? [plain] : []
}
