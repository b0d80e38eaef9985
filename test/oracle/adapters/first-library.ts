/**
 * As much of the library of 0.1.0 as the adapter uses, by structure: so the adapter still compiles
 * when the sources have another API, and runs over the frozen build and over any other.
 */
import type { CountersLike } from './counters.ts'

type Options = object

export interface CheckpointLike {
  get(options?: Options): Promise<{ readonly value: unknown; readonly version: string | null }>
  set(value: unknown, options?: Options): Promise<string>
  update(change: (value: unknown) => unknown, options?: Options): Promise<string>
  delete(options?: Options): Promise<void>
}

export interface SessionLike {
  readonly checkpoint: CheckpointLike
  readonly isCompacting: boolean
  append(messages: unknown, options?: Options): Promise<unknown>
  commit(input: Options, options?: Options): Promise<unknown>
  addExchange(user: string, assistant: string): Promise<unknown>
  context(options?: Options): Promise<{ readonly receipt: { readonly used: number } }>
  contextAt(id: string): Promise<unknown>
  history(options?: Options): Promise<unknown>
  readSource(reference: string, options?: Options): Promise<unknown>
  attach(attachment: Options): Promise<{ readonly ref?: string }>
  attachment(id: string): Promise<unknown>
  rewind(id: string, options?: Options): Promise<string>
  undo(rewind?: string, options?: Options): Promise<string>
  branches(): Promise<unknown>
  switchTo(id: string, options?: Options): Promise<void>
  remember(fact: Options, options?: Options): Promise<unknown>
  facts(query?: Options): Promise<unknown>
  fact(id: string): Promise<unknown>
  resolve(id: string): Promise<unknown>
  pin(id: string): Promise<unknown>
  unpin(id: string): Promise<unknown>
  supersede(id: string, fact: Options): Promise<unknown>
  promote(id: string, options?: Options): Promise<unknown>
  review(id: string, rating: string): Promise<unknown>
  forget(id: string, options?: Options): Promise<unknown>
  recall(query: string, options?: Options): Promise<unknown>
  recallPage(query: string, options?: Options): Promise<unknown>
  loadSkill(name: string): Promise<unknown>
  unloadSkill(name: string): Promise<void>
  loadedSkills(): Promise<unknown>
  start(options?: Options): Promise<unknown>
  compact(options?: Options): Promise<unknown>
  compacted(): Promise<void>
  onCompact(listener: (event: object) => void): () => void
  subscribe(listener: () => void): () => void
  getSnapshot(): object
}

export interface UserLike {
  readonly facts: {
    list(query?: Options): Promise<unknown>
    remember(fact: Options): Promise<unknown>
    forget(id: string): Promise<void>
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
  audit(query?: Options): Promise<unknown>
  settings(): Promise<unknown>
  changeSettings(patch: Options): Promise<unknown>
  recall(query: string, options?: Options): Promise<unknown>
}

export interface MemoryLike {
  session(scope: Options, options?: Options): SessionLike
  user(scope: Options): UserLike
  sessions(scope: Options): {
    list(): Promise<unknown>
    title(session: string, title: string): Promise<void>
    delete(session: string): Promise<unknown>
  }
  export(scope: Options, options?: Options): AsyncIterable<string>
  import(scope: Options, lines: readonly string[], options?: Options): Promise<unknown>
  erase(scope: Options): Promise<unknown>
  nextWorkAt(): Promise<number | undefined>
  runDueWork(): Promise<number | undefined>
}

export interface FirstLibrary extends CountersLike {
  createCore(options: Options): MemoryLike
  readonly onDemand: object
  extractFacts(rounds: never): unknown
  lexicalRecall(options?: Options): object
  readonly englishStemmer: object
}
