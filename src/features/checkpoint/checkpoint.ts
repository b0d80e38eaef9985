import type { KernelSession } from '../../kernel/feature.ts'
import { checkSize } from '../../kernel/log/check-message.ts'
import type { Checkpointed } from '../../ports/checkpoint.ts'
import type { Host } from '../../ports/host.ts'
import type { Json } from '../../ports/message.ts'
import type { IndexEntry, Op } from '../../ports/op.ts'
import type { StandardIssue, StandardSchema } from '../../ports/standard-schema.ts'
import type { ScopeStore } from '../../ports/store.ts'
import { checkJson } from '../../text/check-json.ts'
import { checkOptions, copyOf, invalid } from '../../text/json.ts'
import { changeRegister, checkWrite, readRegister, type WriteOptions } from '../register.ts'

/** Key of the checkpoint. */
export const CHECKPOINT = 'checkpoint'
/** Largest checkpoint, in UTF-8 bytes of its JSON. */
const MAX_BYTES = 32 * 1024

export interface CheckpointParts<State> {
  readonly schema?: StandardSchema<unknown, State>
  /** The value where nothing is kept, or what makes it each time. Default: none. */
  readonly initial?: State | (() => State)
  /** The session's scope. */
  readonly store: ScopeStore
  readonly host: Host
  /** Lists the session with its user, unless it is listed. */
  readonly register: () => Promise<void>
  /** Runs a call after those of the session before it. */
  readonly run: KernelSession['run']
  /** Where it stands from now on. */
  readonly index: () => readonly IndexEntry[]
}

/**
 * Mutable state of a session's task, beside its log: JSON of at most 32 KiB and 32 levels. Nothing
 * of it is in any prompt unless the app puts it there.
 */
export class Checkpoint<State = unknown, Kept = State> {
  readonly #parts: CheckpointParts<State>

  constructor(parts: CheckpointParts<State>) {
    this.#parts = parts
  }

