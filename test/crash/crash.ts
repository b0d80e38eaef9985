import type { AgentTool } from '../../src/agent/options.ts'
import { startRun } from '../../src/agent/start-run.ts'
import { settleOwed } from '../../src/forgetting/owed.ts'
import { asText } from '../../src/kernel/count.ts'
import { messageIn } from '../../src/kernel/log/bodies.ts'
import { createKernel } from '../../src/kernel/memory.ts'
import { webHost } from '../../src/platform/web.ts'
import type { Context } from '../../src/ports/context.ts'
import { isPlimsollError } from '../../src/ports/errors.ts'
import type { Host } from '../../src/ports/host.ts'
import type { Json, Message, ToolResultPart } from '../../src/ports/message.ts'
import type { Model } from '../../src/ports/model.ts'
import type { ScopeStore, Store } from '../../src/ports/store.ts'
import { lintPrefix } from '../../src/render/diff.ts'
import { extractive } from '../../src/replay/extractive.ts'
import { memoryOptions, SCOPE } from '../../src/replay/plimsoll.ts'
import type { Settings } from '../../src/replay/policy.ts'
import { compactionBy } from '../../src/replay/summaries.ts'
import type { Provider } from '../../src/replay/transcript.ts'
import { type Conversation, textOf } from '../../src/replay/transcript.ts'
import { ONE_SECRET } from '../contract/full-memory.ts'
import { Random } from '../oracle/generate/random.ts'
import { type Boundary, Fate, type Kill, Life, NEVER } from './mortal.ts'
import { agentTools, callsIn, type Piece, type Play, playOf } from './play.ts'

export interface CrashSettings extends Settings {
  readonly provider?: Provider
  /** How often the agent is killed. */
  readonly kills: number
  /** Where it is killed; the same seed kills at the same points. */
  readonly seed: number
  /** A store for the agent that is never killed, and one for the other. */
  readonly stores: (agent: 'whole' | 'killed') => Store
}

/** What became of an agent that was killed again and again. */
export interface Crashed {
  readonly kills: number
  /** Runs that went on with what the log held after a kill. */
  readonly resumed: number
  /** Calls that waited then, and were settled with their recorded results. */
  readonly settled: number
  /** Runs that ended because nothing fitted under the line, also without any kill. */
  readonly refused: number
  /** Where it is not as if it had never been killed; empty: nowhere. */
  readonly differences: readonly string[]
}

/**
 * Plays a recording as an agent, once whole and once killed at random points, and compares them:
 * the request for every reply, the log, and the context at the end. Nothing but the store survives
 * a kill. Throws where the whole one fails.
 */
export async function crash(conversation: Conversation, settings: CrashSettings): Promise<Crashed> {
  const random = new Random(settings.seed)
  const stage: Stage = { conversation, settings, play: playOf(conversation) }
  const whole = await perform(stage, 'whole', [], random)
  if (whole.failure !== undefined) throw whole.failure
  const killed = await perform(stage, 'killed', draw(whole.passed, settings.kills, random), random)
  const { kills, resumed, settled } = killed
  return { kills, resumed, settled, refused: whole.refused, differences: differencesOf(whole, killed, stage) }
}

/** What is played, and how. */
interface Stage {
  readonly conversation: Conversation
  readonly settings: CrashSettings
  readonly play: Play
}

interface Performance {
  readonly passed: readonly Kill[]
  readonly kills: number
  readonly resumed: number
  readonly settled: number
  readonly refused: number
  /** What a run was given for each reply, by the reply's id. */
  readonly requests: ReadonlyMap<string, readonly Context[]>
  readonly log: readonly Message[]
  /** The context after the end; a refusal's reason. */
  readonly end: Context | string
  /** What a run ended with that should not have. */
  readonly failure?: unknown
}

type Counts = { resumed: number; settled: number; refused: number }

