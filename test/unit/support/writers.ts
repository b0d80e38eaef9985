import fc from 'fast-check'
import { decide } from '../../../src/kernel/log/decide.ts'
import { sealOp } from '../../../src/kernel/log/seal.ts'
import type { Message, Part, Role } from '../../../src/ports/message.ts'
import type { EpochMark, Name, Op, OpResult, SealedOp } from '../../../src/ports/op.ts'
import { isEntry } from '../../../src/ports/store.ts'
import { Home } from './home.ts'
import { flatten, showReference } from './reference.ts'

/** What a writer does next. The numbers choose among what it sees at that time. */
export interface Action {
  readonly writer: number
  readonly act: Act
  readonly a: number
  readonly b: number
}

const WEIGHTS = {
  user: 4,
  assistant: 6,
  result: 7,
  rewind: 2,
  undo: 1,
  epoch: 3,
  summary: 2,
  put: 4,
  delete: 2,
  erase: 1,
  clash: 1,
  stray: 1,
  push: 9,
  repeat: 3,
  pull: 6,
  toggle: 2,
} as const

export type Act = keyof typeof WEIGHTS

/** What some writers do, one after the other; `without` leaves acts out. */
export function scripts(writers: number, without: readonly Act[] = []): fc.Arbitrary<readonly Action[]> {
  const acts = (Object.keys(WEIGHTS) as Act[]).filter((act) => !without.includes(act))
  return fc.array(
    fc.record({
      writer: fc.nat(writers - 1),
      act: fc.oneof(...acts.map((act) => ({ weight: WEIGHTS[act], arbitrary: fc.constant(act) }))),
      a: fc.nat(99),
      b: fc.nat(99),
    }),
    { maxLength: 60, size: 'max' },
  )
}

/** Text that can be looked for: what was written under a name, by an op. */
export const secret = (name: string, opId: string): string => `secret of ${name}@${opId};`
export const secretOf = (name: string): string => `secret of ${name}@`

/** A batch as it reached the home, with what came back. */
export interface Delivery {
  readonly ops: readonly SealedOp[]
  readonly results: readonly OpResult[]
  /** The home after it. */
  readonly after: Home
}

/**
 * Some writers and their home. Each writer goes by what it last pulled and what it wrote since, and
 * keeps an op until its home has answered: an answer may be lost, and a batch may arrive again.
 */
export class World {
  readonly home = new Home(decide)
  readonly deliveries: Delivery[] = []
  /** Every op that a writer made, erased ones included. */
  readonly made: SealedOp[] = []
  readonly writers: readonly Writer[]
  generation = 0
  readonly #script: readonly Action[]

  constructor(writers: number, script: readonly Action[]) {
    this.#script = script
    this.writers = Array.from({ length: writers }, (_, index) => new Writer(this, 'abc'.charAt(index)))
    for (const { writer, act, a, b } of script) (this.writers[writer] as Writer).do(act, a, b)
    for (const writer of this.writers) writer.settle()
    for (const writer of this.writers) writer.settle()
  }

  /** How fast-check prints it. */
  [fc.toStringMethod](): string {
    const lines = this.#script.map(({ writer, act, a, b }) => `  ${'abc'.charAt(writer)} ${act} ${a} ${b}`)
    return `${this.writers.length} writers:\n${lines.join('\n')}`
  }

  get ops(): readonly SealedOp[] {
    return this.deliveries.flatMap(({ ops }) => ops)
  }

  /** Deliveries since the last erase. */
  get current(): readonly Delivery[] {
    const erased = this.deliveries.findLastIndex(({ ops }) =>
      ops.some(({ envelope }) => envelope.kind === 'erase'),
    )
    return this.deliveries.slice(erased + 1)
  }

  deliver(ops: readonly SealedOp[]): readonly OpResult[] {
    const results = this.home.commit(ops)
    if (ops.some(({ envelope }) => envelope.kind === 'erase')) this.generation++
    this.deliveries.push({ ops, results, after: this.home.copy() })
    return results
  }
}

export class Writer {
  readonly #world: World
  readonly #name: string
  readonly #pending: { readonly op: SealedOp; answered: boolean }[] = []
  #local = new Home(decide)
  #generation = 0
  #online = true
  #made = 0

  constructor(world: World, name: string) {
    this.#world = world
    this.#name = name
  }

  get confirmed(): Home {
    return this.#local
  }

  do(act: Act, a: number, b: number): void {
    const acts: { readonly [act in Act]: () => void } = {
      user: () => this.#user(b),
      assistant: () => this.#assistant(a, b),
      result: () => this.#result(a, b),
      rewind: () => this.#rewind(a, b),
      undo: () => this.#undo(a),
      epoch: () => this.#epoch(a, b),
      summary: () => this.#summary(a, b),
      put: () => this.#put(a, b),
      delete: () => this.#delete(a, b),
      erase: () => {
        if (a % 3 === 0) this.#write({ kind: 'erase', opId: this.#id() })
      },
      clash: () => this.#clash(a, b),
      stray: () => this.#append(pick(this.#local.rows, a)?.id ?? 'nowhere', [this.#message('assistant', [])]),
      push: () => this.#push(a % 3 === 0 ? 1 + (b % 3) : Infinity, b % 4 === 0),
      repeat: () => this.#repeat(a, b),
      pull: () => this.#pull(),
      toggle: () => {
        this.#online = !this.#online
      },
    }
    acts[act]()
  }

