/**
 * All states that two devices and their home can come to, breadth first: with so many ops, each
 * written on either of them at any time, answers late or lost, crashes and restores.
 */
import { decide } from '../../src/kernel/log/decide.ts'
import type { SealedOp } from '../../src/ports/op.ts'
import type { LogRow } from '../../src/ports/store.ts'
import type { PushRequest } from '../../src/ports/sync.ts'
import { MapScope, MapScopeStore } from '../../src/stores/map-scope.ts'
import { tokOf } from '../../src/sync/tok.ts'
import { hashText } from '../../src/text/hash.ts'
import { append, put, remove } from '../contract/samples.ts'
import { Broken, inOrder, shownBy } from './check.ts'
import { Tab } from './client.ts'
import { Home } from './home.ts'
import { copyOf } from './play.ts'
import type { Message } from './world.ts'

const TEXT = JSON.stringify({ role: 'user', content: 'hi', createdAt: 0, trust: 'user' })
/** A message that is there already; then puts that race, a delete that cascades, an append. */
const FIRST = append('o0', ['m0'], { bodies: [TEXT] })
const OPS: readonly ((base: string | null) => SealedOp)[] = [
  (base) => put('o1', 'p', base, { sources: ['entry:m0'] }),
  (base) => put('o2', 'p', base),
  () => remove('o3', 'entry:m0'),
  () => append('o4', ['m4'], { round: 'm0', bodies: [TEXT] }),
]
const DEVICES = [0, 1]

export interface Limits {
  /** How many ops, of four. */
  readonly ops: number
  readonly crashes: number
  readonly restores: number
}

type Answer = Extract<Message, { readonly answer: unknown }>

/** What a home answered to an op. */
interface Heard {
  readonly opId: string
  readonly message: Extract<Message, { readonly kind: 'pushed' }>
}

interface State {
  readonly home: MapScope
  readonly devices: readonly MapScope[]
  /** On their way: a device asks one thing after the other. */
  readonly answers: readonly Answer[]
  /** What tabs sent before they crashed, and what is still on its way. */
  readonly orphans: readonly PushRequest[]
  /** Of each device, the answers to pushes that its tab has in mind. */
  readonly heard: readonly (readonly Heard[])[]
  readonly bookmark: MapScope | undefined
  readonly written: readonly boolean[]
  readonly crashes: number
  readonly restores: number
  /** So many toks were given. */
  readonly toks: number
}

export interface Explored {
  readonly states: number
  readonly ends: number
}

/** @throws Broken where a state breaks a rule, or leads to no end where all hold the same */
export async function explore(limits: Limits): Promise<Explored> {
  const first = await start(limits)
  const numbers = new Map([[keyOf(first), 0]])
  const before: number[][] = [[]]
  const names = ['']
  const ends: number[] = []
  const pathTo = (number: number): readonly string[] =>
    number === 0 ? [] : [...pathTo(before[number]?.[0] ?? 0), names[number] ?? '']
  let layer = [{ state: first, number: 0 }]
  while (layer.length > 0) {
    const next: typeof layer = []
    for (const { state, number } of layer) {
      if (await isEnd(state)) ends.push(number)
      for (const [name, play] of stepsOf(state)) {
        const to = await play()
        if (!to) continue
        const key = keyOf(to)
        const known = numbers.get(key)
        if (known !== undefined) {
          before[known]?.push(number)
          continue
        }
        const named = numbers.size
        names.push(name)
        await checkSafe(to)
        numbers.set(key, named)
        before.push([number])
        next.push({ state: to, number: named })
      }
    }
    layer = next
  }
  const live = new Set(ends)
  for (const number of live) for (const one of before[number] ?? []) live.add(one)
  const dead = [...numbers.values()].find((number) => !live.has(number))
  if (dead !== undefined) throw new Broken(`I13: it comes to no end after ${pathTo(dead).join(', ')}`)
  return { states: numbers.size, ends: ends.length }
}

async function start({ ops, crashes, restores }: Limits): Promise<State> {
  const written = OPS.map((_, index) => index >= ops)
  const devices = DEVICES.map(() => new MapScope())
  const empty = { answers: [], orphans: [], heard: DEVICES.map(() => []), bookmark: undefined, toks: 0 }
  let state: State = { home: new MapScope(), devices, ...empty, written, crashes, restores }
  const all = opened(state)
  const home = all.home()
  await home.write([FIRST])
  for (const device of DEVICES) {
    const tab = await all.tab(device)
    const request = await tab.pull(100)
    if (request) await tab.pulled(request, await home.pull(request))
  }
  state = all.closed()
  return { ...state, bookmark: copyOf(state.home) }
}

