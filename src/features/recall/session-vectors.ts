import { messageIn } from '../../kernel/log/bodies.ts'
import { joinedBytes } from '../../ports/joined-bytes.ts'
import type { Json } from '../../ports/message.ts'
import type { ScopeStore } from '../../ports/store.ts'
import { passagesOf } from './passages.ts'
import type { RecallIndex } from './recall-index.ts'
import { recallText } from './recall-text.ts'
import type { SessionRead } from './session-index.ts'
import { toPrefixed, Varints } from './varints.ts'
import { type Embed, TEXTS, type Vector } from './vector.ts'

/** Version of what is kept, and of the texts that vectors are made of. */
const VERSION = 1
/** Messages whose vectors are kept together. */
const BLOCK = 16
/** What keys of blocks begin with. The number of the block follows. */
const PREFIX = 'vectors/'
const DIGITS = 15
/** Passages of a message that have a vector. */
const MOST_PASSAGES = 64

export interface SessionVectorsParts {
  readonly store: ScopeStore
  readonly embed: Embed
  /** That of the embedder: vectors of another one are made again. */
  readonly id: string
}

/** What was read of the log. */
type VectorsRead = Pick<SessionRead, 'index' | 'seq' | 'dropped'>

/** A message without vectors, and the texts that they are made of. */
type Wanted = readonly [id: string, texts: readonly string[]]

/**
 * Of a block: how its vectors were made, how many messages of the log it has come to, and whose
 * vectors they are.
 */
type Header = readonly [
  kind: string,
  extent: number,
  messages: readonly (readonly [id: string, vectors: number, length: number])[],
]

/**
 * The vectors of one session's messages, one for each passage: kept in the store beside its rows,
 * some messages at a time, and made where they are missing.
 */
export class SessionVectors {
  readonly #parts: SessionVectorsParts
  readonly #kind: string
  /** By id of the message. */
  readonly #vectors = new Map<string, readonly Vector[]>()
  /** By number of the block, how many of its messages it has come to in the store. */
  readonly #kept = new Map<number, number>()
  #read: VectorsRead | undefined
  #waits = false
  #last: Promise<unknown> = Promise.resolve()

  constructor(parts: SessionVectorsParts) {
    this.#parts = parts
    this.#kind = `${VERSION}/${parts.id}`
  }

  /** Whether messages may have no vectors since there was no room. */
  get waits(): boolean {
    return this.#waits
  }

  /** The vectors of a message's passages, in their order; none are known, or it has no text. */
  of(id: string): readonly Vector[] {
    return this.#vectors.get(id) ?? []
  }

  /**
   * Takes what was read of the log, and makes vectors that are missing, of the newest messages
   * first. One call after the other.
   *
   * @param room for how many passages, counted down; those of a message are never parted
   * @throws as the embedder: what was made before stays
   */
  refresh(read: VectorsRead, room: { left: number }): Promise<void> {
    const turn = this.#last.then(() => this.#refresh(read, room))
    this.#last = turn.catch(() => {})
    return turn
  }

  async #refresh(read: VectorsRead, room: { left: number }): Promise<void> {
    const { index } = read
    const before = this.#read
    if (!before) await this.#load()
    else if (before.index !== index || before.dropped !== read.dropped) {
      // With what was forgotten all blocks are gone; what is left is written again.
      for (const id of [...this.#vectors.keys()]) if (!index.has(id)) this.#vectors.delete(id)
      this.#kept.clear()
    }
    this.#read = read
    this.#waits = false
    let wanted: Wanted[] = []
    let blocks: number[] = []
    const make = async (): Promise<void> => {
      const vectors = await this.#parts.embed(
        wanted.flatMap(([, texts]) => texts),
        'passage',
      )
      let at = 0
      for (const [id, { length }] of wanted) {
        this.#vectors.set(id, vectors.slice(at, at + length))
        at += length
      }
      for (const block of blocks) await this.#write(block, read)
      wanted = []
      blocks = []
    }
    let block = Math.ceil(index.size / BLOCK) - 1
    for (let texts = 0; block >= 0 && room.left > 0; block--) {
      if (this.#kept.get(block) === extentOf(block, index)) continue
      blocks.push(block)
      for (const one of await this.#missing(block, index)) {
        wanted.push(one)
        texts += one[1].length
        room.left -= one[1].length
      }
      if (texts >= TEXTS) {
        await make()
        texts = 0
      }
    }
    await make()
    this.#waits = block >= 0
  }

  /** Messages of a block that have no vectors yet, as far as they have a text. */
  async #missing(block: number, index: RecallIndex): Promise<readonly Wanted[]> {
    const missing = new Set(membersOf(block, index).filter((id) => !this.#vectors.has(id)))
    const wanted: Wanted[] = []
    for (let [from] = missing; from !== undefined; [from] = missing) {
      const { rows } = await this.#parts.store.entries({ from, first: BLOCK, kinds: ['message'] })
      for (const row of rows) {
        const message = missing.delete(row.id) && messageIn(row)
        if (message) wanted.push([row.id, textsOf(recallText(message))])
      }
      // It is gone meanwhile.
      missing.delete(from)
    }
    return wanted
  }

  async #write(block: number, { index, seq }: VectorsRead): Promise<void> {
    const extent = extentOf(block, index)
    const members = membersOf(block, index).map((id) => [id, this.of(id)] as const)
    const header: Header = [
      this.#kind,
      extent,
      members.map(([id, vectors]) => [id, vectors.length, vectors[0]?.length ?? 0]),
    ]
    const vectors = members.flatMap(([, all]) => all)
    const bytes = joinedBytes([
      ...toPrefixed(header as Json),
      ...vectors.map(({ buffer, byteOffset, length }) => new Uint8Array(buffer, byteOffset, length)),
    ])
    const key = `${PREFIX}${String(block).padStart(DIGITS, '0')}`
    // What was forgotten meanwhile must not come back with a block.
    if (await this.#parts.store.derive({ key, bytes }, seq)) this.#kept.set(block, extent)
  }

  async #load(): Promise<void> {
    for (let after: string | undefined; ; ) {
      const rows = await this.#parts.store.derived(PREFIX, after)
      for (const { key, bytes } of rows) {
        const [kind, extent, messages] = new Varints(bytes).json() as Header
        if (kind !== this.#kind) continue
        this.#kept.set(Number(key.slice(PREFIX.length)), extent)
        let at = bytes.length - messages.reduce((sum, [, count, length]) => sum + count * length, 0)
        for (const [id, count, length] of messages) {
          const all = Array.from({ length: count }, (_, place) =>
            Int8Array.from(bytes.subarray(at + place * length, at + (place + 1) * length)),
          )
          this.#vectors.set(id, all)
          at += count * length
        }
      }
      after = rows.at(-1)?.key
      if (after === undefined) return
    }
  }
}

/** How many messages of the log, those of it that were forgotten included, are a block's by now. */
function extentOf(block: number, { size }: RecallIndex): number {
  return Math.min(BLOCK, size - block * BLOCK)
}

/** Ids of a block's messages that can be found. */
function membersOf(block: number, index: RecallIndex): readonly string[] {
  const extent = Math.max(0, extentOf(block, index))
  return Array.from({ length: extent }, (_, at) => index.at(index.startOf(block * BLOCK + at))?.[0]).filter(
    (id) => id !== undefined,
  )
}

/** What vectors are made of. In a block of code a passage may be blank. */
function textsOf(text: string): readonly string[] {
  return passagesOf(text)
    .slice(0, MOST_PASSAGES)
    .map(([from, to]) => text.slice(from, to).trim() || '…')
}
