import type { Certificate } from '../ports/certificate.ts'
import type { Counter } from '../ports/counter.ts'
import type { Host } from '../ports/host.ts'
import type { Scope } from '../ports/op.ts'
import { isStandardSchema } from '../ports/standard-schema.ts'
import type { Store } from '../ports/store.ts'
import type { Imported } from '../ports/transfer.ts'
import { nextWorkAt, runDueWork } from './attachments.ts'
import { runName } from './compaction.ts'
import { checkFactOptions, type FactOptions } from './facts/fact-options.ts'
import type { OnCut } from './feature.ts'
import type { EraseParts } from './governance/erase.ts'
import type { Retention } from './governance/retention.ts'
import { checkRetention, type RetentionOptions } from './governance/retention-options.ts'
import { checkId, checkText, invalid, isPlainObject } from './json.ts'
import { kept } from './kept.ts'
import { type Extract, Extraction } from './long-term/extraction.ts'
import { SessionMemory } from './long-term/session-memory.ts'
import { User } from './long-term/user.ts'
import type { LoadOnDemand } from './on-demand.ts'
import { createPolicy, type PolicyOptions } from './policy.ts'
import type { Recall } from './recall/lexical-recall.ts'
import type { CheckpointOptions } from './registers/checkpoint.ts'
import { Session } from './session.ts'
import { Sessions } from './sessions.ts'
import { checkExport, type ExportOptions } from './transfer/export-options.ts'
import type { ImportOptions } from './transfer/import.ts'

/** The session of a scope that names none. */
const DEFAULT_SESSION = 'default'

export interface MemoryOptions<State = unknown> extends PolicyOptions {
  /** Where everything is kept, for example `mapStore()`. */
  readonly store: Store
  /** Instructions; the first thing in every context. A change starts an epoch. Default: none. */
  readonly system?: string
  /** What the checkpoint of a session is: its schema, and what it is before it was kept. */
  readonly checkpoint?: CheckpointOptions<State>
  /** Told what leaves the window at each epoch change, for compaction of one's own. */
  readonly onCut?: OnCut
  /**
   * Checks laws 1, 2, 4 and 5 on every context, for development and tests: `context()` rejects with `ERR_LAW_BROKEN` where one is
   * broken. Costs a pass over the blocks. Default `false`.
   */
  readonly development?: boolean
  /** Caps on facts, and when they are due again. */
  readonly facts?: FactOptions
  /**
   * Proposes facts from rounds that are about to leave the window, for example `extractFacts`: what was said long ago is remembered then.
   * Default: nothing is extracted.
   */
  readonly extract?: Extract
  /**
   * For how long log, facts and checkpoints are kept; what is older is removed by {@link Memory.runDueWork}, so call that. It goes by the
   * host's clock and by the times that messages and facts say: a clock that is ahead by so much removes them that much early.
   * Default: they are kept until they are removed.
   *
   * Limits: what was added to a round more than 512 messages after its end counts by itself; and a round whose messages say a later time
   * than those after it holds up what stands more than 512 messages after it.
   */
  readonly retention?: RetentionOptions
  /** Finds what was said long ago, for example `lexicalRecall()`. Default: nothing is recalled, and nothing is kept for it. */
  readonly recall?: Recall
  readonly counter: Counter
  readonly host: Host
  readonly onDemand: LoadOnDemand
}

export interface SessionOptions {
  /** Whose facts belong here beside those of no project; facts that are remembered here are this project's. Default: none. */
  readonly project?: string
}

