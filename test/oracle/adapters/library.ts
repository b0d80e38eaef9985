/**
 * As much of the library with features in `use` as the adapter uses, by structure: so the adapter
 * still compiles when the sources have another API, and runs over a frozen build as well.
 */
import type { CountersLike } from './counters.ts'

type Options = object

export interface ContextLike {
  readonly receipt: { readonly used: number }
}

export interface SessionLike {
  append(messages: unknown, options?: Options): Promise<unknown>
  commit(input: Options, options?: Options): Promise<unknown>
  context(options?: Options): Promise<ContextLike>
  history(options?: Options): Promise<unknown>
  subscribe(listener: () => void): () => void
  getSnapshot(): object
  readonly facts: {
    remember(fact: Options, options?: Options): Promise<unknown>
    list(query?: Options): Promise<unknown>
    get(id: string): Promise<unknown>
    resolve(id: string): Promise<unknown>
    supersede(id: string, fact: Options): Promise<unknown>
    promote(id: string, options?: Options): Promise<unknown>
    pin(id: string): Promise<unknown>
    unpin(id: string): Promise<unknown>
    review(id: string, rating: string): Promise<unknown>
  }
  readonly skills: {
    load(name: string): Promise<unknown>
    unload(name: string): Promise<void>
    loaded(): Promise<unknown>
  }
  readonly checkpoint: {
    get(options?: Options): Promise<{ readonly value: unknown; readonly version: string | null }>
    set(value: unknown, options?: Options): Promise<string>
    update(change: (value: unknown) => unknown, options?: Options): Promise<string>
    delete(options?: Options): Promise<void>
  }
  /** Where it is in use. */
  readonly compaction?: {
    readonly isRunning: boolean
    run(options?: Options): Promise<unknown>
    settled(): Promise<void>
    subscribe(listener: (event: object) => void): () => void
  }
  /** Where it is in use. */
  readonly recall?: {
    find(query: string, options?: Options): Promise<unknown>
    page(query: string, options?: Options): Promise<unknown>
  }
}

export interface UserLike {
  readonly facts: {
    list(query?: Options): Promise<unknown>
    remember(fact: Options): Promise<unknown>
  }
  readonly profile: {
    list(): Promise<unknown>
    get(name: string): Promise<{ readonly version: string } | undefined>
    set(name: string, text: string, options?: Options): Promise<string>
    update(name: string, change: (text: string) => string): Promise<string>
    delete(name: string, options?: Options): Promise<void>
  }
  readonly skills: {
    list(): Promise<unknown>
    get(name: string): Promise<{ readonly version: string } | undefined>
    set(skill: unknown, options?: Options): Promise<string>
    delete(name: string): Promise<void>
  }
  /** Where it is in use. */
  readonly recall?: { find(query: string, options?: Options): Promise<unknown> }
}

export interface MemoryLike {
  session(scope: Options, options?: Options): SessionLike
  user(scope: Options): UserLike
}

export interface LibraryLike extends CountersLike {
  createKernel(options: Options): MemoryLike
  /** What a memory in development checks its contexts with. */
  readonly LawChecker: new () => object
  extractFacts(rounds: never): unknown
  readonly englishStemmer: object
  /** Of recall; not in the frozen build. */
  vectorSearch?(options: object): object

  profile(options: Options): object
  skills(options: Options): object
  facts(options: Options): object
  /** An option of facts in 0.1.0. */
  extraction?(options: Options): object
  checkpoint(options: Options): object
  compaction(options: Options): object
  recall(options: Options): object
  retention(options: Options): object

  editMessage(session: SessionLike, id: string, messages: unknown, options?: Options): Promise<unknown>
  /** 0.1.0 read Markdown in `skills.set`. */
  fromMarkdown?(markdown: string): unknown

  addExchange(session: SessionLike, user: string, assistant: string): Promise<unknown>
  contextAt(session: SessionLike, id: string): Promise<unknown>
  readSource(session: SessionLike, reference: string, options?: Options): Promise<unknown>
  attach(session: SessionLike, attachment: Options): Promise<{ readonly ref?: string }>
  readAttachment(session: SessionLike, id: string): Promise<unknown>
  rewind(session: SessionLike, id: string, options?: Options): Promise<string>
  undo(session: SessionLike, rewind?: string, options?: Options): Promise<string>
  readBranches(session: SessionLike): Promise<unknown>
  switchTo(session: SessionLike, id: string, options?: Options): Promise<void>
  forget(session: SessionLike, id: string, options?: Options): Promise<unknown>
  start(session: SessionLike, options?: Options): Promise<unknown>

  listSessions(memory: MemoryLike, user: Options): Promise<unknown>
  titleSession(memory: MemoryLike, user: Options, session: string, title: string): Promise<void>
  deleteSession(memory: MemoryLike, user: Options, session: string): Promise<unknown>
  forgetFact(memory: MemoryLike, user: Options, id: string): Promise<unknown>
  readSettings(memory: MemoryLike, user: Options): Promise<unknown>
  changeSettings(memory: MemoryLike, user: Options, patch: Options): Promise<unknown>
  readAudit(memory: MemoryLike, user: Options, query?: Options): Promise<unknown>
  exportFrom(memory: MemoryLike, scope: Options, options?: Options): AsyncIterable<string>
  importInto(
    memory: MemoryLike,
    scope: Options,
    lines: readonly string[],
    options?: Options,
  ): Promise<unknown>
  eraseUser(memory: MemoryLike, user: Options): Promise<unknown>
  nextWorkAt(memory: MemoryLike): Promise<number | undefined>
  runDueWork(memory: MemoryLike): Promise<number | undefined>
}
