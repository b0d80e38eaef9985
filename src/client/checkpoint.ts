import type { Checkpointed } from '../ports/checkpoint.ts'
import type { RequestError } from './error.ts'
import { backoff, type CallOptions, sleep } from './options.ts'
import type { Transport } from './transport.ts'
import { boundTo, unless, type VersionedOptions } from './versions.ts'

export interface CheckpointQuery<State> extends CallOptions {
  /** The value where nothing is kept. Default `undefined`. */
  readonly default?: State
}

/** State of a session's task, beside its log: JSON of at most 32 KiB. */
export interface CheckpointClient {
  get<State>(options?: CheckpointQuery<State>): Promise<Checkpointed<State>>
  /** @returns undefined where `ifNoneMatch` is the version that is there: nothing has changed */
  get<State>(
    options: CheckpointQuery<State> & { readonly ifNoneMatch: string },
  ): Promise<Checkpointed<State> | undefined>
  /**
   * Keeps a value; `null`: nothing, as {@link delete}.
   *
   * @returns its version; `null`: nothing is kept now
   * @throws ERR_CONFLICT (`version`), ERR_ENTRY_TOO_LARGE (32 KiB), ERR_INVALID_ARGUMENT; nothing
   * is written
   */
  set(value: null, options?: VersionedOptions): Promise<null>
  set(value: string | number | boolean | object, options?: VersionedOptions): Promise<string>
  set(value: unknown, options?: VersionedOptions): Promise<string | null>
  /**
   * Changes what is kept, again if others changed it meanwhile, so that no change is lost. Updates
   * of one session object follow one another; where others keep writing, it tries again for 5
   * seconds of waits.
   *
   * @param change Contract: gives the new value, `null` to keep nothing; may be called more than
   * once
   * @returns the version; `null`: nothing is kept now
   * @throws as {@link set}, and what `change` throws
   */
  update<State>(
    change: (value: State) => State | null | Promise<State | null>,
    options?: CheckpointQuery<State>,
  ): Promise<string | null>
  /** Keeps nothing; the messages stay. Idempotent. @throws ERR_CONFLICT (`version`) */
  delete(options?: VersionedOptions): Promise<void>
}

/** How long an update waits in all while others write, and how it waits, in milliseconds. */
const PATIENCE_MS = 5_000
const WAITS = { baseMs: 20, capMs: 256 }

export function checkpointClient({ json, settings }: Transport, path: string): CheckpointClient {
  /** The update before the next one. */
  let last: Promise<unknown> = Promise.resolve()
  async function get<State>({
    default: fallback,
    ifNoneMatch,
    ...options
  }: CheckpointQuery<State> & { readonly ifNoneMatch?: string } = {}): Promise<Checkpointed<State>> {
    const headers = unless(ifNoneMatch)
    const kept = await json<Checkpointed<State>>('GET', path, { ...options, headers })
    return kept?.version === null ? { ...kept, value: fallback as State } : kept
  }
  async function set(value: unknown, options?: VersionedOptions): Promise<never> {
    return (await json<{ readonly version: never }>('PUT', path, { ...boundTo(options), body: { value } }))
      .version
  }
  async function change<State>(
    make: (value: State) => unknown,
    { default: fallback, ...options }: CheckpointQuery<State>,
  ): Promise<never> {
    for (let attempt = 0, waited = 0; ; attempt++) {
      const { value, version } = await get<State>({
        ...options,
        ...(fallback !== undefined && { default: fallback }),
      })
      const next = await make(value)
      try {
        return await set(next, { ...options, ifVersion: version })
      } catch (error) {
        if ((error as RequestError).code !== 'ERR_CONFLICT' || waited >= PATIENCE_MS) throw error
      }
      const ms = backoff({ ...settings, retry: WAITS }, attempt)
      waited += ms
      await sleep(settings, ms, options.signal)
    }
  }
  return {
    get,
    set,
    update(make, options = {}) {
      const turn = last.then(() => change(make, options))
      last = turn.catch(() => {})
      return turn
    },
    delete: async (options) => json('DELETE', path, boundTo(options)),
  }
}
