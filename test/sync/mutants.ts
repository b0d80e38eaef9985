/** Wrong protocols, each by one rule: the model must find each of them. */
import { nothingWritten } from '../../src/kernel/log/decide.ts'
import { idIn } from '../../src/ports/op.ts'
import {
  type Decision,
  isEntry,
  type LogRow,
  type OutboxRow,
  type Rows,
  type ScopeStore,
} from '../../src/ports/store.ts'
import type { LogStart, Newest, PullAnswer, SyncOp } from '../../src/ports/sync.ts'
import { homeStateIn, written } from '../../src/sync/home-state.ts'
import { stateIn, type Waiting, waitingIn } from '../../src/sync/state.ts'
import { readLog } from '../contract/samples.ts'
import { DAY_MS } from './client.ts'
import type { Message, Sabotage, World } from './world.ts'

type Page = Exclude<PullAnswer, { readonly reset: unknown }>

export const MUTANTS: Readonly<Record<string, Sabotage>> = {
  'a home that takes what it gave a device for what that has': {
    home: committing({
      decision: (decision, { head }) => {
        const state = homeStateIn(decision.replica?.state)
        if (!state?.replicas || decision.log.length > 0) return decision
        const replicas = state.replicas.map((one) => ({ ...one, seq: head.seq - state.since }))
        return { ...decision, replica: written({ ...state, replicas }) }
      },
    }),
  },
  'a home that takes an old log for the one after an erase': {
    home: committing({
      decision: (decision) => {
        const state = homeStateIn(decision.replica?.state)
        if (!state?.replicas || !decision.erase) return decision
        const replicas = state.replicas.map((one) => ({ ...one, seq: 0 }))
        return { ...decision, replica: written({ ...state, replicas }) }
      },
    }),
  },
  'a home that writes an op again': { home: committing({ rows: () => ({ results: new Map() }) }) },
  'a home that looks at no anchor': {
    received: async (message, { home }) => {
      if (message.kind !== 'pull') return message
      const { since } = await home.state()
      const { rows } = await home.scope.changesSince(since + message.request.cursor - 1)
      const anchor = message.request.cursor === 0 ? '' : (rows[0]?.tok?.split(' ')[0] ?? '')
      return { ...message, request: { ...message.request, anchor } }
    },
  },
  'an anchor that is the name of an op': {
    home: committing({
      decision: (decision) => ({ ...decision, log: decision.log.map(({ tok: _, ...row }) => row) }),
    }),
  },
  'an anchor that says nothing of later ops which the page tells of': {
    received: (message) =>
      message.kind === 'pull'
        ? { ...message, request: { ...message.request, anchor: message.request.anchor.split(' ')[0] ?? '' } }
        : message,
  },
  'a device that takes an answer for the log': {
    after: async (message, tab) => {
      if (message.kind !== 'pushed' || 'erased' in message.answer) return
      const { results } = message.answer
      const ids = message.request.ops.flatMap(({ envelope }, index) =>
        'seq' in (results[index] ?? {}) ? envelope.opId : [],
      )
      const view = await tab.replica.view()
      const sent = view.outbox.flatMap(({ order, envelope }) => (ids.includes(envelope.opId) ? order : []))
      await tab.replica.write(view, [], () => ({
        ...nothingWritten([]),
        replica: { state: JSON.stringify(view.state), sent },
      }))
    },
  },
  'a home without generations': {
    received: async (message, { home }) => {
      const { generation } = await home.state()
      if (message.kind !== 'push' && message.kind !== 'pull') return message
      return { ...message, request: { ...message.request, generation } } as Message
    },
    answered: (message) =>
      'answer' in message
        ? ({
            ...message,
            answer: { ...message.answer, generation: message.request.generation ?? '' },
          } as Message)
        : message,
  },
  'a home that takes what is of another log': {
    received: async (message, { home }) => {
      if (message.kind !== 'push') return message
      const { generation, erased } = await home.state()
      const isOther = !erased.includes(message.request.generation)
      return isOther ? { ...message, request: { ...message.request, generation } } : message
    },
  },
  'a device that sends what it wrote last first': {
    sent: (message) =>
      message.kind === 'push'
        ? { ...message, request: { ...message.request, ops: message.request.ops.slice(-1) } }
        : message,
  },
  'a device that takes back what it may have sent': { device: editing },
  'a home that forgets what is deleted': { home: committing({ rows: () => ({ deleted: new Set() }) }) },
  'a device that is told of an erase too late': {
    after: async (message, tab) => {
      if (message.kind !== 'pushed' || !('erased' in message.answer)) return
      const { generation } = await tab.state()
      if (generation !== undefined && generation !== message.answer.generation)
        await tab.replica.erased(generation, message.answer.generation)
    },
    heard: async (message, tab) => {
      if (message.kind !== 'pushed' || !('erased' in message.answer)) return message
      const { generation } = await tab.state()
      return generation === undefined ? message : { ...message, request: { ...message.request, generation } }
    },
  },
  'versions that are counted': { received: counted, counts: true },
  'a rebase that forgets a register': {
    device: committing({
      decision: (decision) => {
        const { rebase } = decision.replica ?? {}
        if (!decision.replica || !rebase) return decision
        const registers = decision.registers.filter(({ seq }) => seq > rebase.to.seq)
        return {
          ...decision,
          registers,
          replica: { ...decision.replica, rebase: { ...rebase, registers: [] } },
        }
      },
    }),
  },
  'a device that comes back to what was confirmed before the last page': {
    device: committing({
      decision: (decision) =>
        decision.replica?.sent?.length && !decision.replica.rebase && decision.log.length === 0
          ? { ...decision, replica: { ...decision.replica, outbox: [] } }
          : decision,
    }),
  },
  'a device that says it knows all': {
    sent: (message) =>
      message.kind === 'pull'
        ? { ...message, request: { ...message.request, known: [{ from: 1, to: 1_000 }] } }
        : message,
  },
  'a home that waits for no bytes': {
    received: (message) => {
      if (message.kind !== 'push') return message
      const without = message.request.ops.flatMap(({ envelope }) => envelope.attachments ?? [])
      return { ...message, request: { ...message.request, without } }
    },
  },
  'a delete that leaves the secret': {
    received: (message) => withOps(message, (op) => (op.envelope.kind === 'delete' ? withoutBeside(op) : op)),
  },
  'a device that empties only what is named': {
    device: committing({ rows: () => ({ dependents: new Map() }) }),
  },
  'a device that deletes alone what its delete emptied': {
    device: committing({
      decision: (decision) => withOutbox(decision, ({ envelope }) => !/^o\d+\/\d+/.test(envelope.opId)),
    }),
  },
  'a device that leaves out what it does not know': {
    answered: (message) =>
      withPage(message, (page) => ({
        ...page,
        ops: page.ops.filter((op) => !('envelope' in op) || op.envelope.mark !== 'poll'),
      })),
  },
  'an erase that leaves what waits': {
    device: committing({
      decision: (decision) =>
        decision.erase && decision.replica
          ? { ...decision, replica: { ...decision.replica, sent: [] } }
          : decision,
    }),
  },
  'a put that is sent again without its base': {
    device: committing({
      decision: (decision) =>
        changedOutbox(decision, (one) => {
          const { base: _, ...envelope } = one.envelope
          const isSentAgain = decision.log.length === 0 && one.seq !== undefined && envelope.kind === 'put'
          return isSentAgain ? { ...one, envelope } : one
        }),
    }),
  },
  'what waits in another order': {
    device: committing({
      decision: (decision) => {
        const { outbox = [], rebase } = decision.replica ?? {}
        if (!decision.replica || !rebase || outbox.length < 2) return decision
        const orders = outbox.map(({ order }) => order).reverse()
        const reversed = outbox.map((row, index) => ({ ...row, order: orders[index] as number }))
        return { ...decision, replica: { ...decision.replica, outbox: reversed } }
      },
    }),
  },
  'a device that keeps its own of a name that another one used first': {
    heard: async (message, tab) => {
      const own = await readLog(tab.here)
      return withPage(message, (page) => ({
        ...page,
        ops: page.ops.map((op) => {
          const here = 'envelope' in op ? own.filter(({ opId }) => opId === op.envelope.opId) : []
          const isHere = here.length > 0 && here.every((row) => isEntry(row) && row.body !== null)
          return isHere ? { ...op, bodies: here.map(({ body }) => body) } : op
        }),
      }))
    },
  },
  'a device that takes an answer to what it asked before': {
    heard: async (message, tab) => {
      if (message.kind !== 'pulled' || 'reset' in message.answer) return message
      const { generation, seq, anchor } = await tab.state()
      return {
        ...message,
        request: { ...(generation !== undefined && { generation }), cursor: seq, anchor },
        answer: { ...message.answer, from: seq, generation: generation ?? message.answer.generation },
      }
    },
  },
}