  /** Goes online, sends all that waits, and reads all there is. */
  settle(): void {
    this.#online = true
    while (this.#pending.some(({ answered }) => !answered)) this.#push(Infinity, false)
    this.#pull()
  }

  #id(): string {
    return `${this.#name}${++this.#made}`
  }

  #write(op: Op): void {
    const derive = (message: Message): string => `{"tokens":${JSON.stringify(message.content).length}}`
    const sealed = sealOp(op, this.#made % 2 === 0 ? derive : undefined)
    this.#world.made.push(sealed)
    this.#pending.push({ op: sealed, answered: false })
    this.#local.commit([sealed])
  }

  #append(round: string, messages: readonly Message[]): void {
    this.#write({ kind: 'append', opId: `append/${this.#id()}`, round, messages })
  }

  #message(role: Role, parts: readonly Part[], id = this.#id()): Message {
    const text: Part[] = role === 'tool' ? [] : [{ type: 'text', text: secret(id, id) }]
    return { id, role, content: [...text, ...parts], createdAt: 0, trust: role }
  }

  #user(b: number): void {
    const opener = this.#message('user', [])
    this.#append(opener.id, b % 3 === 0 ? [opener, this.#message('assistant', calls(b))] : [opener])
  }

  #assistant(a: number, b: number): void {
    const rounds = showReference(this.#local.rows).map(({ round }) => round)
    const round = a % 4 === 0 ? pick(rounds, b) : rounds.at(-1)
    if (round === undefined) {
      this.#user(b)
      return
    }
    const asked = calls(a)
    const first = asked[0]
    const step = this.#message(
      'assistant',
      b % 7 === 0 ? [{ type: 'reasoning', text: 'hm' }, ...asked] : asked,
    )
    const replied = first?.type === 'tool-call' && b % 3 === 0
    this.#append(round, replied ? [step, this.#message('tool', [result(first.id, this.#name)])] : [step])
  }

  /** Results of one or two calls that the writer sees, answered or not, or of none. */
  #result(a: number, b: number): void {
    const seen = this.#local.rows.flatMap((row) => {
      const message: Message | undefined =
        row.kind === 'message' && row.body !== null ? JSON.parse(row.body) : undefined
      const parts = typeof message?.content === 'object' ? message.content : []
      return parts.flatMap((part) =>
        part.type === 'tool-call' ? { round: row.round as string, callId: part.id } : [],
      )
    })
    const call = b % 3 === 0 ? pick(seen, a) : seen.at(-1)
    if (!call) return
    const parts = [result(call.callId, this.#name)]
    if (b % 4 === 0) parts.push(result(`c${a % 4}`, this.#name))
    this.#append(call.round, [this.#message('tool', parts)])
  }

  #rewind(a: number, b: number): void {
    const shown = flatten(showReference(this.#local.rows))
    const hides =
      a % 3 === 0 ? shown.filter((_, index) => index % 3 === b % 3) : shown.slice(b % (shown.length + 1))
    const id = this.#id()
    this.#write({ kind: 'mark', opId: id, base: null, entry: { type: 'rewind', id, hides } })
  }

  #undo(a: number): void {
    const rewinds = this.#local.rows.filter(({ kind }) => kind === 'rewind')
    const undo = pick(rewinds, a)?.id
    if (undo === undefined) return
    const id = this.#id()
    this.#write({ kind: 'mark', opId: id, base: null, entry: { type: 'rewind', id, undo } })
  }

  #put(a: number, b: number): void {
    const key = a % 4 === 0 ? `fact/${this.#id()}` : `key${a % 3}`
    const base =
      b % 10 === 9 ? 'stale' : (this.#local.registers.find((row) => row.key === key)?.version ?? null)
    const { text, sources } = this.#quote(a, b)
    const opId = this.#id()
    const index = [
      { group: 'all', order: `${b % 7}`, weight: a % 5 },
      ...(b % 3 === 0 ? [{ group: `of/${a % 2}`, weight: -b }] : []),
      ...(a % 4 === 1 ? [{ group: 'all', order: `${a % 7}` }] : []),
    ].slice(b % 3)
    this.#write({ kind: 'put', opId, key, base, value: { text: secret(key, opId) + text }, sources, index })
  }

  #delete(a: number, b: number): void {
    const names = [...this.#local.rows, ...this.#local.registers].map(
      (row): Name => ('key' in row ? `register:${row.key}` : `entry:${row.id}`),
    )
    const coming: Name = `entry:${'abc'.charAt(b % 3)}${this.#made + 1 + (a % 3)}`
    this.#write({
      kind: 'delete',
      opId: this.#id(),
      target: b % 5 === 0 ? coming : (pick(names, a) ?? coming),
    })
  }

  /** An op with an id that is taken, among others. */
  #clash(a: number, b: number): void {
    const taken = pick(this.#local.rows.filter(isEntry), a)?.id ?? 'nobody'
    const messages = [this.#message('user', []), this.#message('user', [], taken)]
    const ordered = b % 2 === 0 ? messages : messages.reverse()
    this.#append(ordered[0]?.id as string, ordered)
  }

  #repeat(a: number, b: number): void {
    const earlier = pick(this.#world.current, a)
    if (earlier && this.#online) this.#world.deliver(b % 2 === 0 ? earlier.ops : earlier.ops.slice(0, 1))
  }

  /** Two writers that see the same write the same mark, mostly under the same op. */
  #epoch(a: number, b: number): void {
    const lane = `lane${a % 2}`
    const base = b % 8 === 7 ? 'stale' : (this.#local.head.marks.get(`epoch/${lane}`)?.id ?? null)
    const messages = this.#local.rows.filter(({ kind }) => kind === 'message')
    const windowFrom = pick(messages, b)?.id ?? null
    const id = JSON.stringify([lane, base, windowFrom])
    const entry: EpochMark = {
      type: 'epoch',
      id,
      lane,
      cause: 'window',
      windowFrom,
      seen: messages.at(-1)?.id ?? null,
      count: messages.length,
      cuts: {},
      head: '',
      prefixHash: '',
      v: 1,
    }
    this.#write({ kind: 'mark', opId: b % 6 === 5 ? this.#id() : id, base, entry })
  }

  #summary(a: number, b: number): void {
    const lane = `lane${a % 2}`
    const { text, sources } = this.#quote(a, b)
    const id = this.#id()
    const base = this.#local.head.marks.get(`summary/${lane}`)?.id ?? null
    const upto = pick(this.#local.rows, b)?.id ?? 'nobody'
    const of = {
      lane,
      upto,
      seen: upto,
      count: a,
      of: a,
      carry: '',
      pinned: '',
      lost: { count: 0, first: [] },
    } as const
    const by = { trust: 'assistant', by: 'test', spent: 0, at: 0 } as const
    const entry = { type: 'summary', id, text: secret(id, id) + text, ...of, ...by } as const
    this.#write({ kind: 'mark', opId: id, base, entry, sources })
  }

  /** Text taken from one or two things that the writer sees, with all names whose text is in it. */
  #quote(a: number, b: number): { readonly text: string; readonly sources: readonly Name[] } {
    const seen = [
      ...this.#local.rows.map(({ id, body, sources = [] }) => ({
        name: `entry:${id}` as Name,
        body,
        sources,
      })),
      ...this.#local.registers.map(({ key, body, sources = [] }) => ({
        name: `register:${key}` as Name,
        body,
        sources,
      })),
    ].filter(({ body }) => body !== null)
    const quoted = [pick(seen, a + b), ...(b % 2 === 0 ? [pick(seen, b)] : [])].flatMap((one) => one ?? [])
    return {
      text: quoted.map(({ body }) => body?.match(/secret of [^;]*;/g)?.join('') ?? '').join(''),
      sources: [...new Set(quoted.flatMap(({ name, sources }) => [name, ...sources]))],
    }
  }

  #push(count: number, lost: boolean): void {
    if (!this.#online) return
    if (this.#generation !== this.#world.generation) {
      this.#pull()
      return
    }
    const waiting = this.#pending.filter(({ answered }) => !answered).slice(0, count)
    // Nothing follows an erase: the home's generation is another one then.
    const erase = waiting.findIndex(({ op }) => op.envelope.kind === 'erase')
    const batch = erase < 0 ? waiting : waiting.slice(0, erase + 1)
    if (batch.length === 0) return
    const results = this.#world.deliver(batch.map(({ op }) => op))
    if (lost) return
    if (erase >= 0) this.#generation = this.#world.generation
    batch.forEach((entry, index) => {
      entry.answered = true
      if (results[index]?.status !== 'accepted') this.#pending.splice(this.#pending.indexOf(entry), 1)
    })
  }

  #pull(): void {
    if (!this.#online) return
    const { home, generation } = this.#world
    if (this.#generation !== generation) this.#pending.length = 0
    this.#generation = generation
    this.#local = home.copy()
    const here = new Set(home.rows.map(({ opId }) => opId))
    const left = this.#pending.filter(({ op, answered }) => !answered && !here.has(op.envelope.opId))
    this.#pending.splice(0, this.#pending.length, ...left)
    if (left.length > 0) this.#local.commit(left.map(({ op }) => op))
  }
}

/** Up to three parallel calls. Few ids, so that steps share them. */
function calls(a: number): Part[] {
  return Array.from({ length: a % 4 }, (_, index) => ({
    type: 'tool-call',
    id: `c${(a + index * (a % 5)) % 4}`,
    name: 'add',
    input: {},
  }))
}

function result(callId: string, output: string): Part {
  return { type: 'tool-result', callId, output }
}

function pick<Value>(values: readonly Value[], at: number): Value | undefined {
  return values[at % Math.max(1, values.length)]
}
