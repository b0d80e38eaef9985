import type { Checkpointed } from '../ports/checkpoint.ts'
import type { CallOptions } from './options.ts'
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
   * @returns its version
   * @throws ERR_CONFLICT (`version`), ERR_ENTRY_TOO_LARGE (32 KiB), ERR_INVALID_ARGUMENT; nothing
   * is written
   */
  set(value: unknown, options?: VersionedOptions): Promise<string>
}

export function checkpointClient({ json }: Transport, path: string): CheckpointClient {
  async function get<State>({
    default: fallback,
    ifNoneMatch,
    ...options
  }: CheckpointQuery<State> & { readonly ifNoneMatch?: string } = {}): Promise<Checkpointed<State>> {
    const headers = unless(ifNoneMatch)
    const kept = await json<Checkpointed<State>>('GET', path, { ...options, headers })
    return kept?.version === null ? { ...kept, value: fallback as State } : kept
  }
  return {
    get,
    async set(value, options) {
      const body = { value }
      return (await json<{ readonly version: string }>('PUT', path, { ...boundTo(options), body })).version
    },
  }
}