/** Lets one life after another play until one comes to the end. */
async function perform(
  { conversation, settings, play }: Stage,
  agent: 'whole' | 'killed',
  kills: readonly Kill[],
  random: Random,
): Promise<Performance> {
  const store = settings.stores(agent)
  const fate = new Fate(kills)
  const counts: Counts = { resumed: 0, settled: 0, refused: 0 }
  const requests = new Map<string, Context[]>()
  const ask = (id: string, context: Context): void => {
    requests.set(id, [...(requests.get(id) ?? []), context])
  }
  const tools = play.tools.length > 0 ? { tools: play.tools } : {}
  let failure: { readonly failure?: unknown } = {}
  let isOver = false
  while (!isOver) {
    const life = new Life(fate)
    const lived = live({ conversation, settings, play }, { store, life, fate, counts, ask, random })
    try {
      isOver = await Promise.race([lived.then(() => true), life.killed.then(() => false)])
    } catch (error) {
      failure = { failure: error }
      break
    }
  }
  const reader = createKernel({
    settle: settleOwed,
    store,
    host: standing('reader'),
    ...memoryOptions(conversation, settings, settings.compact ? compactionBy(extractive) : undefined),
  }).session(SCOPE)
  const end = await reader.context({ ...tools, onPending: 'abandon' }).catch((error: Error) => error.message)
  const { passed } = fate
  return {
    passed,
    kills: fate.kills,
    ...counts,
    requests,
    log: await readLog(store.open(SCOPE)),
    end,
    ...failure,
  }
}

/** What one life has of the world. */
interface World {
  readonly store: Store
  readonly life: Life
  readonly fate: Fate
  readonly counts: Counts
  readonly ask: (id: string, context: Context) => void
  readonly random: Random
}

/** Plays from where the log ends, as an app does that starts again, to the end of the recording. */
async function live({ conversation, settings, play }: Stage, world: World): Promise<void> {
  const { life, fate, counts, ask, random } = world
  const { pieces, results } = play
  const host = standing(`life${fate.kills}/`)
  const compaction = settings.compact ? compactionBy(summaries(life)) : undefined
  const session = createKernel({
    settle: settleOwed,
    store: life.store(world.store),
    host,
    ...memoryOptions(conversation, settings, compaction),
  }).session(SCOPE)
  const known = pieces.findLastIndex(({ input }) => fate.written.has(input[0].id))
  /** Calls of the newest reply, whose tools were not run yet. */
  let waiting: { readonly callId: string; readonly result: ToolResultPart | undefined }[] = []
  const execute: AgentTool['execute'] = (_, { callId }) => {
    const index = waiting.findIndex((call) => call.callId === callId)
    const [call] = waiting.splice(index, 1)
    return life.between('tool', async () => outputOf(call?.result))
  }
  const reply = (piece: Piece, end: () => void): Model => ({
    id: 'recorded',
    async *complete({ context }) {
      await life.pass('model')
      const message = piece.replies.find(({ id }) => !fate.written.has(id))
      ask(message?.id ?? `${piece.input[0].id}: the end`, context)
      if (!message) {
        // The recording does not go on here.
        end()
        return NEVER
      }
      for (const text of halves(textOf(message.content))) {
        yield { type: 'text', text }
        await life.pass('model')
      }
      const calls = callsIn(message)
      waiting = calls.map(({ id: callId }, place) => ({ callId, result: results.get(message.id)?.[place] }))
      yield { type: 'finish', message, reason: calls.length > 0 ? 'tool-calls' : 'stop' }
      await life.pass('model')
    },
  })
  for (const [index, piece] of pieces.entries()) {
    if (index < known) continue
    const goesOn = index === known
    if (goesOn) counts.resumed++
    const { signal, abort } = controllerOf(host)
    try {
      await startRun(
        {
          // To say it again is to go on with it, and so is to say nothing.
          ...(!(goesOn && random.chance(0.5)) && { input: piece.input }),
          model: reply(piece, abort),
          tools: agentTools(play.tools, execute),
          session,
          signal,
          maxSteps: conversation.messages.length + 1,
          resume: {
            pending: ({ entry, index }) =>
              life.between('tool', async () => outputOf(results.get(entry)?.[index])),
          },
          onEvent: (event) => {
            if (event.type === 'tool-result' && event.step === 0 && !life.isDead) counts.settled++
          },
        },
        host,
      )
    } catch (error) {
      if (!isPlimsollError(error, 'ERR_BUDGET_TOO_SMALL')) throw error
      counts.refused++
    }
  }
}