/** The devices and the home of a state, to change it: what is not asked for stays as it is. */
function opened(state: State) {
  let { home: homeRows, toks } = state
  const devices = [...state.devices]
  return {
    home: (): Home => {
      homeRows = copyOf(homeRows)
      return new Home(new MapScopeStore(homeRows), () => `tok${++toks}`)
    },
    /** The tab of a device, with what it has in mind. */
    tab: async (device: number): Promise<Tab> => {
      const rows = copyOf(devices[device] as MapScope)
      devices[device] = rows
      const tab = new Tab(device, new MapScopeStore(rows))
      for (const { message } of state.heard[device] ?? []) await tab.pushed(message.request, message.answer)
      return tab
    },
    closed: (changed: Partial<State> = {}): State => ({
      ...state,
      home: homeRows,
      devices,
      toks,
      ...changed,
    }),
  }
}

/** What can happen, and what it is called. */
type Step = readonly [name: string, play: () => Promise<State | undefined>]

function stepsOf(state: State): readonly Step[] {
  const { answers, orphans, heard, bookmark, written, crashes, restores } = state
  const writes = DEVICES.flatMap((device) =>
    OPS.flatMap((op, index): Step[] =>
      written[index] ? [] : [[`${device} writes o${index + 1}`, () => write(state, device, index, op)]],
    ),
  )
  const asks = DEVICES.flatMap((device) =>
    (['push', 'pull'] as const).flatMap((kind): Step[] => {
      const isBusy = answers.some(({ tab }) => tab === device)
      return isBusy ? [] : [[`${device} sends a ${kind}`, () => ask(state, device, kind)]]
    }),
  )
  const answered = answers.map((one): Step => [`${one.tab} is ${one.kind}`, () => hear(state, one)])
  const late = orphans.map((request): Step => ['a late push arrives', () => arrive(state, request)])
  const crashed = (device: number): State => ({
    ...state,
    crashes: crashes - 1,
    answers: answers.filter(({ tab }) => tab !== device),
    heard: heard.map((one, index) => (index === device ? [] : one)),
  })
  const crash = (device: number): readonly Step[] => [
    [`${device} crashes`, async () => crashed(device)],
    [`${device} sends a push and crashes`, () => sendLast(state, device, crashed(device))],
  ]
  const restored = async () => ({ ...state, restores: restores - 1, home: bookmark ?? state.home })
  return [
    ...writes,
    ...asks,
    ...answered,
    ...late,
    ...(crashes > 0 ? DEVICES.flatMap(crash) : []),
    ...(restores > 0 ? [['the home goes back', restored] as const] : []),
  ]
}

async function write(state: State, device: number, index: number, op: (typeof OPS)[number]) {
  const all = opened(state)
  const tab = await all.tab(device)
  const base = (await tab.scope.register('p'))?.version ?? null
  // Refused, it is done with, too.
  await tab.write([op(base)], decide)
  return all.closed({ written: state.written.map((one, at) => one || at === index) })
}

/**
 * A device asks, and the home answers at once: where it is asked later is the same as where the
 * device asks later, as long as that waits. The answer may be late, or never come.
 */
async function ask(state: State, device: number, kind: 'push' | 'pull'): Promise<State | undefined> {
  const all = opened(state)
  const tab = await all.tab(device)
  let answer: Answer | undefined
  if (kind === 'push') {
    const request = await tab.push(100)
    if (request) answer = { kind: 'pushed', tab: device, request, answer: await all.home().push(request) }
  } else {
    const request = await tab.pull(100)
    if (request) answer = { kind: 'pulled', tab: device, request, answer: await all.home().pull(request) }
  }
  return answer && all.closed({ answers: [...state.answers, answer] })
}

/** What a tab sent last comes to the home some time after its crash. */
async function sendLast(state: State, device: number, crashed: State): Promise<State | undefined> {
  if (state.answers.some(({ tab }) => tab === device)) return undefined
  const request = await (await opened(state).tab(device)).push(100)
  return request && { ...crashed, orphans: [...crashed.orphans, request] }
}

async function arrive(state: State, request: PushRequest): Promise<State> {
  const all = opened(state)
  await all.home().push(request)
  return all.closed({ orphans: state.orphans.filter((one) => one !== request) })
}

async function hear(state: State, message: Answer): Promise<State> {
  const all = opened(state)
  const tab = await all.tab(message.tab)
  const before = new Set((await tab.replica.view()).waiting.map(({ envelope }) => envelope.opId))
  if (message.kind === 'pulled') await tab.pulled(message.request, message.answer)
  else await tab.pushed(message.request, message.answer)
  // What it would not send again it has an answer to.
  const open = new Set((await tab.push(100))?.ops.map(({ envelope }) => envelope.opId))
  const waiting = new Set((await tab.replica.view()).waiting.map(({ envelope }) => envelope.opId))
  const known = [...(state.heard[message.tab] ?? []), ...singly(message)]
  // Where the home names what is not here, all is asked for again.
  const isUnnamed =
    message.kind === 'pulled' &&
    'ops' in message.answer &&
    message.answer.ops.some((op) => 'opId' in op && !before.has(op.opId))
  const left = known.filter(({ opId }) => !isUnnamed && waiting.has(opId) && !open.has(opId))
  const heard = state.heard.map((one, device) => (device === message.tab ? left : one))
  return all.closed({ answers: state.answers.filter((one) => one !== message), heard })
}