/** Wrong protocols for devices that have a part of the log. */
export const PARTIAL_MUTANTS: Readonly<Record<string, Sabotage>> = {
  'a start with a gap behind it': {
    answered: (message) =>
      withStart(message, (page) => ({ ...page, from: page.from + 1, ops: page.ops.slice(1) })),
  },
  'a start with a wrong count of messages': {
    answered: starting(({ ordinal }) => ({ ordinal: ordinal + 1 })),
  },
  'a start without marks': { answered: starting(() => ({ marks: [] })) },
  'a start without registers': { answered: starting(() => ({ registers: [] })) },
  'a start that says nothing of what came before it': { answered: starting(() => ({ arrived: [] })) },
  'a start that is followed past a delete': {
    heard: (message) =>
      withStart(message, (page) => (page.cursor < page.head ? { ...page, head: page.head + 1_000 } : page)),
  },
  'a start that takes what waits along': {
    device: committing({
      decision: (decision) => {
        const { replica } = decision
        if (replica?.kept !== 'all') return decision
        const state = stateIn(replica.state)
        // So that nobody takes it for what it was to be.
        const other = JSON.stringify({ ...state, last: state.last + 1 })
        return { ...decision, replica: { ...replica, state: other, outbox: [] } }
      },
    }),
  },
  'a home that gives fewer bytes than were asked for': {
    received: asking(({ bytes = 1, ...newest }) => ({ ...newest, bytes: Math.ceil(bytes / 3) })),
  },
  'a home that gives fewer days than were asked for': {
    received: asking(({ since, ...newest }) =>
      since === undefined ? newest : { since: since + 25 * DAY_MS, bytes: 1e9 },
    ),
  },
  'a device that takes a part for all': {
    device: committing({
      decision: (decision) => {
        const { replica } = decision
        if (!replica) return decision
        const { after: _, ...state } = stateIn(replica.state)
        return { ...decision, replica: { ...replica, state: JSON.stringify(state) } }
      },
    }),
  },
}

