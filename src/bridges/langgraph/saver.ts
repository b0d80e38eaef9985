import type { RunnableConfig } from '@langchain/core/runnables'
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  type DeltaChannelHistory,
  maxChannelVersion,
  type PendingWrite,
  type SerializerProtocol,
  TASKS,
  WRITES_IDX_MAP,
} from '@langchain/langgraph-checkpoint'
import { changeRegister, readRegister } from '../../features/register.ts'
import { valueIn } from '../../kernel/log/bodies.ts'
import { allOrNone } from '../../kernel/log/once.ts'
import { sealOp } from '../../kernel/log/seal.ts'
import { webHost } from '../../platform/web.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { Json } from '../../ports/message.ts'
import type { Scope } from '../../ports/op.ts'
import {
  type IndexQuery,
  PAGE_ROWS,
  type RegisterRow,
  type ScopeStore,
  type Store,
} from '../../ports/store.ts'
import { checkFields, optional } from '../../text/fields.ts'
import { checkId, checkOptions, checkText, invalid } from '../../text/json.ts'
import { descending, endOf, labelsOf, pathOf } from './paths.ts'
import {
  type Content,
  difference,
  isSameContent,
  type Ref,
  restored,
  type StoredValue,
  Values,
} from './values.ts'

export interface PlimsollSaverOptions {
  /** Where threads are kept: any store of this library, for example `sqliteStore({ path })`. */
  readonly store: Store
  /** Whose threads these are. */
  readonly userId: string
  readonly tenant?: string
  /** LangGraph's own serializer by default. */
  readonly serde?: SerializerProtocol
}

/** One checkpoint, as its register holds it. */
interface StoredCheckpoint {
  readonly parent?: string
  /** Without the values of its channels. */
  readonly checkpoint: Json
  readonly metadata: Json
  /** Where the value of each channel is. */
  readonly values: { readonly [channel: string]: Ref }
  /** The values that came with it. A slot never changes: others have it as their base. */
  readonly own: readonly StoredValue[]
}

/** What one task wrote after a checkpoint. */
interface StoredWrites {
  readonly task: string
  readonly path: string
  readonly writes: readonly StoredWrite[]
}

/** Its number in the task (below 0: of a kind that is there once), its channel and its value. */
type StoredWrite = readonly [idx: number, channel: string, value: Json]

/** A thread's namespace. */
interface Place {
  readonly thread: string
  readonly namespace: string
  readonly scope: ScopeStore
}

/** Threads are sessions of names that begin so. */
const THREAD = 'langgraph/'
/** Groups of checkpoints, newest first: all of them, and those without a parent. */
const ALL = 'checkpoints'
const ROOTS = 'roots'
const PAGE = 64
/** How many contents are kept in memory, so that a turn does not read the whole thread again. */
const KEPT = 32

const OPTIONS = ['store', 'userId', 'tenant', 'serde']

/**
 * Keeps the threads of LangGraph in a store of this library. Of each channel a checkpoint holds
 * what changed since the checkpoint before it: of a list its new items, of an object its changed
 * fields, of anything else nothing where it did not change. Forks share what they have in common.
 *
 * A write is durable when its promise resolves. Errors of the store are thrown as they are.
 *
 * @example
 * ```ts
 * import { sqliteStore } from 'plimsoll/sqlite'
 * import { PlimsollSaver } from 'plimsoll/langgraph'
 *
 * const checkpointer = new PlimsollSaver({ store: sqliteStore({ path: 'threads.db' }), userId: 'ada' })
 * const graph = builder.compile({ checkpointer })
 * ```
 */
export class PlimsollSaver extends BaseCheckpointSaver {
  readonly #store: Store
  readonly #owner: Omit<Scope, 'sessionId'>
  readonly #values: Values
  readonly #contents = new Map<string, Content>()