/** The answers to each op. */
function singly(message: Answer): readonly Heard[] {
  if (message.kind !== 'pushed' || 'erased' in message.answer) return []
  const { request, answer } = message
  return request.ops.map((op, index) => ({
    opId: op.envelope.opId,
    message: {
      ...message,
      request: { ...request, ops: [op] },
      answer: { ...answer, results: answer.results.slice(index, index + 1) },
    },
  }))
}

/** What a device takes for confirmed is the home's log up to there, if its place is in that. */
async function checkSafe({ home, devices }: State): Promise<void> {
  const firsts = (log: readonly LogRow[]) => log.filter(({ place }) => place === 0)
  const log = firsts(home.log)
  if (new Set(log.map(({ opId }) => opId)).size < log.length) throw new Broken('I3: an op is there twice')
  for (const [index, { seq }] of log.entries()) if (seq !== index + 1) throw new Broken('I4: a gap')
  for (const device of devices) {
    const tab = new Tab(0, new MapScopeStore(device))
    const { state, waiting } = await tab.replica.view()
    const own = firsts(device.log)
    const at = log[state.seq - 1]
    if (at && tokOf(at) === state.anchor.split(' ')[0])
      for (const [index, row] of own.slice(0, state.seq).entries())
        if (row.opId !== log[index]?.opId) throw new Broken(`I1: ${row.opId} stands at ${row.seq}`)
    // What stands after what is confirmed waits, and in its order.
    const left = own.slice(state.seq).map(({ opId }) => opId)
    const placed = waiting.filter(({ seq }) => seq !== undefined).map(({ envelope }) => envelope.opId)
    if (left.join() !== placed.join()) throw new Broken(`I2: ${left} is written, and ${placed} waits`)
  }
}

/** Whether all is written, nothing is on its way, and all hold the same. @throws Broken: not so */
async function isEnd(state: State): Promise<boolean> {
  if (state.answers.length + state.orphans.length > 0 || state.written.includes(false)) return false
  const last = state.home.log.at(-1)
  const scopes = state.devices.map((rows) => new MapScopeStore(rows))
  for (const scope of scopes) {
    const { state: known, waiting } = await new Tab(0, scope).replica.view()
    if (waiting.length > 0 || known.seq !== last?.seq) return false
    if (known.anchor !== tokOf(state.home.log.findLast(({ place }) => place === 0) as LogRow)) return false
  }
  const wanted = JSON.stringify(await shownBy(new MapScopeStore(state.home)), inOrder)
  for (const scope of scopes) {
    const shown = JSON.stringify(await shownBy(scope), inOrder)
    if (shown !== wanted) throw new Broken(`I1: ${shown}\n  ${wanted}`)
  }
  return true
}

/** The same for states that differ in names alone: of devices, of toks, of rows of the outbox. */
function keyOf(state: State): string {
  const [text = ''] = [DEVICES, DEVICES.toReversed()].map((order) => textOf(state, order)).sort()
  return hashText(text).slice(0, 24)
}

function textOf(state: State, order: readonly number[]): string {
  const { home, answers, orphans, written, crashes, restores, bookmark } = state
  const told = ({ tab, ...message }: Answer): string =>
    JSON.stringify([order.indexOf(tab), message], nameless)
  const known = (all: readonly Heard[] = []) => all.map(({ opId, message }) => [opId, message.answer]).sort()
  const all = [
    rowsOf(home),
    order.map((device) => rowsOf(state.devices[device] as MapScope)),
    answers.map(told).sort(),
    orphans.map((one) => JSON.stringify(one)).sort(),
    order.map((device) => known(state.heard[device])),
    written,
    crashes,
    restores,
    restores > 0 && bookmark ? rowsOf(bookmark) : 0,
  ]
  const text = JSON.stringify(all, (key, value) => inOrder(key, nameless(key, value)))
  const names = new Map<string, string>()
  return text.replace(/tok\d+/g, (tok) => {
    const name = names.get(tok) ?? `t${names.size}`
    names.set(tok, name)
    return name
  })
}

/** Nothing but certificates depends on what replicas have confirmed. */
function nameless(key: string, value: unknown): unknown {
  return ['replica', 'replicas', 'emptiedAt'].includes(key) ? undefined : value
}

function rowsOf({ log, registers, marks, deleted, replica, outbox }: MapScope): unknown {
  const { last: _, ...state } = JSON.parse(replica ?? '{}') as Record<string, unknown>
  const waiting = [...outbox.values()].sort((one, other) => one.order - other.order)
  return [
    log,
    [...registers.values()].sort((one, other) => (one.key < other.key ? -1 : 1)),
    [...marks.values()],
    [...deleted].sort(),
    state,
    waiting.map(({ value }) => JSON.parse(value)),
  ]
}