  /**
   * What is kept, else `default`, else what the feature was given as `initial`, else undefined.
   *
   * @throws ERR_INVALID_ARGUMENT: what is kept does not fit the schema any more, so an older
   * version of the app wrote it
   */
  get(options: { readonly default: State | (() => State) }): Promise<Checkpointed<State>>
  get(options?: { readonly default?: State | (() => State) }): Promise<Checkpointed<Kept>>
  get(options: { readonly default?: State | (() => State) } = {}): Promise<Checkpointed<never>> {
    return this.#parts.run(async () => {
      checkOptions('get', 'options', options, ['default'])
      return (await this.read(options.default)) as Checkpointed<never>
    })
  }

  /** As {@link get}, from inside a call that runs. */
  async read(fallback?: State | (() => State)): Promise<Checkpointed<State | undefined>> {
    const { value, version } = await readRegister<Json>(this.#parts.store, CHECKPOINT)
    return { value: await this.#valueOf('get', value, fallback), version }
  }

  /**
   * Keeps a value in place of what was kept; `null`: nothing, as {@link delete}. Durable when it
   * resolves.
   *
   * @returns its version; `null`: nothing is kept now
   * @throws ERR_INVALID_ARGUMENT (the path of what does not fit), ERR_ENTRY_TOO_LARGE, ERR_CONFLICT
   * (`version`); nothing is written
   */
  set(value: null, options?: WriteOptions): Promise<null>
  set(value: State & {}, options?: WriteOptions): Promise<string>
  set(value: State | null, options?: WriteOptions): Promise<string | null>
  set(value: State | null, options: WriteOptions = {}): Promise<string | null> {
    return this.#parts.run(async () => {
      checkWrite('set', options)
      const checked = await this.check('set', value)
      return this.#change('set', options, () => checked)
    })
  }

  /**
   * Changes what is kept, again if others changed it meanwhile, so that no change is lost. Updates
   * of one session object follow one another; where other handles, tabs or processes keep writing,
   * it tries again for 5 seconds of waits.
   *
   * @param change Contract: gives the new value by the one that {@link get} gives, `null` to keep
   * nothing; may be called more than once. It must not wait for another call of the session, which
   * would wait for this one
   * @returns the version; `null`: nothing is kept now
   * @throws as {@link get} and {@link set}, and what `change` throws
   */
  update(
    change: (value: State) => State | null | Promise<State | null>,
    options: { readonly default: State | (() => State); readonly opId?: string },
  ): Promise<string | null>
  update(
    change: (value: Kept) => State | null | Promise<State | null>,
    options?: { readonly default?: State | (() => State); readonly opId?: string },
  ): Promise<string | null>
  update(
    change: (value: never) => State | null | Promise<State | null>,
    options: { readonly default?: State | (() => State); readonly opId?: string } = {},
  ): Promise<string | null> {
    return this.#parts.run(async () => {
      checkOptions('update', 'options', options, ['default', 'opId'])
      const { default: fallback, ...named } = options
      return this.#change('update', named, async (before) => {
        const value = await this.#valueOf('update', before, fallback)
        return this.check('update', await change(value as never))
      })
    })
  }

  /** Keeps nothing. Idempotent. @throws ERR_CONFLICT (`version`) */
  delete(options: WriteOptions = {}): Promise<void> {
    return this.#parts.run(async () => {
      checkWrite('delete', options)
      await this.#change('delete', options, () => null)
    })
  }

  /** A value as it is kept. @throws ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE */
  async check(operation: string, value: unknown): Promise<Json> {
    if (value === null) return null
    const given = checkKept(operation, value)
    return this.#parts.schema ? checkKept(operation, await this.#fit(operation, given)) : given
  }

  /**
   * What keeping a checked value would write, for a commit together with others. A conflict means:
   * prepare again.
   */
  async prepare(value: Json, { ifVersion, opId }: WriteOptions & { readonly opId: string }): Promise<Op> {
    const { store, index } = this.#parts
    const { version, base } = await readRegister<Json>(store, CHECKPOINT)
    const isExpected = ifVersion === undefined || ifVersion === version
    const places = value === null ? [] : index()
    return { kind: 'put', opId, key: CHECKPOINT, base: isExpected ? base : ifVersion, value, index: places }
  }

  async #change(
    operation: string,
    options: WriteOptions,
    change: (before: Json | undefined) => Json | Promise<Json>,
  ): Promise<string | null> {
    const { store, host, register, index } = this.#parts
    return changeRegister<Json>(store, host, {
      ...options,
      operation,
      key: CHECKPOINT,
      isPatient: true,
      index,
      change: async (before) => {
        const after = await change(before)
        if (before === undefined && after !== null) await register()
        return after
      },
    })
  }

  async #valueOf(
    operation: string,
    kept: Json | undefined,
    fallback: State | (() => State) | undefined = this.#parts.initial,
  ): Promise<State | undefined> {
    if (kept !== undefined)
      return this.#fit(operation, kept, ' (what is kept, by an older version of the app)')
    if (typeof fallback === 'function') return (fallback as () => State)()
    // Who gets it may change it.
    return fallback === undefined ? undefined : copyOf(fallback)
  }

  async #fit(operation: string, value: unknown, whose = ''): Promise<State> {
    const { schema } = this.#parts
    if (!schema) return value as State
    const { issues, ...result } = await schema['~standard'].validate(value)
    const [issue] = issues ?? []
    if (issue) throw invalid(operation, pathOf(issue), `does not fit the schema${whose}: ${issue.message}`)
    return (result as { readonly value: State }).value
  }
}

/**
 * A value as it is kept, whatever the app's schema says. @throws ERR_INVALID_ARGUMENT,
 * ERR_ENTRY_TOO_LARGE
 */
export function checkKept(operation: string, value: unknown): Json {
  const text = JSON.stringify(checkJson(operation, CHECKPOINT, value))
  checkSize(operation, CHECKPOINT, text, MAX_BYTES)
  return JSON.parse(text) as Json
}

/** As the paths of other arguments: `checkpoint.items[0].id`. */
function pathOf({ path = [] }: StandardIssue): string {
  return path.reduce<string>((before, segment) => {
    const key = typeof segment === 'object' ? segment.key : segment
    return typeof key === 'number' ? `${before}[${key}]` : `${before}.${String(key)}`
  }, CHECKPOINT)
}
