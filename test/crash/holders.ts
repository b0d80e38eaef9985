/**
 * Two agents that may answer one message: each is killed again and again, and started again. What
 * they come to is compared with one that never was.
 */
import type { BudgetOptions } from '../../src/agent/budget.ts'
import { lease } from '../../src/agent/lease.ts'
import type { AgentTool } from '../../src/agent/options.ts'
import { leaseIn } from '../../src/agent/round.ts'
import { standardMiddleware } from '../../src/agent/standard.ts'
import { startRun } from '../../src/agent/start-run.ts'
import { charsPerToken } from '../../src/counters/simple.ts'
import { PlimsollError } from '../../src/ports/errors.ts'
import type { Host } from '../../src/ports/host.ts'
import { LEASE } from '../../src/ports/lease.ts'
import type { Message, Part } from '../../src/ports/message.ts'
import type { Model } from '../../src/ports/model.ts'
import type { Store } from '../../src/ports/store.ts'
import type { Transport } from '../../src/ports/sync.ts'
import { mapStore } from '../../src/stores/map.ts'
import { answerPull } from '../../src/sync/answer-pull.ts'
import { answerPush, homeStore } from '../../src/sync/home.ts'
import { giveAttachment, takeAttachment } from '../../src/sync/home-attachments.ts'
import { sync } from '../../src/sync/sync.ts'
import { fullMemory } from '../contract/full-memory.ts'
import { Random } from '../oracle/generate/random.ts'
import { type Boundary, Fate, Life } from './mortal.ts'
import { VirtualTime } from './virtual-time.ts'

export interface HoldersSettings {
  readonly seed: number
  /** How often one of them is killed at most. */
  readonly kills: number
  /** Whether they have one store, or the browser's is a replica of the edge's. */
  readonly stores: 'shared' | 'synced'
  /** Whether calls of the home and their answers are lost, each one in ten. Default false. */
  readonly faults?: boolean
  /** Whether no reply is ever put in the same words twice. Default false. */
  readonly differs?: boolean
  /** How often a process stands still for some seconds, and then goes on. Default 0. */
  readonly stalls?: number
  /** By how many milliseconds the browser's clock is wrong. Default 0. */
  readonly skew?: number
}

export interface Outcome {
  readonly kills: number
  /** Kills of the one that had the lease. */
  readonly holderKills: number
  /** How often a run went on with what another one had begun. */
  readonly takeovers: number
  /** The longest time from the end of a holder to the next one's begin, in milliseconds. */
  readonly slowest: number
  /** Lease marks in the log. */
  readonly marks: number
  /** Replies that were dropped for those in the log. */
  readonly dropped: number
  /** For each step, the requests that were made for it. */
  readonly requests: ReadonlyMap<number, ReadonlySet<string>>
  /** Ids and words of the conversation, in order. */
  readonly log: readonly string[]
  /** The same where the browser has it. */
  readonly replica: readonly string[]
  /** What each tool call did, by its key: how often it ran, and what it was. */
  readonly calls: ReadonlyMap<string, { readonly runs: number; readonly input: string }>
  readonly answers: readonly string[]
}

const ADA = { userId: 'ada' }
const TRIP = { ...ADA, sessionId: 'trip' }
/** Calls of each step: of the last ones none is new, so that a nudge is due. */
const SCRIPT: readonly (readonly string[])[] = [['a'], ['b', 'c'], ['d'], ['x'], ['x'], ['x'], ['e', 'f'], []]
/** Crossed at three quarters in the middle of the run, and told once. */
const BUDGET: BudgetOptions = {
  limit: 1_450,
  getTokensUsed: ({ predicted }) => 1_000 + Math.round(predicted.input / 12),
}
const NAMES = [...new Set(SCRIPT.flat())]
const SAID = `When is the train? ${'I have said so much of it. '.repeat(12)}`

class RandomFate extends Fate {
  left: number
  stalls: number
  readonly #random: Random
  #next = 0

  constructor({ kills, stalls = 0 }: HoldersSettings, random: Random) {
    super([])
    this.left = kills
    this.stalls = stalls
    this.#random = random
    this.#next = this.#random.whole(0, 40)
  }