function withStart(message: Message, change: (page: Page & { readonly start: LogStart }) => Page): Message {
  return withPage(message, (page) => (page.start ? change({ ...page, start: page.start }) : page))
}

function asking(change: (newest: Newest) => Newest) {
  return (message: Message): Message => {
    if (message.kind !== 'pull' || typeof message.request.start !== 'object') return message
    return { ...message, request: { ...message.request, start: change(message.request.start) } }
  }
}

function starting(change: (start: LogStart) => Partial<LogStart>) {
  return (message: Message): Message =>
    withStart(message, (page) => ({ ...page, start: { ...page.start, ...change(page.start) } }))
}

interface Changes {
  readonly rows?: (rows: Rows) => Partial<Rows>
  readonly decision?: (decision: Decision, rows: Rows) => Decision
}

/** A store whose commits read, or write, something else. */
function committing({ rows: read = () => ({}), decision: change = (one) => one }: Changes) {
  return (scope: ScopeStore): ScopeStore => {
    let commits = 0
    return withCommit(scope, async (ops, decide) => {
      // What is wrong may be tried again for ever.
      if (++commits > 2_000) throw new Error('it does not end')
      return scope.commit(ops, (given, rows) => {
        const other = { ...rows, ...read(rows) }
        return change(decide(given, other), other)
      })
    })
  }
}