export interface Memory<State = unknown> {
  /** One conversation of a user. Cheap: nothing is read before its first call. Without `sessionId` it is `default`. */
  session(scope: Scope, options?: SessionOptions): Session<State>
  /** The conversations of a user: list, title, delete. */
  sessions(user: Omit<Scope, 'sessionId'>): Sessions
  /** What all sessions of a user share: facts, profile, skills, settings. Cheap: nothing is read before its first call. */
  user(user: Omit<Scope, 'sessionId'>): User
  /**
   * What is stored of a user, or of one session where the scope names one: JSON lines, each with its end, which {@link import} reads back, or
   * Markdown for reading. JSON lines hold messages and marks with their ids, order, ops, trust and sources, what was forgotten as such,
   * registers with their versions, and the attachments that messages name. No line is longer than 1 MiB; a page is read at a time. The same
   * content gives the same bytes, under another user too.
   *
   * Once it was read to its end, it is recorded in the user's `audit`.
   *
   * @throws ERR_INVALID_ARGUMENT, at once; while it is read, ERR_CONFLICT: something was forgotten meanwhile, so export again; ERR_DECRYPT:
   *   something cannot be read; after the last line, as the store: it was not recorded
   * @example
   * ```ts
   * for await (const line of memory.export({ userId: 'ada' })) await file.write(line)
   * ```
   */
  export(scope: Scope, options?: ExportOptions): AsyncGenerator<string, void, undefined>
  /**
   * Reads what {@link export} gave, as lines or as chunks of any size, into a user, or into a session: that of the scope, or where it names
   * none, that of the file. Where nothing is there, the log becomes the same, number by number. Where a part is there, the rest is added, so a
   * run that broke off is gone on with by repeating it, and a newer export of the same log is added to an older one; a whole one writes nothing.
   * Of registers that are there with another content, those that are there stay, and are counted as conflicts.
   *
   * Each line is checked before anything of it is written; what stands before a line that is refused is written. What wrote something is recorded
   * in the user's `audit`.
   *
   * @param lines strings that give the file when they are put together, the ends of its lines included
   * @throws ERR_INVALID_ARGUMENT (with the line, from 1; or the file is not whole), ERR_ENTRY_TOO_LARGE, ERR_CONFLICT (the session has another
   *   log, or others write to it), ERR_DUPLICATE_ID (an attachment), ERR_UPGRADE_REQUIRED
   */
  import(
    scope: Scope,
    lines: AsyncIterable<string> | Iterable<string>,
    options?: ImportOptions,
  ): Promise<Imported>
  /**
   * Removes all of a user from the store: every session, those that no list names included, then what they share. A row in each scope that
   * says that it was erased is left, with its ids, and in the user's `audit` the record of this call alone. Idempotent: repeating it says
   * `already`, and where the process ended in between, the same call goes on. Calls of the user's sessions that are under way, here or in
   * another tab, may write anew: end them first.
   *
   * @returns how much was removed, and who may hold something yet; no text
   * @throws ERR_INVALID_ARGUMENT; as the store: then some of it may be there, and the same call goes on
   */
  erase(user: Omit<Scope, 'sessionId'>): Promise<Certificate>
  /**
   * When {@link runDueWork} next has something to do, Unix milliseconds; undefined: nothing is waiting. Sooner after a call that
   * leaves work behind, which is `session.attach`. With `retention`, now where no call of it looked through all scopes yet, and at
   * least once in the shortest of its times.
   */
  nextWorkAt(): Promise<number | undefined>
  /**
   * Does what is due, over all scopes of the store, a bounded part of it at a time: removes attachments that no message has
   * named within a day, and what is older than `retention` says, of which it looks at about 512 rows a call. Nothing calls it by itself: call it from an alarm, or when the app starts. Idempotent.
   *
   * @returns {@link nextWorkAt} after that
   */
  runDueWork(): Promise<number | undefined>
}