  override strikes(at: Boundary): boolean {
    super.strikes(at)
    if (this.left === 0 || this.#next-- > 0) return false
    this.#next = this.#random.whole(0, 60)
    this.left--
    this.kills++
    return true
  }

  stands(): boolean {
    if (this.stalls === 0 || !this.#random.chance(0.03)) return false
    this.stalls--
    return true
  }
}

/** A life that may stand still, as a tab in the background does. */
class SlowLife extends Life {
  readonly #world: Pick<World, 'time' | 'random' | 'fate'>
  #until = 0

  constructor(world: Pick<World, 'time' | 'random' | 'fate'>) {
    super(world.fate)
    this.#world = world
  }

  override async pass(at: Boundary): Promise<void> {
    const { time, random, fate } = this.#world
    if (!this.isDead && fate.stands()) this.#until = time.now + random.whole(1_000, 6_000)
    if (this.#until > time.now) await time.wait(this.#until - time.now)
    await super.pass(at)
  }
}

export async function holders(settings: HoldersSettings): Promise<Outcome> {
  const time = new VirtualTime()
  return time.run(perform(settings, time))
}

async function perform(settings: HoldersSettings, time: VirtualTime): Promise<Outcome> {
  const random = new Random(settings.seed)
  const fate = new RandomFate(settings, random)
  let toks = 0
  const newTok = (): string => `tok${++toks}`
  const base = mapStore()
  const home = settings.stores === 'synced' ? homeStore(base, { newTok }) : base
  const local = settings.stores === 'synced' ? mapStore() : base
  const world: World = {
    settings,
    time,
    random,
    fate,
    requests: new Map(),
    calls: new Map(),
    bases: [base, local],
    answers: [],
    holderKills: 0,
    takeovers: 0,
    slowest: 0,
    dropped: 0,
  }
  await fullMemory({ store: home, host: time.host('user'), budget: 900, counter: charsPerToken() })
    .session(TRIP)
    .append([
      { id: 'm0', role: 'user', content: SAID },
      { id: 'a0', role: 'assistant', content: SAID },
      { id: 'm1', role: 'user', content: 'And when is the next one?' },
    ])
  const transport = settings.stores === 'synced' ? linkOf(world, base, newTok) : undefined
  await Promise.all([
    lives(world, 'edge', () => ({ store: home })),
    lives(world, 'browser', (host) => {
      if (!transport) return { store: local }
      const store = sync({ store: local, transport, lock: false, channel: false, host, pollMs: 100 })
      store.follow(TRIP)
      return { store, close: () => store.close() }
    }),
  ])
  if (transport) {
    const store = sync({ store: local, transport, lock: false, channel: false, host: time.host('last') })
    store.follow(TRIP)
    await store.settled()
    await store.close()
  }
  const { rows } = await base.open(TRIP).changesSince(0)
  return {
    kills: fate.kills,
    holderKills: world.holderKills,
    takeovers: world.takeovers,
    slowest: world.slowest,
    marks: rows.filter(({ kind }) => kind === LEASE).length,
    dropped: world.dropped,
    requests: world.requests,
    log: await shown(base, time),
    replica: await shown(local, time),
    calls: world.calls,
    answers: world.answers,
  }
}

interface World {
  readonly settings: HoldersSettings
  readonly time: VirtualTime
  readonly random: Random
  readonly fate: RandomFate
  readonly requests: Map<number, Set<string>>
  readonly calls: Map<string, { runs: number; input: string }>
  /** The stores that may hold marks of a lease. */
  readonly bases: readonly Store[]
  readonly answers: string[]
  holderKills: number
  takeovers: number
  slowest: number
  dropped: number
  /** When one ended that had the lease, the last time. */
  diedAt?: number
}

interface Opened {
  readonly store: Store
  readonly close?: () => Promise<void>
}

/** Lets one life after another wait for its turn, until the message is answered. */
async function lives(world: World, name: string, open: (host: Host) => Opened): Promise<void> {
  const { time, random, settings } = world
  for (let count = 1; ; count++) {
    const life = new SlowLife(world)
    const own = `${name}${count}`
    const host = time.host(own, name === 'browser' ? settings.skew : 0)
    const { store, close } = open(host)
    const isOver = await Promise.race([
      live(world, life, own, host, life.store(store)).then(() => true),
      life.killed.then(() => false),
    ])
    if (!isOver && (await isHeldBy(world, own))) {
      world.diedAt = time.now
      world.holderKills++
    }
    // What a process wrote to its disk goes no further before it starts again.
    await close?.()
    if (isOver) return
    await time.wait(random.whole(0, 4_000))
  }
}

async function isHeldBy({ bases }: World, name: string): Promise<boolean> {
  for (const store of bases) {
    const { rows } = await store.open(TRIP).changesSince(0)
    if (leaseIn(rows, 'm1')?.holder === name) return true
  }
  return false
}

async function live(world: World, life: Life, name: string, host: Host, store: Store): Promise<void> {
  const { settings, time, random, requests, calls } = world
  const memory = fullMemory({ store, host, budget: 900, counter: charsPerToken() })
  const session = memory.session(TRIP)
  // A device that was never here before has yet to learn what was said.
  while ((await session.history({ messages: 1 })).length === 0) await time.wait(50)
  const startedAt = time.now
  const model: Model = {
    id: 'scripted',
    async *complete({ context }) {
      const request = JSON.stringify([context.tools, context.blocks.map(({ role, parts }) => [role, parts])])
      const step = stepIn(context.blocks.map(({ parts }) => parts))
      await life.pass('model')
      if (!life.isDead) requests.set(step, (requests.get(step) ?? new Set()).add(request))
      await time.wait(random.whole(0, 700))
      await life.pass('model')
      const words = `step-${step}${settings.differs ? ` by ${name} at ${time.now}` : ''}`
      const names = SCRIPT[step] ?? []
      const made = names.map(
        (tool, place): Part => ({
          type: 'tool-call',
          id: `c${step}.${place}`,
          name: 'look',
          input: tool === 'x' ? { tool } : { tool, ...(settings.differs && { words }) },
        }),
      )
      const message = { role: 'assistant', content: [{ type: 'text', text: words }, ...made] } as const
      yield { type: 'finish', message, reason: made.length > 0 ? 'tool-calls' : 'stop' }
    },
  }
  const look: AgentTool = {
    name: 'look',
    inputSchema: { type: 'object' },
    execute: async (input, { idempotencyKey, signal }) => {
      const { tool } = input as { readonly tool: string }
      await life.pass('tool')
      // Of two at once the first is the slower one, whenever that is.
      await time.wait(200 + (NAMES.length - NAMES.indexOf(tool)) * 40)
      // A server that is called again learns it by the key.
      if (!signal.aborted && !life.isDead) {
        const call = calls.get(idempotencyKey) ?? { runs: 0, input: JSON.stringify(input) }
        calls.set(idempotencyKey, { ...call, runs: call.runs + 1 })
      }
      await life.pass('tool')
      return tool === 'x' ? 'nothing' : `${tool} ${'of the harbour and the tide '.repeat(6)}`
    },
  }
  const result = await startRun(
    {
      model,
      tools: [look],
      session,
      lease: lease({ holder: name }),
      middleware: standardMiddleware({ progress: {}, budget: BUDGET }),
      onEvent: (event) => {
        if (life.isDead) return
        if (event.type === 'reply-dropped') world.dropped++
        if (event.type === 'resume') world.takeovers++
        if (event.type !== 'lease' || event.status !== 'held') return
        const { diedAt } = world
        if (diedAt === undefined) return
        world.slowest = Math.max(world.slowest, time.now - Math.max(diedAt, startedAt))
        delete world.diedAt
      },
    },
    host,
  )
  world.answers.push(result.answer)
  await session.close()
}

/** The step that a request is for, by the replies in it. */
function stepIn(blocks: readonly (readonly { readonly type: string }[])[]): number {
  const steps = [...JSON.stringify(blocks).matchAll(/step-(\d+)/gu)].map(([, step]) => Number(step))
  return Math.max(-1, ...steps) + 1
}

/** The way to the home, on which time passes, and what is said may be lost. */
function linkOf({ time, random, settings }: World, base: Store, newTok: () => string): Transport {
  const between = async <Answer>(work: () => Promise<Answer>): Promise<Answer> => {
    const lose = (): void => {
      if (settings.faults && random.chance(0.1)) throw new PlimsollError('ERR_OFFLINE', 'the test says so')
    }
    await time.wait(1 + random.whole(0, 30))
    lose()
    const answer = await work()
    await time.wait(1 + random.whole(0, 30))
    lose()
    return answer
  }
  const timed = async <Answer>(answers: readonly Promise<Answer>[]) =>
    Object.assign(await Promise.all(answers), { time: time.now })
  const scopeOf = (sessionId: string | undefined) => base.open(sessionId === undefined ? ADA : TRIP)
  return {
    push: (requests) =>
      between(() =>
        timed(requests.map(({ sessionId, ...one }) => answerPush(scopeOf(sessionId), one, { newTok }))),
      ),
    pull: (requests) =>
      between(() =>
        timed(requests.map(({ sessionId, ...one }) => answerPull(scopeOf(sessionId), one, { newTok }))),
      ),
    attach: (one, attachment) =>
      between(() => takeAttachment(scopeOf(one.sessionId), one, attachment, time.now)),
    attachment: (one) => between(() => giveAttachment(scopeOf(one.sessionId), one)),
  }
}

async function shown(store: Store, time: VirtualTime): Promise<readonly string[]> {
  const session = fullMemory({ store, host: time.host('reader'), budget: 900 }).session(TRIP)
  const messages: readonly Message[] = await session.history({ messages: 1_000 })
  return messages.map(({ id, content }) => `${id} ${JSON.stringify(content)}`)
}

/**
 * How it is not as if nobody had ever been killed; empty: in no way.
 *
 * @param whole the same without kills, in one store
 */
export function differencesOf(
  whole: Outcome,
  killed: Outcome,
  { differs = false, stalls = 0 }: HoldersSettings,
) {
  const differences: string[] = []
  const expect = (name: string, one: unknown, other: unknown): void => {
    const [expected, found] = [JSON.stringify(one), JSON.stringify(other)]
    if (expected !== found) differences.push(`${name}: ${found} in place of ${expected}`)
  }
  const idsIn = (log: readonly string[]) => log.map((line) => line.split(' ')[0] ?? '')
  // Of calls that ran at once either result may come first, where a process stood still meanwhile.
  const logOf = ({ log }: Outcome) => {
    const lines = differs ? idsIn(log) : log
    return stalls > 0 ? sortedRuns(lines, (line) => line.startsWith('result/')) : lines
  }
  const requestOf = (request: string) => (stalls > 0 ? withSortedResults(request) : request)
  expect('the conversation', logOf(whole), logOf(killed))
  expect('what the browser has', killed.log, killed.replica)
  expect('steps that were asked for', [...whole.requests.keys()], [...killed.requests.keys()].sort())
  for (const [step, requests] of killed.requests) {
    const all = differs ? [...requests].slice(0, 1) : [...(whole.requests.get(step) ?? [])]
    expect(`requests for step ${step}`, all.map(requestOf), [...requests].map(requestOf))
  }
  expect('tool calls', whole.calls.size, killed.calls.size)
  if (!differs) expect('their keys', [...whole.calls.keys()].sort(), [...killed.calls.keys()].sort())
  expect('answers', [killed.answers[0]], [...new Set(killed.answers)])
  return differences
}

/** A list in which neighbours that are chosen stand in an order of their own. */
function sortedRuns(lines: readonly string[], isChosen: (line: string) => boolean): readonly string[] {
  const sorted = [...lines]
  for (let at = 0; at < sorted.length; at++) {
    if (!isChosen(sorted[at] as string)) continue
    const end = sorted.findIndex((line, index) => index > at && !isChosen(line))
    const to = end < 0 ? sorted.length : end
    sorted.splice(at, to - at, ...sorted.slice(at, to).sort())
    at = to
  }
  return sorted
}

function withSortedResults(request: string): string {
  const [tools, blocks] = JSON.parse(request) as [unknown, unknown[]]
  const lines = blocks.map((block) => JSON.stringify(block))
  return JSON.stringify([tools, sortedRuns(lines, (line) => line.startsWith('["tool"'))])
}
