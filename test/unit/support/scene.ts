import { lawChecker } from '../../../src/assert-laws.ts'
import {
  type Context,
  type EntriesQuery,
  isPlimsollError,
  type LogRow,
  type Message,
  mapStore,
  type ScopeStore,
  type Store,
  type ToolSpec,
} from '../../../src/index.ts'
import { rewind, undo } from '../../../src/operations/rewind.ts'
import { type FullMemoryOptions, type FullSession, fullMemory } from '../../contract/full-memory.ts'
import { type Action, calling } from './histories.ts'

export const TOOLS: readonly ToolSpec[] = [
  {
    name: 'tool_0',
    description: 'Looks things up.',
    inputSchema: { type: 'object', properties: { query: { type: 'string' } } },
  },
  { name: 'tool_1', inputSchema: { type: 'object' } },
]

type Asked = Pick<Extract<Action, { type: 'context' }>, 'tail' | 'tools' | 'abandon'> &
  Partial<Pick<Extract<Action, { type: 'context' }>, 'system' | 'resume'>>

/** Plays actions against a session, as an app would, and hands each context to `onContext`. */
export class Scene {
  readonly store: Store = mapStore()
  readonly options: Omit<FullMemoryOptions, 'store'>
  readonly log: ScopeStore
  session: FullSession
  #ids = 0

  constructor(options: Omit<FullMemoryOptions, 'store'>) {
    this.options = options
    this.log = this.store.open({ userId: 'ada', sessionId: 'trip' })
    this.session = this.open()
  }

  /** A further session object on the same scope, with nothing in memory. */
  open(): FullSession {
    const memory = fullMemory({
      clock: () => 0,
      laws: lawChecker,
      newId: () => `id-${++this.#ids}`,
      ...this.options,
      store: this.store,
    })
    return memory.session({ userId: 'ada', sessionId: 'trip' })
  }

  async play(
    actions: readonly Action[],
    onContext: (context: Context, action: Extract<Action, { type: 'context' }>) => Promise<void>,
  ): Promise<void> {
    for (const action of actions) await this.#act(action, onContext)
  }

  /** All entries of the log. */
  async rows(query: EntriesQuery = {}): Promise<readonly LogRow[]> {
    const rows: LogRow[] = []
    for (let seq = 0; ; ) {
      const changes = await this.log.changesSince(seq)
      rows.push(...changes.rows)
      seq = changes.rows.at(-1)?.seq ?? seq
      if (!changes.more)
        return query.kinds ? rows.filter(({ kind }) => query.kinds?.some((one) => one === kind)) : rows
    }
  }

  async messages(): Promise<readonly Message[]> {
    const rows = await this.rows({ kinds: ['message'] })
    return rows.flatMap(({ id, body }) => (body === null ? [] : ({ id, ...JSON.parse(body) } as Message)))
  }

  async #act(
    action: Action,
    onContext: (context: Context, action: Extract<Action, { type: 'context' }>) => Promise<void>,
  ): Promise<void> {
    const { session } = this
    switch (action.type) {
      case 'say':
        await session.append({ role: 'user', content: action.text })
        return
      case 'answer':
        await session.append({ role: 'assistant', content: action.text })
        return
      case 'note':
        await session.append({ role: 'system', content: action.text })
        return
      case 'call':
        await session.append(calling(action))
        return
      case 'result':
      case 'late':
      case 'orphan': {
        const calls = (await this.messages()).flatMap(({ content }) =>
          typeof content === 'string'
            ? []
            : content.flatMap((part) => (part.type === 'tool-call' ? part.id : [])),
        )
        const place = action.type === 'late' ? Math.floor(action.place * calls.length) : calls.length - 1
        const callId = action.type === 'orphan' ? 'nobody' : calls[place]
        if (callId === undefined) return
        const isError = action.type === 'result' && action.isError
        await session.append({
          role: 'tool',
          content: [{ type: 'tool-result', callId, output: action.output, ...(isError && { isError }) }],
        })
        return
      }
      case 'rewind':
        await rewindAt(session, action.place)
        return
      case 'undo':
        await undoIfAny(session)
        return
      case 'reopen':
        this.session = this.open()
        return
      case 'context': {
        if (action.resume > 0) await this.context(action, this.session, false, true)
        const context = await this.context(action)
        if (context) await onContext(context, action)
      }
    }
  }

  /** The context, unless the law allows a refusal. */
  async context(
    { tail, system = '', tools, abandon, resume = 0 }: Asked,
    session = this.session,
    preview = false,
    newEpoch = false,
  ): Promise<Context | undefined> {
    try {
      return await session.context({
        ...(tail !== '' && { tail }),
        ...(system !== '' && { system }),
        ...(tools > 0 && { tools: TOOLS.slice(0, tools) }),
        ...(resume > 0 && { limits: { window: { max: { messages: 1_000 }, keep: { messages: resume } } } }),
        newEpoch,
        onPending: abandon ? 'abandon' : 'reject',
        preview,
      })
    } catch (error) {
      if (isPlimsollError(error, 'ERR_TOOL_PENDING') && !abandon) return undefined
      if (
        isPlimsollError(error, 'ERR_BUDGET_TOO_SMALL') &&
        error.breakdown &&
        error.breakdown.floor > error.breakdown.cap
      )
        return undefined
      throw error
    }
  }
}

/**
 * Rewinds from a message among the last that show, given as a fraction of them; from none if
 * nothing shows.
 */
export async function rewindAt(session: FullSession, place: number): Promise<void> {
  const shown = await session.history({ messages: 20 })
  const target = shown[Math.floor(place * shown.length)]
  if (target) await rewind(session, target.id)
}

/** Takes the newest rewind back, if there is one. */
export async function undoIfAny(session: FullSession): Promise<void> {
  await undo(session).catch((error: unknown) => {
    if (!isPlimsollError(error, 'ERR_NOT_FOUND')) throw error
  })
}
