/** What stands between the neutral commands and one API. */
import type { CommandOf, TabCommand } from './commands.ts'
import type { Configuration } from './configuration.ts'
import type { CountingHost } from './host.ts'
import type { JsonObject } from './json.ts'
import type { ScriptedModel } from './model.ts'
import type { StoreLike } from './store.ts'

/** What the driver gives to one run. */
export interface World {
  readonly configurations: readonly Configuration[]
  readonly host: CountingHost
  readonly model: ScriptedModel
  /** The stores by number, with the driver's faults between. */
  store(number: number): StoreLike
  /** What an earlier command gave under that name (`as`): an id, or the lines of an export. */
  named(name: string): unknown
  /** Tells of what the memory tells its app: `{ type: 'compact' | 'cut', … }`. */
  tell(event: JsonObject): void
}

/**
 * One function for each command. Contract: it resolves with what the API gives; where two builds
 * have two APIs, as the older one gave it. Where the API refuses, it rejects with the API's error.
 */
export type Handlers = {
  readonly [Kind in TabCommand['kind']]: (command: CommandOf<Kind>) => Promise<unknown>
}

export interface Run {
  readonly handlers: Handlers
  /**
   * Contract: resolves once nothing is under way that any command began, summaries ahead of need
   * included.
   */
  settle(): Promise<void>
}

/** One API over one build. */
export interface Adapter {
  /** How the build is called in what is printed. */
  readonly name: string
  /** Begins a run: nothing is open. */
  begin(world: World): Run
  /**
   * Contract: a row, or a line of an export, in the spelling that builds are compared in. Default:
   * it is.
   */
  row?(row: JsonObject): JsonObject
}
