import type { Feature, KernelMemory, RegisterKind } from '../../kernel/feature.ts'
import type { Json } from '../../ports/message.ts'
import type { IndexEntry } from '../../ports/op.ts'
import { isStandardSchema, type StandardSchema } from '../../ports/standard-schema.ts'
import { checkJson } from '../../text/check-json.ts'
import { checkOptions, invalid } from '../../text/json.ts'
import { PLACES } from '../places.ts'
import { conflict, deleted, readRegister, type WriteOptions } from '../register.ts'
import { laneOf } from '../sizes.ts'
import { Dated } from '../slots.ts'
import { writtenAt } from '../written.ts'
import { CHECKPOINT, Checkpoint, checkKept } from './checkpoint.ts'
import { checkpointSection } from './checkpoint-section.ts'

export interface CheckpointOptions<State> {
  /**
   * Checks what is kept, before it is written and when it is read; of any library that speaks
   * Standard Schema, for example zod. What it gives is what is kept, so a schema that changes its
   * input has to take its own output.
   */
  readonly schema?: StandardSchema<unknown, State>
  /** Most tokens of an excerpt of it in the tail of each context. Default 0: none of it shows. */
  readonly excerptTokens?: number
}

/** @typeParam Kept what it is where nothing was kept yet: the state, or nothing */
export interface CheckpointShape<State, Kept = State> {
  readonly api: Checkpoint<State, Kept>
  /** `null` keeps nothing. */
  readonly commit: State | null
  readonly commitOptions: {
    /**
     * The version over which the checkpoint is written; `null`: only where there is none. Default:
     * over whatever is there.
     */
    readonly ifVersion?: string | null
  }
  /** Its version; `null`: nothing is kept now. */
  readonly outcome: string | null
}

/** Options with a state to begin with, by which `get` never gives undefined. */
export interface InitialCheckpoint<State> extends CheckpointOptions<State> {
  /** The value where nothing is kept, or what makes it each time. */
  readonly initial: State | (() => State)
}

/**
 * Mutable state of a session's task, beside its log: JSON of at most 32 KiB. Adds
 * `session.checkpoint` and `commit({ checkpoint })`. It is in no context unless `excerptTokens`
 * gives it room. Its type is that of `initial`, or else what `schema` gives, or any JSON.
 *
 * @throws ERR_INVALID_ARGUMENT, an unknown option included
 */
export function checkpoint<State>(
  options: InitialCheckpoint<State>,
): Feature<'checkpoint', CheckpointShape<State>>
export function checkpoint(
  options?: CheckpointOptions<Json> & { readonly schema?: never },
): Feature<'checkpoint', CheckpointShape<Json, Json | undefined>>
export function checkpoint<State>(
  options?: CheckpointOptions<State>,
): Feature<'checkpoint', CheckpointShape<State, State | undefined>>
export function checkpoint<State>(
  options: CheckpointOptions<State> & Partial<InitialCheckpoint<State>> = {},
): Feature<'checkpoint', CheckpointShape<State>> {
  checkOptions('checkpoint', 'options', options, ['schema', 'initial', 'excerptTokens'])
  const { schema, excerptTokens, initial } = options
  if (schema !== undefined && !isStandardSchema(schema))
    throw invalid('checkpoint', 'schema', 'must be a Standard Schema')
  if (initial !== undefined && typeof initial !== 'function') checkJson('checkpoint', 'initial', initial)
  return {
    name: 'checkpoint',
    registers: [REGISTER],
    ...laneOf('checkpoint', { excerptTokens }),
    open: (session) => {
      const { store, memory } = session
      const { host } = memory
      const kept = new Checkpoint<State>({
        ...options,
        store,
        host,
        register: () => session.register(),
        run: (work) => session.run(work),
        index: () => placesIn(memory),
      })
      return {
        api: kept,
        write: {
          options: ['ifVersion'],
          check: async (operation, value, { ifVersion }) => ({
            value: await kept.check(operation, value),
            ...(ifVersion !== undefined && { ifVersion }),
          }),
          prepare: async (
            { value, ...options }: { readonly value: Json } & Pick<WriteOptions, 'ifVersion'>,
            draft,
          ) => {
            const opId = draft.part('checkpoint')
            return {
              ops: [await kept.prepare(value, { opId, ...options })],
              refuse: async ([result]) => {
                if (result?.status === 'rejected') throw deleted(draft.operation, CHECKPOINT)
                if (result?.status === 'conflict' && options.ifVersion !== undefined)
                  throw conflict(draft.operation, CHECKPOINT, (await readRegister(store, CHECKPOINT)).version)
              },
              outcome: () => (value === null ? null : opId),
            }
          },
        },
        ...(excerptTokens && {
          show: {
            tail: async ({ count }) => {
              const { value, version } = await kept.read()
              if (version === null) return undefined
              const { text, use } = checkpointSection(value, excerptTokens, count)
              const section = {
                in: 'tail',
                at: PLACES.checkpoint,
                name: 'checkpoint',
                trust: 'user',
              } as const
              return { sections: [{ ...section, text, use }] }
            },
          },
        }),
      }
    },
  }
}

const REGISTER: RegisterKind = {
  prefix: CHECKPOINT,
  part: 'checkpoint',
  owners: ['session'],
  isUnlabelled: true,
  check: (operation, _, value) => checkKept(operation, value),

  index: (_, __, { memory }) => placesIn(memory),
}

/** Where a checkpoint stands that is written now. */
function placesIn(memory: KernelMemory): readonly IndexEntry[] {
  return memory.all(Dated).length > 0 ? [writtenAt(memory.host.now())] : []
}