function withCommit(scope: ScopeStore, commit: ScopeStore['commit']): ScopeStore {
  return new Proxy(scope, {
    get: (target, name) => {
      if (name === 'commit') return commit
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** A delete of what waits removes that from the outbox, in place of waiting behind it. */
function editing(scope: ScopeStore): ScopeStore {
  return withCommit(scope, async (ops, decide) => {
    const waiting = ((await scope.outbox?.(0)) ?? []).map((row) => waitingIn(row) as Waiting)
    return scope.commit(ops, (given, rows) => {
      const decision = decide(given, rows)
      const { replica } = decision
      const deletes = given.flatMap(({ envelope: { target } }) => (target && idIn('entry', target)) ?? [])
      const found = waiting.filter(
        ({ envelope: { ids, kind } }) =>
          kind === 'append' && ids.length === 1 && deletes.includes(ids[0] ?? ''),
      )
      if (!replica || replica.rebase || found.length === 0) return decision
      const sent = [...(replica.sent ?? []), ...found.map(({ order }) => order)]
      const left = withOutbox(decision, ({ envelope }) => envelope.kind !== 'delete')
      return { ...left, replica: { ...left.replica, state: replica.state, sent } }
    })
  })
}

function changedOutbox(decision: Decision, change: (one: Waiting) => Waiting): Decision {
  const { replica } = decision
  if (!replica?.outbox) return decision
  const outbox = replica.outbox.map((row): OutboxRow => {
    const { order, ...rest } = change(waitingIn(row) as Waiting)
    return { order, value: JSON.stringify(rest) }
  })
  return { ...decision, replica: { ...replica, outbox } }
}

function withOutbox(decision: Decision, isKept: (one: Waiting) => boolean): Decision {
  const { replica } = decision
  if (!replica?.outbox) return decision
  return {
    ...decision,
    replica: { ...replica, outbox: replica.outbox.filter((row) => isKept(waitingIn(row) as Waiting)) },
  }
}

function withOps(message: Message, change: (op: SyncOp) => SyncOp): Message {
  if (message.kind !== 'push') return message
  return { ...message, request: { ...message.request, ops: message.request.ops.map(change) } }
}

function withPage(message: Message, change: (page: Page) => Page): Message {
  if (message.kind !== 'pulled' || 'reset' in message.answer) return message
  return { ...message, answer: change(message.answer) }
}

function withoutBeside({ beside: _, ...op }: SyncOp): SyncOp {
  return op
}

/** A put is taken where its writer had seen as many puts as there are. */
async function counted(message: Message, world: World): Promise<Message> {
  if (message.kind !== 'push') return message
  const log = await readLog(world.home.scope)
  const puts = (rows: readonly Pick<LogRow, 'kind' | 'id'>[], key: string): number =>
    rows.filter(({ kind, id }) => kind === 'put' && id === key).length
  const ops: SyncOp[] = []
  const taken: SyncOp[] = []
  for (const op of message.request.ops) {
    const { kind, key = '', opId } = op.envelope
    const before = taken.filter(({ envelope }) => envelope.key === key)
    const isSame = kind === 'put' && world.written.get(opId)?.count === puts(log, key) + before.length
    const version = before.at(-1)?.envelope.opId ?? (await world.home.scope.register(key))?.version ?? null
    const changed = isSame ? { ...op, envelope: { ...op.envelope, base: version } } : op
    ops.push(changed)
    if (isSame) taken.push(changed)
  }
  return { ...message, request: { ...message.request, ops } }
}