/** The memory over injected storage, counter, clock and ids. @throws ERR_INVALID_ARGUMENT */
export function createCore<State>({
  store,
  system = '',
  counter,
  host,
  onDemand,
  onCut,
  development,
  checkpoint = {},
  facts = {},
  extract,
  recall,
  retention: given = {},
  ...options
}: MemoryOptions<State>): Memory<State> {
  const running = new Map<string, Promise<unknown>>()
  checkText('createMemory', 'system', system)
  if (onCut !== undefined) checkFunction('onCut', onCut)
  checkCheckpoint(checkpoint)
  checkFactOptions('createMemory', facts)
  if (recall !== undefined) checkRecall(recall)
  if (extract !== undefined) checkFunction('extract', extract)
  const retained = checkRetention('createMemory', given)
  const { onUnreadable: _, ...limits } = retained
  const retention =
    Object.keys(limits).length > 0
      ? kept(async () => new (await onDemand()).Retention({ store, host, options: retained }))
      : undefined
  const policy = createPolicy(options, counter)
  const erasing: EraseParts = { store, host, idle: (scope) => compacted(running, scope) }
  const sessions = (user: Omit<Scope, 'sessionId'>): Sessions =>
    new Sessions(erasing, checkUser('sessions', user), onDemand)
  const userOf = (scope: Scope): User =>
    new User({
      store: store.open(scope),
      open: (sessionId) => store.open({ ...scope, sessionId }),
      sessions: () => sessions(scope),
      counter,
      host,
      facts,
      recall,
      onDemand,
    })
  return {
    sessions,
    user: (user) => userOf(checkUser('user', user)),
    erase: async (user) => {
      const scope = checkUser('erase', user)
      return (await onDemand()).eraseUser(erasing, scope)
    },
    nextWorkAt: () => nextOf(nextWorkAt(store), retention),
    runDueWork: async () => {
      const attachments = await runDueWork(store, host)
      await (await retention?.())?.run()
      return nextOf(attachments, retention)
    },
    export: (given, options) => {
      const scope = checkScope('export', given)
      const checked = checkExport(options)
      const parts = { store, sessions: sessions(scope), host }
      return later(async () => (await onDemand()).exportOf(parts, scope, checked))
    },
    import: async (given, lines, options) => {
      const scope = checkScope('import', given)
      const isDated = retained.checkpoint !== undefined
      const parts = { store, sessions: sessions(scope), host, counter, recall, facts, isDated }
      return (await onDemand()).importInto(parts, scope, lines, options)
    },
    session: (scope, { project } = {}) => {
      const { sessionId = DEFAULT_SESSION, ...user } = checkScope('session', scope)
      const list = sessions(user)
      const scopeStore = store.open({ ...user, sessionId })
      const register = (): Promise<void> => list.add(sessionId)
      const memory = new SessionMemory({
        store: scopeStore,
        sessionId,
        userStore: store.open(user),
        open: (other) => store.open({ ...user, sessionId: other }),
        user: userOf(user),
        counter,
        host,
        facts,
        recall,
        project: project === undefined ? undefined : checkId('session', 'project', project),
        register,
        onDemand,
      })
      return new Session({
        store: scopeStore,
        memory,
        extraction: extract && new Extraction({ extract, keep: (facts) => memory.keep(facts), host }),
        recall,
        scope: { ...user, sessionId },
        policy,
        limited: (limits) => createPolicy({ ...options, ...limits }, counter, 'context'),
        system,
        host,
        onCut,
        compaction: options.compaction,
        development,
        running,
        register,
        checkpoint: { ...checkpoint, isDated: retained.checkpoint !== undefined },
      })
    },
  }
}

/** What an iterable gives that is yet to be made. */
async function* later<Value>(
  make: () => Promise<AsyncGenerator<Value, void, undefined>>,
): AsyncGenerator<Value, void, undefined> {
  yield* await make()
}

/** The earlier of what is due. */
async function nextOf(
  attachments: number | undefined | Promise<number | undefined>,
  retention: (() => Promise<Retention>) | undefined,
): Promise<number | undefined> {
  const times = [await attachments, (await retention?.())?.nextAt()].filter((time) => time !== undefined)
  return times.length === 0 ? undefined : Math.min(...times)
}

/** Resolves once no summary of a scope is being written. */
async function compacted(running: ReadonlyMap<string, Promise<unknown>>, scope: Scope): Promise<void> {
  // All of its lanes.
  const prefix = runName(scope, '').slice(0, -'""]'.length)
  await Promise.all([...running].flatMap(([key, run]) => (key.startsWith(prefix) ? run : [])))
}

function checkFunction(argument: string, value: unknown): void {
  if (typeof value !== 'function') throw invalid('createMemory', argument, 'must be a function')
}

function checkRecall(recall: Recall): void {
  if (typeof recall !== 'object' || recall === null)
    throw invalid('createMemory', 'recall', 'must be what lexicalRecall() gives')
  checkId('createMemory', 'recall.id', recall.id)
  for (const name of ['termsOf', 'open', 'search'] as const) checkFunction(`recall.${name}`, recall[name])
  if (recall.embed !== undefined) checkFunction('recall.embed', recall.embed)
}

function checkCheckpoint(checkpoint: CheckpointOptions<unknown>): void {
  if (!isPlainObject(checkpoint)) throw invalid('createMemory', 'checkpoint', 'must be an object')
  const { schema } = checkpoint as CheckpointOptions<unknown>
  if (schema !== undefined && !isStandardSchema(schema))
    throw invalid('createMemory', 'checkpoint.schema', 'must be a Standard Schema')
}

function checkUser(operation: string, user: Omit<Scope, 'sessionId'>): Scope {
  const { sessionId: _, ...scope } = checkScope(operation, user)
  return scope
}

function checkScope(operation: string, scope: Scope): Scope {
  if (typeof scope !== 'object' || scope === null) throw invalid(operation, 'scope', 'must be an object')
  const { tenant, userId, sessionId } = scope
  return {
    ...(tenant !== undefined && { tenant: checkId(operation, 'tenant', tenant) }),
    userId: checkId(operation, 'userId', userId),
    ...(sessionId !== undefined && { sessionId: checkId(operation, 'sessionId', sessionId) }),
  }
}
