import type { Embedder } from '../../ports/embedder.ts'
import type { Fact } from '../../ports/fact.ts'
import type { Host } from '../../ports/host.ts'
import type { ScopeStore } from '../../ports/store.ts'
import { checkFunction } from '../../text/check-value.ts'
import { checkOptions, checkText } from '../../text/json.ts'
import { fuse } from './fuse.ts'
import type { Ranked } from './rank.ts'
import type { SessionRead } from './session-index.ts'
import { SessionVectors } from './session-vectors.ts'
import { cosine, type Embed, embedding, lengthsDiffer, TEXTS, TIMEOUT, type Vector } from './vector.ts'

/** Passages that are nearest to a query, and stand beside those that its words find. */
const NEAREST = 64
/** Passages without vectors that one recall waits for. */
const MOST_WAITED = 256
/** Facts that have vectors: those that show first. */
const MOST_FACTS = 256
/** UTF-16 units of a fact, or of a query, that a vector is made of. */
const LONGEST = 2_000
/** Sessions that are read at once. */
const SESSIONS_AT_ONCE = 8

/** A session whose vectors are searched. */
export interface NearSession extends SessionRead {
  /** Absent: it is found by its words alone. */
  readonly vectors?: SessionVectors
}

export interface VectorSearchOptions extends Embedder {
  /**
   * Told where the embedder fails, gives something else than vectors, or takes more than 10
   * seconds: what is found meanwhile is found by words, and by the vectors that are there. Must not
   * throw.
   */
  readonly onFailure?: (error: unknown) => void
}

/** For `recall({ vectors })`. */
export type Vectors = (host: Pick<Host, 'timeout'>) => VectorSearch

/**
 * Lets recall find what is near in meaning, beside what shares words with a query: the ranking by
 * an app's vectors and the one by words count the same.
 *
 * @throws ERR_INVALID_ARGUMENT, an unknown option included
 */
export function vectorSearch(options: VectorSearchOptions): Vectors {
  checkOptions('vectorSearch', 'options', options, ['id', 'embed', 'onFailure'])
  checkText('vectorSearch', 'id', options.id)
  checkFunction('vectorSearch', 'embed', options.embed)
  if (options.onFailure !== undefined) checkFunction('vectorSearch', 'onFailure', options.onFailure)
  return (host) => new VectorSearch(options, host)
}

/** What is found by words and vectors, and why not all vectors are known. */
export interface Near {
  /** Best first; facts are those of index -1. */
  readonly ranked: readonly Ranked[]
  /** Where the embedder failed. */
  readonly failure?: { readonly error: unknown }
}

/** A passage, and how near it is. */
interface Neighbour {
  readonly index: number
  readonly id: string
  readonly part: number
  readonly score: number
}

/**
 * Finds by vectors, with an app's embedder. Where that fails, less is found, and `onFailure` is
 * told.
 */
export class VectorSearch {
  readonly #options: VectorSearchOptions
  readonly #embed: Embed
  readonly #host: Pick<Host, 'timeout'>
  /**
   * The vectors of facts, by their texts, kept in memory alone: facts are in several scopes, and
   * forgotten there.
   */
  #facts = new Map<string, Vector>()
  /** A context that begins an epoch asks twice. */
  #asked: { readonly query: string; readonly vector: Vector } | undefined

  constructor(options: VectorSearchOptions, host: Pick<Host, 'timeout'>) {
    this.#options = options
    this.#host = host
    this.#embed = embedding(options, host)
  }