  /** @throws ERR_INVALID_ARGUMENT */
  constructor(options: PlimsollSaverOptions) {
    checkOptions('PlimsollSaver', 'options', options, OPTIONS)
    const { store, serde, ...owner } = options
    super(serde)
    if (typeof store?.open !== 'function')
      throw invalid('PlimsollSaver', 'store', 'must be a store, for example mapStore()')
    if (typeof this.serde.dumpsTyped !== 'function' || typeof this.serde.loadsTyped !== 'function')
      throw invalid('PlimsollSaver', 'serde', 'must have dumpsTyped and loadsTyped')
    this.#store = store
    this.#owner = checkFields('PlimsollSaver', '', owner, { userId: checkId, tenant: optional(checkId) })
    this.#values = new Values(this.serde)
  }

  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const { thread_id: thread, checkpoint_ns = '', checkpoint_id: id } = config.configurable ?? {}
    if (thread === undefined) return undefined
    const place = this.#place('getTuple', thread, checkpoint_ns)
    const stored =
      id === undefined || id === ''
        ? await newest(place)
        : await readCheckpoint(place, checkText('getTuple', 'checkpoint_id', id))
    return stored && this.#tuple(place, stored)
  }

  async *list(config: RunnableConfig, options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
    const { thread_id: thread, checkpoint_ns: namespace, checkpoint_id: only } = config.configurable ?? {}
    const { before, filter = {} } = options
    const to: unknown = before?.configurable?.checkpoint_id
    if (to !== undefined) checkText('list', 'before', to)
    const wanted = Object.entries(filter)
    let left = options.limit ?? Number.POSITIVE_INFINITY
    const shown = namespace === undefined ? undefined : checkText('list', 'checkpoint_ns', namespace)
    for await (const place of this.#threads(thread)) {
      for await (const stored of checkpointsOf(place.scope, shown, before?.configurable?.checkpoint_id)) {
        if (left <= 0) return
        if (only !== undefined && only !== '' && stored.id !== only) continue
        if (wanted.length > 0) {
          const metadata = (await this.#values.load(stored.metadata)) as { readonly [key: string]: unknown }
          if (!wanted.every(([key, value]) => JSON.stringify(metadata[key]) === JSON.stringify(value)))
            continue
        }
        left--
        yield await this.#tuple(place, stored)
      }
    }
  }

  async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const { thread_id: thread, checkpoint_ns = '', checkpoint_id: parent } = config.configurable ?? {}
    const place = this.#place('put', thread, checkpoint_ns)
    const { namespace } = place
    const id = checkId('put', 'checkpoint.id', checkpoint.id)
    const { channel_values: values, ...rest } = checkpoint
    const base =
      parent === undefined
        ? undefined
        : await readCheckpoint(place, checkText('put', 'checkpoint_id', parent))
    const versions = base && ((await this.#values.load(base.checkpoint)) as Checkpoint).channel_versions
    const refs = new Map<string, Ref>()
    const added = new Map<string, { readonly stored: StoredValue; readonly content: Content }>()
    for (const channel of Object.keys(values)) {
      const there = own(base?.values, channel)
      const isNew = Object.hasOwn(newVersions, channel)
      if (!isNew && there && versions?.[channel] === checkpoint.channel_versions[channel]) {
        refs.set(channel, there)
        continue
      }
      const content = await this.#values.contentOf(values[channel])
      const before = there && { ref: there, ...(await this.#read(place, there)) }
      if (before && isSameContent(content, before.content)) refs.set(channel, before.ref)
      else if (isNew || parent !== undefined)
        added.set(channel, { content, stored: difference(content, before) })
      else {
        // A copy of a thread's first checkpoint names none of its values as new.
        const found = await this.#amongRoots(place, channel, content)
        if (found) refs.set(channel, found)
      }
    }
    const [head, meta] = await Promise.all([this.#values.dump(rest), this.#values.dump(metadata)])
    const order = orderOf({ namespace, id })
    const version = await changeRegister<StoredCheckpoint>(place.scope, webHost, {
      operation: 'put',
      isPatient: true,
      key: checkpointKey(namespace, id),
      index: () => [{ group: ALL, order }, ...(parent === undefined ? [{ group: ROOTS, order }] : [])],
      change: (before) => {
        // A slot that was written may be the base of others, so it stays.
        const slots = [...(before?.own ?? [])]
        for (const [channel, { stored }] of added) {
          const text = JSON.stringify(stored)
          const at = slots.findIndex((slot) => JSON.stringify(slot) === text)
          refs.set(channel, [at < 0 ? slots.push(stored) - 1 : at, id])
        }
        return {
          ...(parent !== undefined && { parent }),
          checkpoint: head,
          metadata: meta,
          values: Object.fromEntries(refs),
          own: slots,
        }
      },
    })
    for (const [channel, { content }] of added) {
      const [slot] = refs.get(channel) as Ref
      this.#keep(nameOf(version, slot), content)
    }
    return { configurable: { thread_id: place.thread, checkpoint_ns: namespace, checkpoint_id: id } }
  }

  async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
    taskPath = '',
  ): Promise<void> {
    const { thread_id: thread, checkpoint_ns = '', checkpoint_id: id } = config.configurable ?? {}
    const { scope, namespace } = this.#place('putWrites', thread, checkpoint_ns)
    checkText('putWrites', 'checkpoint_id', id)
    checkText('putWrites', 'taskId', taskId)
    const added = await Promise.all(
      writes.map(async ([channel, value], at): Promise<StoredWrite> => {
        return [own(WRITES_IDX_MAP, channel) ?? at, channel, await this.#values.dump(value)]
      }),
    )
    await changeRegister<StoredWrites>(scope, webHost, {
      operation: 'putWrites',
      isPatient: true,
      key: `${writesKey(namespace, id)}${pathOf([taskId])}`,
      change: (before) => {
        const there = new Map(before?.writes.map((write) => [write[0], write]))
        // What a task wrote once stays; how it ended may change.
        for (const write of added) if (write[0] < 0 || !there.has(write[0])) there.set(write[0], write)
        return { task: taskId, path: before?.path ?? taskPath, writes: [...there.values()] }
      },
    })
  }

  /** Erases the thread: what it held is gone for ever. */
  async deleteThread(threadId: string): Promise<void> {
    const { scope } = this.#place('deleteThread', threadId, '')
    if ((await scope.head()).seq === 0) return
    this.#contents.clear()
    await scope.commit([sealOp({ kind: 'erase', opId: webHost.newId() })], allOrNone)
  }

  override async getDeltaChannelHistory({
    config,
    channels,
  }: {
    config: RunnableConfig
    channels: string[]
  }): Promise<Record<string, DeltaChannelHistory>> {
    const { thread_id: thread, checkpoint_ns = '', checkpoint_id: id } = config.configurable ?? {}
    const place = this.#place('getDeltaChannelHistory', thread, checkpoint_ns)
    const found = new Map<string, { writes: CheckpointPendingWrite[]; seed?: unknown }>(
      channels.map((channel) => [channel, { writes: [] }]),
    )
    const open = new Set(channels)
    let at = id === undefined || id === '' ? await newest(place) : await readCheckpoint(place, id)
    while (open.size > 0 && at?.parent !== undefined) {
      at = await readCheckpoint(place, at.parent)
      if (!at) break
      const writes = (await readWrites(place, at.id)).filter(([, channel]) => open.has(channel))
      for (const [task, channel, value] of writes.reverse())
        found.get(channel)?.writes.push([task, channel, await this.#values.load(value)])
      for (const channel of open) {
        const ref = own(at.values, channel)
        const seed = ref && (await this.#value(place, ref))
        if (seed === undefined) continue
        open.delete(channel)
        const entry = found.get(channel)
        if (entry) entry.seed = seed
      }
    }
    for (const { writes } of found.values()) writes.reverse()
    return Object.fromEntries(found)
  }

  #place(operation: string, thread: unknown, namespace: unknown): Place {
    const name = checkText(operation, 'thread_id', thread)
    if (name === '') throw invalid(operation, 'thread_id', 'must not be empty')
    const sessionId = checkId(operation, 'thread_id', THREAD + name)
    return {
      thread: name,
      namespace: checkText(operation, 'checkpoint_ns', namespace),
      scope: this.#store.open({ ...this.#owner, sessionId }),
    }
  }

  /** A thread, or all of the user's. */
  async *#threads(thread: unknown): AsyncGenerator<Place> {
    if (thread !== undefined) return yield this.#place('list', thread, '')
    const { userId, tenant } = this.#owner
    for (let after: Scope | undefined; ; ) {
      const page = await this.#store.scopes(after)
      for (const scope of page)
        if (scope.userId === userId && scope.tenant === tenant && scope.sessionId?.startsWith(THREAD))
          yield this.#place('list', scope.sessionId.slice(THREAD.length), '')
      after = page.at(-1)
      if (after === undefined) return
    }
  }

  async #tuple(place: Place, stored: Found): Promise<CheckpointTuple> {
    const { thread: thread_id } = place
    const { id, namespace: checkpoint_ns, parent } = stored
    const of = { ...place, namespace: checkpoint_ns }
    const [head, metadata, writes, ...values] = await Promise.all([
      this.#values.load(stored.checkpoint) as Promise<Checkpoint>,
      this.#values.load(stored.metadata) as Promise<CheckpointMetadata>,
      readWrites(of, id),
      ...Object.entries(stored.values).map(
        async ([channel, ref]) => [channel, await this.#value(of, ref)] as const,
      ),
    ])
    const checkpoint: Checkpoint = { ...head, channel_values: Object.fromEntries(values) }
    if (checkpoint.v < 4 && parent !== undefined) await this.#addPendingSends(of, parent, checkpoint)
    const configOf = (checkpoint_id: string) => ({
      configurable: { thread_id, checkpoint_ns, checkpoint_id },
    })
    return {
      config: configOf(id),
      checkpoint,
      metadata,
      pendingWrites: await Promise.all(
        writes.map(async ([task, channel, value]): Promise<CheckpointPendingWrite> => {
          return [task, channel, await this.#values.load(value)]
        }),
      ),
      ...(parent !== undefined && { parentConfig: configOf(parent) }),
    }
  }

  /** Before version 4 what was sent stood in a channel; now it is among its parent's writes. */
  async #addPendingSends(place: Place, parent: string, checkpoint: Checkpoint): Promise<void> {
    const sent = (await readWrites(place, parent)).filter(([, channel]) => channel === TASKS)
    const versions = Object.values(checkpoint.channel_versions)
    checkpoint.channel_values[TASKS] = await Promise.all(sent.map(([, , value]) => this.#values.load(value)))
    checkpoint.channel_versions = {
      ...checkpoint.channel_versions,
      [TASKS]: versions.length > 0 ? maxChannelVersion(...versions) : this.getNextVersion(undefined),
    }
  }

  async #value(place: Place, ref: Ref): Promise<unknown> {
    return this.#values.valueOf((await this.#read(place, ref)).content)
  }

  /** A stored value with what it comes to, by its base and so on, up to one that is in memory. */
  async #read(place: Place, ref: Ref): Promise<{ readonly stored: StoredValue; readonly content: Content }> {
    const chain: StoredValue[] = []
    const names: string[] = []
    let content: Content | undefined
    for (let at: Ref | undefined = ref; at && !content; at = chain.at(-1)?.base) {
      const [slot, id] = at
      const owner = await readCheckpoint(place, id)
      const stored = owner?.own[slot]
      if (!stored) throw missing(place, id)
      const name = nameOf(owner.version, slot)
      chain.push(stored)
      names.push(name)
      content = this.#contents.get(name)
    }
    const [stored] = chain as [StoredValue]
    if (content) chain.pop()
    for (const one of chain.reverse()) content = restored(one, content?.items ?? [])
    this.#keep(names[0] as string, content as Content)
    return { stored, content: content as Content }
  }

  #keep(name: string, content: Content): void {
    this.#contents.delete(name)
    this.#contents.set(name, content)
    const [oldest] = this.#contents.keys()
    if (this.#contents.size > KEPT && oldest !== undefined) this.#contents.delete(oldest)
  }

  async #amongRoots(place: Place, channel: string, content: Content): Promise<Ref | undefined> {
    for await (const { values } of checkpointsOf(place.scope, place.namespace, undefined, ROOTS)) {
      const ref = values[channel]
      if (ref && isSameContent(content, (await this.#read(place, ref)).content)) return ref
    }
    return undefined
  }
}

/**
 * A name for what a value comes to, among all threads. Not by the checkpoint's id: another process
 * may erase a thread and begin one with the same ids.
 */
function nameOf(version: string | null, slot: number): string {
  return `${version}/${slot}`
}

/** A field of its own: channels have any names, `constructor` too. */
function own<Value>(fields: { readonly [name: string]: Value } | undefined, name: string): Value | undefined {
  return fields && Object.hasOwn(fields, name) ? fields[name] : undefined
}

/** A checkpoint that another one needs is not there. */
function missing({ thread }: Place, id: string): PlimsollError {
  const reason = `checkpoint ${id} of thread ${thread}, which another one needs, is not there`
  return new PlimsollError('ERR_STORAGE', `PlimsollSaver: ${reason}`, { id })
}

interface Found extends StoredCheckpoint {
  /** Of its register: another one each time that it is written. */
  readonly version: string
  readonly id: string
  readonly namespace: string
}

function checkpointKey(namespace: string, id: string): string {
  return `checkpoint/${pathOf([namespace, id])}`
}

function writesKey(namespace: string, id: string): string {
  return `writes/${pathOf([namespace, id])}/`
}

function foundIn(row: RegisterRow): Found {
  const [, namespace = '', id = ''] = labelsOf(row.key)
  return { ...(valueIn(row) as unknown as StoredCheckpoint), version: row.version, id, namespace }
}

async function readCheckpoint({ scope, namespace }: Place, id: string): Promise<Found | undefined> {
  const { row, value } = await readRegister<StoredCheckpoint>(scope, checkpointKey(namespace, id))
  return row && value && { ...value, version: row.version, id, namespace }
}

/** Where the checkpoints of a namespace are listed that came before one. */
function listed(namespace: string, before?: string): IndexQuery {
  const path = pathOf([namespace])
  const order = before === undefined ? '' : descending(before)
  return {
    after: { order: `${path}/${order}`, key: before === undefined ? '' : checkpointKey(namespace, before) },
    to: endOf(path),
  }
}

async function newest({ scope, namespace }: Place): Promise<Found | undefined> {
  const [row] = await scope.indexed(ALL, { ...listed(namespace), first: 1 })
  return row && foundIn(row)
}

/** The checkpoints of a namespace, or of all of them one after the other, the newest first. */
async function* checkpointsOf(
  scope: ScopeStore,
  namespace: string | undefined,
  before?: string,
  group = ALL,
): AsyncGenerator<Found> {
  let query: IndexQuery = namespace === undefined ? {} : listed(namespace, before)
  for (;;) {
    const rows = await scope.indexed(group, { ...query, first: PAGE })
    const found = rows.map(foundIn)
    for (const one of found) if (before === undefined || one.id < before) yield one
    const [last] = found.slice(-1)
    if (!last || rows.length < PAGE) return
    query = { ...query, after: { order: orderOf(last), key: checkpointKey(last.namespace, last.id) } }
  }
}

function orderOf({ namespace, id }: Pick<Found, 'namespace' | 'id'>): string {
  return `${pathOf([namespace])}/${descending(id)}`
}

/** What was written after a checkpoint, in LangGraph's order: by path, task and number. */
async function readWrites(
  { scope, namespace }: Place,
  id: string,
): Promise<(readonly [task: string, channel: string, value: Json])[]> {
  const tasks: StoredWrites[] = []
  const prefix = writesKey(namespace, id)
  for (let after: string | undefined; ; ) {
    const rows = await scope.registers(prefix, after)
    tasks.push(...rows.map((row) => valueIn(row) as unknown as StoredWrites))
    after = rows.at(-1)?.key
    if (rows.length < PAGE_ROWS || after === undefined) break
  }
  tasks.sort((one, other) => byCodePoint(one.path, other.path) || byCodePoint(one.task, other.task))
  return tasks.flatMap(({ task, writes }) =>
    [...writes]
      .sort(([one], [other]) => one - other)
      .map(([, channel, value]) => [task, channel, value] as const),
  )
}

/** Not the order of UTF-16: there what is beyond U+FFFF comes before U+E000. */
function byCodePoint(one: string, other: string): number {
  const [left, right] = [Array.from(one), Array.from(other)]
  const at = left.findIndex((character, index) => character !== right[index])
  if (at < 0) return left.length - right.length
  return (left[at]?.codePointAt(0) ?? -1) - (right[at]?.codePointAt(0) ?? -1)
}
