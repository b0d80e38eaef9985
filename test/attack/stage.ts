/** The processes of one attack, their store, and what should be in it. */
import {
  type CheckpointShape,
  type CompactionShape,
  type Counter,
  checkpoint,
  compaction,
  createMemory,
  defaultCounter,
  extraction,
  type FactsShape,
  facts,
  isPlimsollError,
  type Memory,
  type Model,
  type ProfileShape,
  profile,
  type RecallShape,
  recall,
  retention,
  type Session as SessionWith,
  type SkillsShape,
  type Store,
  skills,
  type User as UserWith,
} from '../../src/index.ts'
import { OwnerWorld } from './owner.ts'
import { CANARIES, OWNERS, ownerOf, PLACES } from './places.ts'
import type { At, Program } from './program.ts'
import { Crash, crashing, type Disk, type Fuse } from './stores.ts'
import { World } from './world.ts'

const SYSTEM = 'You are a travel agent.'
const HOUR = 3_600_000
export const DAY = 24 * HOUR

/** What a session's checkpoint holds. */
export interface State {
  readonly marks: readonly string[]
}

/** What sessions have with all features; with fewer, see {@link Stage.hasFacts}. */
export interface Features {
  readonly facts: FactsShape
  readonly compaction: CompactionShape
  readonly recall: RecallShape
  readonly profile: ProfileShape
  readonly skills: SkillsShape
  readonly checkpoint: CheckpointShape<State>
}
export type Session = SessionWith<Features>
export type User = UserWith<Features>

/** A process: a memory with its sessions. */
export interface Tab {
  readonly memory: Memory<Features>
  readonly sessions: readonly Session[]
}

/** What a test puts wrong in the store, to see that it is found. */
export type StoreChange = (store: Store) => Store

/** A law that does not hold. */
export class Broken extends Error {}

export function mustNot(reason: string | undefined): void {
  if (reason !== undefined) throw new Broken(reason)
}

export class Stage {
  readonly program: Program
  readonly disk: Disk
  readonly counts = { built: 0, refused: 0, attested: 0 }
  readonly worlds = PLACES.map(() => new World())
  readonly owners = OWNERS.map(() => new OwnerWorld())
  /** The rows that each place's log had when it was looked at. */
  readonly logs = new Map<number, readonly string[]>()
  readonly fuse: Fuse = { reached: false }
  readonly tabs: Tab[]
  /** Whether a process ends with its next crash. */
  dies = false
  now = 1_790_000_000_000
  readonly #change: StoreChange
  readonly #exact: Counter
  #ids = 0
  #ops = 0
  #marks = 0

  constructor(program: Program, disk: Disk, exact: Counter, change: StoreChange = (store) => store) {
    this.program = program
    this.disk = disk
    this.#exact = exact
    this.#change = change
    this.tabs = [this.open(), this.open()]
  }

  /** Another process. */
  open(store = this.disk.open()): Tab {
    const memory = this.memoryOver(crashing(this.#change(store), this.fuse))
    return { memory, sessions: PLACES.map((place) => memory.session(place)) }
  }

  memoryOver(store: Store): Memory<Features> {
    const { line, counter, features, kept = {} } = this.program
    const options = {
      store,
      budget: line,
      counter: counter === 'exact' ? this.#exact : defaultCounter,
      system: SYSTEM,
      newId: () => `id-${++this.#ids}`,
      newSecret: () => String(++this.#ids).padStart(64, '0'),
      clock: () => this.now,
    }
    if (features === 'none') return createMemory(options) as Memory as Memory<Features>
    if (features === 'some')
      return createMemory({ ...options, use: [facts(), compaction()] }) as Memory as Memory<Features>
    const initial: State = { marks: [] }
    const days = Object.entries(kept).map(([part, number]) => [part, { days: number }] as const)
    return createMemory({
      ...options,
      use: [
        profile(),
        skills(),
        facts(),
        extraction(),
        checkpoint({ initial, excerptTokens: 40 }),
        compaction({ model: QUOTING }),
        recall(),
        ...(days.length > 0 ? [retention(Object.fromEntries(days))] : []),
      ],
    })
  }

  /** Whether sessions have facts and compaction. */
  get hasFacts(): boolean {
    return this.program.features !== 'none'
  }

  /** Whether they have all features. */
  get hasAll(): boolean {
    return this.program.features === 'all'
  }

  world({ scope }: Pick<At, 'scope'>): World {
    return this.worlds[scope] as World
  }

  owner({ scope }: Pick<At, 'scope'>): OwnerWorld {
    return this.owners[ownerOf(scope)] as OwnerWorld
  }

  tab({ tab }: Pick<At, 'tab'>): Tab {
    return this.tabs[tab] as Tab
  }

  session(at: At): Session {
    return this.tab(at).sessions[at.scope] as Session
  }

  user(at: At): User {
    return this.tab(at).memory.user((OWNERS[ownerOf(at.scope)] as (typeof OWNERS)[number]).user)
  }

  /** A call, and the same once more where the store failed under it: nobody heard of the first. */
  async surely<T>(at: At, call: () => Promise<T>): Promise<T> {
    for (let tries = 0; ; tries++)
      try {
        return await call()
      } catch (error) {
        if (!isCrash(error) || tries > 2) throw error
        if (this.dies) this.tabs[at.tab] = this.open()
      }
  }

  opId(): string {
    return `op-${++this.#ops}`
  }

  /** A name of its own; names are no content, and outlive what they name. */
  name(kind: string): string {
    return `${kind}-${++this.#ops}`
  }

  /** A word that is said once, in one place. */
  mark(scope: number): string {
    return `${CANARIES[scope]}-${++this.#marks}-mark`
  }

  /** A word that is said once, for all sessions of a place's user. */
  sharedMark(scope: number): string {
    return `${OWNERS[ownerOf(scope)]?.canary}-${++this.#marks}-mark`
  }

  /** Something was deleted in a place, or in what its user shares. */
  doubt(scope: number): void {
    for (const one of OWNERS[ownerOf(scope)]?.scopes ?? []) this.worlds[one]?.doubt()
  }

  /** Nothing that shows to one scope is of another one, or was forgotten. */
  seen(scopes: number | readonly number[], where: string, text: string): void {
    const own = [scopes].flat()
    for (const [at, canary] of CANARIES.entries())
      if (!own.includes(at) && text.includes(`${canary}-`))
        throw new Broken(`${where} of ${own} shows ${canary}`)
    for (const { canary, scopes: theirs } of OWNERS)
      if (!theirs.some((scope) => own.includes(scope)) && text.includes(`${canary}-`))
        throw new Broken(`${where} of ${own} shows ${canary}`)
    for (const world of this.worlds)
      for (const mark of world.gone)
        if (text.includes(mark)) throw new Broken(`${where} shows ${mark}, which was forgotten`)
  }
}

export function isCrash(error: unknown): boolean {
  return error instanceof Crash || isPlimsollError(error, 'ERR_STORAGE')
}

export function chosen<T>(list: readonly T[], which: number): T | undefined {
  return list[which % Math.max(1, list.length)]
}

/** Repeats what it is to sum up, as a model would. */
const QUOTING: Model = {
  id: 'quoting',
  async *complete({ context }) {
    const marks = JSON.stringify(context.blocks).match(/[a-z]+-\d+-mark/g) ?? []
    const content = `They spoke of ${marks.slice(-4).join(', ')}. And of trains.`
    yield { type: 'finish', message: { role: 'assistant', content }, reason: 'stop' }
  },
}