  /** The vectors of a session. Reads nothing yet. */
  open(store: ScopeStore): SessionVectors {
    return new SessionVectors({ store, embed: this.#embed, id: this.#options.id })
  }

  /**
   * What words found, and beside it what is nearest to the query. Never rejects.
   *
   * @param skipped how many of what is found does not count
   */
  async near(
    query: string,
    sessions: readonly NearSession[],
    facts: readonly Fact[],
    byWords: readonly Ranked[],
    skipped: number,
  ): Promise<Near> {
    if (query.trim() === '') return { ranked: byWords }
    const most = NEAREST + skipped
    let failure: Near['failure']
    const failed = (error: unknown): undefined => {
      failure ??= { error }
    }
    const nearest: Neighbour[] = []
    const add = (one: Omit<Neighbour, 'score'>, asked: Vector, vector: Vector): void => {
      // A vector of another length says nothing of the others.
      if (vector.length !== asked.length) {
        failed(lengthsDiffer(asked, vector))
        return
      }
      const score = cosine(asked, vector)
      const last = nearest.length === most ? nearest.at(-1) : undefined
      if (score <= (last?.score ?? 0)) return
      const after = nearest.findLastIndex((other) => other.score >= score)
      nearest.splice(after + 1, 0, { ...one, score })
      if (nearest.length > most) nearest.pop()
    }
    try {
      const [asked, known] = await Promise.all([
        this.#vectorOf(query.slice(0, LONGEST)),
        this.#vectorsOf(facts).catch(failed),
        this.#refresh(sessions, failed),
      ])
      sessions.forEach(({ index, hidden, vectors }, which) => {
        for (let number = 0; number < index.size; number++) {
          const id = index.at(index.startOf(number))?.[0]
          if (id === undefined || hidden.has(id)) continue
          for (const [part, vector] of vectors?.of(id).entries() ?? [])
            add({ index: which, id, part }, asked, vector)
        }
      })
      for (const [id, vector] of known ?? []) add({ index: -1, id, part: 0 }, asked, vector)
    } catch (error) {
      failed(error)
    }
    if (failure) this.#report(failure.error)
    return { ranked: fuse([byWords, rankedOf(nearest)]), ...(failure && { failure }) }
  }

  /**
   * Makes all vectors that a recall did not wait for; never rejects.
   *
   * @param read Contract: reads what is new of the session's log
   */
  async catchUp(vectors: SessionVectors, read: () => Promise<SessionRead>): Promise<void> {
    try {
      while (vectors.waits) await vectors.refresh(await read(), { left: TEXTS })
    } catch (error) {
      this.#report(error)
    }
  }

  #report(error: unknown): void {
    try {
      this.#options.onFailure?.(error)
    } catch {
      // It must not throw; what is found is given all the same.
    }
  }

  async #vectorOf(query: string): Promise<Vector> {
    if (this.#asked?.query !== query) {
      const [vector] = (await this.#embed([query], 'query')) as readonly [Vector]
      this.#asked = { query, vector }
    }
    return this.#asked.vector
  }

  async #refresh(sessions: readonly NearSession[], failed: (error: unknown) => void): Promise<void> {
    const room = { left: MOST_WAITED }
    const { signal, clear } = this.#host.timeout(TIMEOUT)
    try {
      for (let at = 0; at < sessions.length; at += SESSIONS_AT_ONCE) {
        // Of further sessions the vectors that are there are read.
        if (signal.aborted) {
          room.left = 0
          failed(signal.reason)
        }
        await Promise.all(
          sessions
            .slice(at, at + SESSIONS_AT_ONCE)
            .map((one) => one.vectors?.refresh(one, room).catch(failed)),
        )
      }
    } finally {
      clear()
    }
  }

  /** Of these facts, the vectors of which alone are kept. */
  async #vectorsOf(facts: readonly Fact[]): Promise<readonly (readonly [id: string, vector: Vector])[]> {
    const some = facts
      .slice(0, MOST_FACTS)
      .map(({ id, text }) => ({ id, text: text.slice(0, LONGEST).trim() }))
      .filter(({ text }) => text !== '')
    const known = this.#facts
    const missing = [...new Set(some.map(({ text }) => text))].filter((text) => !known.has(text))
    const made = await this.#embed(missing, 'passage')
    missing.forEach((text, at) => {
      known.set(text, made[at] as Vector)
    })
    this.#facts = new Map(some.map(({ text }) => [text, known.get(text) as Vector]))
    return some.map(({ id, text }) => [id, known.get(text) as Vector])
  }
}

/** Passages as messages. */
function rankedOf(nearest: readonly Neighbour[]): readonly Ranked[] {
  const ranked = new Map<string, Ranked & { readonly passages: number[] }>()
  for (const { index, id, part, score } of nearest) {
    const key = `${index} ${id}`
    const one = ranked.get(key) ?? { index, id, score, passages: [] }
    while (one.passages.length <= part) one.passages.push(0)
    one.passages[part] = score
    ranked.set(key, one)
  }
  return [...ranked.values()]
}