/**
 * A clock and timers that stand still, so that an epoch goes on after any number of lives, and ids
 * by which lives differ.
 */
function standing(name: string): Host {
  let ids = 0
  return {
    ...webHost,
    now: () => 0,
    newId: () => `${name}${++ids}`,
    newSecret: () => ONE_SECRET,
    timeout: () => ({ signal: webHost.controller().signal, clear: () => {} }),
  }
}

function controllerOf(host: Host) {
  const controller = host.controller()
  return { signal: controller.signal, abort: () => controller.abort(new Error('the recording ends here')) }
}

/** The stand-in for a model, in a life. */
function summaries(life: Life): Model {
  return {
    id: extractive.id,
    async *complete(request) {
      await life.pass('summary')
      yield* extractive.complete(request)
      await life.pass('summary')
    },
  }
}

/** A recorded error is one again, in the words that an agent has for it. */
function outputOf(result: ToolResultPart | undefined): Json {
  if (!result) throw new Error('the recording holds no result of this call')
  if (result.isError) throw new Error(asText(result.output))
  return result.output
}

function halves(text: string): readonly string[] {
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== '')
}

/** So many of the boundaries, the kinds of them equally often. */
function draw(passed: readonly Kill[], kills: number, random: Random): readonly Kill[] {
  const places = new Map<Boundary, number[]>()
  for (const [place, { at }] of passed.entries()) places.set(at, [...(places.get(at) ?? []), place])
  const kinds = [...places.values()]
  return kinds.length === 0
    ? []
    : Array.from({ length: kills }, () => passed[random.pick(random.pick(kinds))] as Kill)
}

async function readLog(log: ScopeStore): Promise<readonly Message[]> {
  const messages: Message[] = []
  for (let seq = 0; ; ) {
    const { rows, more } = await log.changesSince(seq)
    messages.push(...rows.flatMap((row) => (row.kind === 'message' ? (messageIn(row) ?? []) : [])))
    seq = rows.at(-1)?.seq ?? seq
    if (!more) return messages
  }
}

function differencesOf(whole: Performance, killed: Performance, stage: Stage): readonly string[] {
  const { failure } = killed
  const provider = stage.settings.provider ?? stage.conversation.format
  return [
    ...(failure === undefined ? [] : [`a run failed: ${String((failure as Error).message ?? failure)}`]),
    ...requestDifference(whole, killed, provider),
    ...logDifference(whole.log, killed.log),
    ...contextDifference('the last context', whole.end, killed.end, provider),
  ]
}

/** The first reply that was asked for by another request. */
function requestDifference(whole: Performance, killed: Performance, provider: Provider): readonly string[] {
  for (const [id, contexts] of killed.requests) {
    const [expected = 'none'] = whole.requests.get(id) ?? []
    for (const context of contexts) {
      const found = contextDifference(`the request for ${id}`, expected, context, provider)
      if (found.length > 0) return found
    }
  }
  return []
}

function logDifference(whole: readonly Message[], killed: readonly Message[]): readonly string[] {
  const length = Math.max(whole.length, killed.length)
  for (let place = 0; place < length; place++) {
    const [one, other] = [whole[place], killed[place]]
    if (JSON.stringify(one) === JSON.stringify(other)) continue
    const what =
      one && one.id === other?.id ? 'another content' : `${nameOf(other)} in place of ${nameOf(one)}`
    return [
      `message ${place + 1} of the log: ${one && one.id === other?.id ? `${nameOf(one)} with ` : ''}${what}`,
    ]
  }
  return []
}

function nameOf(message: Message | undefined): string {
  return message ? `${message.id} (${message.role})` : 'nothing'
}

function contextDifference(
  name: string,
  whole: Context | string,
  killed: Context | string,
  provider: Provider,
): readonly string[] {
  if (typeof whole === 'string' || typeof killed === 'string') {
    const fate = (one: Context | string): string => (typeof one === 'string' ? one : 'a context')
    return fate(whole) === fate(killed) ? [] : [`${name}: ${fate(killed)} in place of ${fate(whole)}`]
  }
  if (whole.hash === killed.hash) return []
  const [problem] = lintPrefix(whole, killed, provider)
  return [`${name}: ${problem?.message ?? 'another hash'}`]
}
