/** Devices, their home and the network between them: plays commands, and keeps what was written. */
import { commitDeletes } from '../../src/kernel/context/secret.ts'
import { decide } from '../../src/kernel/log/decide.ts'
import { sealMessage } from '../../src/kernel/log/message.ts'
import type { Part } from '../../src/ports/message.ts'
import type { Envelope, Name, OpResult, SealedOp } from '../../src/ports/op.ts'
import type { Decide, LogRow, RegisterRow, ScopeStore } from '../../src/ports/store.ts'
import type { PullAnswer, PullRequest, PushAnswer, PushRequest } from '../../src/ports/sync.ts'
import { erase, readLog } from '../contract/samples.ts'
import { Tab } from './client.ts'
import type { Command } from './commands.ts'
import { Home } from './home.ts'
import type { Protocol } from './protocol.ts'

/** Where scopes of a world live. */
export interface Disk {
  open(): Promise<ScopeStore> | ScopeStore
  /** Contract: opens another scope with the same rows; the first one stays as it is. */
  copy(scope: ScopeStore): Promise<ScopeStore> | ScopeStore
}

export type Message =
  | { readonly kind: 'push'; readonly tab: number; readonly request: PushRequest }
  | { readonly kind: 'pull'; readonly tab: number; readonly request: PullRequest }
  | {
      readonly kind: 'pushed'
      readonly tab: number
      readonly request: PushRequest
      readonly answer: PushAnswer
    }
  | {
      readonly kind: 'pulled'
      readonly tab: number
      readonly request: PullRequest
      readonly answer: PullAnswer
    }

/** An op that was accepted where it was written. */
export interface Written {
  readonly op: SealedOp
  /** Of the device, or of the home. */
  readonly by: number
  /** The generation that its writer knew; the home's own. */
  readonly generation: string | undefined
  /** Puts: the version that the writer saw. */
  readonly saw?: string | null
  /** The device lost its store before it sent it, for all that is known. */
  wiped: boolean
}

/** Of a tab: the home's own agent. */
export const AGENT = -1

export class World {
  readonly protocol: Protocol
  readonly disk: Disk
  home: Home
  readonly tabs: Tab[]
  readonly messages: Message[] = []
  readonly bookmarks: ScopeStore[] = []
  readonly written = new Map<string, Written>()
  /** Generations that were erased, at home. */
  readonly erased = new Set<string>()
  /** Ops that are gone since a device erased what it knew. */
  readonly erasedHere = new Set<string>()
  /** Names that a delete was accepted for, at home or on a device. */
  restores = 0
  wipes = 0
  #count = 0
  #toks = 0

  private constructor(protocol: Protocol, disk: Disk, home: ScopeStore, scopes: readonly ScopeStore[]) {
    this.protocol = protocol
    this.disk = disk
    this.home = new Home(home, protocol, this.newTok)
    // The first device has two tabs.
    const [first] = scopes
    this.tabs = [
      ...scopes.map((scope, index) => new Tab(`d${index}`, scope, protocol)),
      new Tab('d0', first as ScopeStore, protocol),
    ]
  }

  static async of(protocol: Protocol, disk: Disk, devices = 3): Promise<World> {
    const scopes: ScopeStore[] = []
    for (let device = 0; device < devices; device++) scopes.push(await disk.open())
    return new World(protocol, disk, await disk.open(), scopes)
  }

  newTok = (): string => `tok${++this.#toks}`
  #newId = (): string => `o${++this.#count}`

  async play(command: Command): Promise<void> {
    switch (command.do) {
      case 'append':
        return this.#append(command.tab, command.shape, command.at)
      case 'put':
        return this.#put(command.tab, command.key, command.from)
      case 'mark':
        return this.#mark(command.tab, command.shape, command.from)
      case 'delete':
        return this.#delete(command.tab, command.target)
      case 'repeat':
        return this.#repeat(command.tab, command.op)
      case 'erase':
        return this.write(command.tab, [erase(this.#newId())])
      case 'unknown':
        return this.#unknown()
      case 'push':
      case 'pull':
        return this.send(command.do, command.tab % this.tabs.length, command.limit)
      case 'deliver':
      case 'drop':
      case 'double': {
        if (this.messages.length === 0) return
        const at = command.message % this.messages.length
        const [message] = command.do === 'double' ? [this.messages[at]] : this.messages.splice(at, 1)
        if (message && command.do !== 'drop') await this.deliver(message)
        return
      }
      case 'crash': {
        const index = command.tab % this.tabs.length
        const { device, scope } = this.tabs[index] as Tab
        this.tabs[index] = new Tab(device, scope, this.protocol)
        this.#forget((message) => message.tab === index && 'answer' in message)
        return
      }
      case 'wipe':
        return this.#wipe(command.tab % this.tabs.length)
      case 'bookmark':
        this.bookmarks.push(await this.disk.copy(this.home.scope))
        return
      case 'restore': {
        const found = this.bookmarks[command.bookmark % Math.max(1, this.bookmarks.length)]
        if (!found) return
        this.home = new Home(await this.disk.copy(found), this.protocol, this.newTok)
        this.restores++
        return
      }
    }
  }

  async send(what: 'push' | 'pull', index: number, limit: number): Promise<void> {
    const tab = this.tabs[index] as Tab
    if (what === 'push') {
      const request = await tab.push(limit)
      if (request) this.messages.push({ kind: 'push', tab: index, request })
    } else {
      const request = await tab.pull(limit)
      if (request) this.messages.push({ kind: 'pull', tab: index, request })
    }
  }

  async deliver(message: Message): Promise<void> {
    const tab = this.tabs[message.tab] as Tab
    switch (message.kind) {
      case 'push': {
        const before = await this.home.state()
        const answer = await this.home.push(message.request)
        const after = await this.home.state()
        if (before.generation !== after.generation) this.#erasedAtHome(before.generation)
        this.messages.push({ ...message, kind: 'pushed', answer })
        return
      }
      case 'pull':
        this.messages.push({ ...message, kind: 'pulled', answer: await this.home.pull(message.request) })
        return
      case 'pushed':
        return tab.pushed(message.request, message.answer)
      case 'pulled':
        return tab.pulled(message.request, message.answer)
    }
  }

  /** Writes ops on a device, or at home. */
  async write(tab: number, ops: readonly SealedOp[], rule: Decide = decide): Promise<void> {
    const writer = this.#writer(tab)
    const saws = await Promise.all(
      ops.map(async ({ envelope: { kind, key = '' } }) =>
        kind === 'put' ? ((await writer.scope.register(key))?.version ?? null) : undefined,
      ),
    )
    const results = await writer.write(ops, rule)
    const generation = await writer.generation()
    for (const [index, op] of ops.entries()) {
      const result = results[index]
      if (result?.status !== 'accepted' || result.repeated) continue
      const { opId, kind } = op.envelope
      if (kind === 'erase') this.#erasedBy(writer.by)
      const saw = saws[index]
      this.written.set(opId, {
        op,
        by: writer.by,
        generation,
        ...(saw !== undefined && { saw }),
        wiped: false,
      })
    }
  }

  #writer(tab: number) {
    // One in eight writes is the agent's.
    const index = tab % (this.tabs.length * 2)
    const chosen = this.tabs[index % this.tabs.length] as Tab
    if (tab >= 0 && index !== this.tabs.length)
      return {
        by: Number(chosen.device.slice(1)),
        scope: chosen.scope,
        write: (ops: readonly SealedOp[], rule: Decide) => chosen.write(ops, rule),
        generation: async () => (await chosen.state()).generation,
        }
    const { home } = this
    return {
      by: AGENT,
      scope: home.scope,
      write: async (ops: readonly SealedOp[], rule: Decide) => {
        const before = await home.state()
        const results = await home.write(ops, rule)
        const after = await home.state()
        if (before.generation !== after.generation) this.#erasedAtHome(before.generation)
        return results
      },
      generation: async () => (await home.state()).generation,
    }
  }

  /** What a device wrote may be gone with its erase, sent or not. */
  #erasedBy(by: number): void {
    for (const [opId, one] of this.written) if (one.by === by) this.erasedHere.add(opId)
  }

  #erasedAtHome(generation: string): void {
    this.erased.add(generation)
    // An operator who restores what was there before an erase brings it back: that is not played.
    this.bookmarks.length = 0
  }

  async #append(tab: number, shape: number, at: number): Promise<void> {
    const { scope } = this.#writer(tab)
    const rounds = [...new Set((await readLog(scope)).flatMap(({ round }) => round ?? []))]
    const opId = this.#newId()
    const opener = rounds[at % Math.max(1, rounds.length)]
    const id = (place: number) => `m${opId}.${place}`
    const isNew = opener === undefined || shape < 3
    const round = isNew ? id(0) : opener
    const messages: readonly (readonly [role: 'user' | 'assistant' | 'tool', content: string | Part[]])[] =
      isNew
        ? shape === 0
          ? [
              ['user', textOf(id(0))],
              ['assistant', textOf(id(1))],
            ]
          : [['user', textOf(id(0))]]
        : shape < 5
          ? [['assistant', textOf(id(0))]]
          : [
              [
                'assistant',
                [
                  { type: 'text', text: textOf(id(0)) },
                  { type: 'tool-call', id: 'a', name: 'look', input: {} },
                ],
              ],
              ['tool', [{ type: 'tool-result', callId: 'a', output: textOf(id(1)) }]],
            ]
    const bodies = messages.map(([role, content], place) =>
      sealMessage({ id: id(place), role, content, createdAt: 1_000_000 - at * 7, trust: role }),
    )
    const envelope: Envelope = {
      opId: messages.length === 1 ? `entry:${id(0)}` : opId,
      kind: 'append',
      round,
      ids: messages.map((_, place) => id(place)),
    }
    await this.write(tab, [{ envelope, bodies }])
  }

  async #put(tab: number, choice: number, from: number): Promise<void> {
    const { scope } = this.#writer(tab)
    const opId = this.#newId()
    const facts = await scope.registers('fact/')
    const fact = facts[from % Math.max(1, facts.length)]
    const isFact = choice >= 2
    const key = !isFact ? ['p', 'c'][choice] : choice < 4 || !fact ? `fact/${opId}` : fact.key
    const before = await scope.register(key as string)
    const entries = (await readLog(scope)).filter(({ kind }) => kind === 'message')
    const source = entries[from % Math.max(1, entries.length)]
    const sources: Name[] = isFact && from % 3 < 2 && source ? [`entry:${source.id}`] : []
    await this.write(tab, [
      {
        envelope: {
          opId,
          kind: 'put',
          ids: [key as string],
          key: key as string,
          base: before?.version ?? null,
          ...(sources.length > 0 && { sources }),
          ...(isFact && { index: [{ group: 'facts', order: `${from % 5}`, weight: from % 4 }] }),
        },
        bodies: [JSON.stringify(textOf(opId))],
      },
    ])
  }

  async #mark(tab: number, shape: number, from: number): Promise<void> {
    const { scope } = this.#writer(tab)
    const opId = this.#newId()
    const head = await scope.head()
    const lane = from % 2 === 0 ? 'chat' : 'side'
    const type = ['epoch', 'summary', 'rewind', 'epoch', 'poll'][shape] as string
    const entries = (await readLog(scope)).filter(({ kind }) => kind === 'message')
    const other = entries[from % Math.max(1, entries.length)]
    const id = `k${opId}`
    const slot = head.marks.get(`${type}/${lane}`)
    const ops: SealedOp[] = [
      {
        envelope: {
          opId,
          kind: 'mark',
          ids: [id],
          mark: type,
          base: slot?.id ?? null,
          ...(type !== 'rewind' && { lane }),
          ...(type === 'summary' && other && { sources: [`entry:${other.id}`] }),
        },
        bodies: [JSON.stringify({ type, id, text: textOf(id), ...(other && { hides: [other.id] }) })],
      },
    ]
    const secret = await scope.register('secret')
    if (type !== 'epoch' || typeof secret?.body === 'string') return this.write(tab, ops)
    await this.write(tab, [...ops, secretOf(opId)], (given, rows) => {
      const decision = decide(given.slice(0, -1), rows)
      const row = decision.log.find((one) => one.opId === opId)
      if (!row) return decision
      const body = given.at(-1)?.bodies[0] ?? null
      return {
        ...decision,
        registers: [...decision.registers, { key: 'secret', version: opId, seq: row.seq, body }],
      }
    })
  }

  async #delete(tab: number, target: number): Promise<void> {
    const { scope } = this.#writer(tab)
    const entries = (await readLog(scope)).filter(({ body }) => body !== null)
    const names: Name[] = [
      ...entries.map(({ id }): Name => `entry:${id}`),
      ...(await scope.registers('fact/')).map(({ key }): Name => `register:${key}`),
    ]
    const name = names[target % Math.max(1, names.length)]
    if (name === undefined) return
    const newSecret = () => this.#newId().padStart(64, '0').replaceAll('o', 'f')
    const commit = async (ops: readonly SealedOp[], rule: Decide): Promise<readonly OpResult[]> => {
      await this.write(tab, ops, rule)
      return []
    }
    await commitDeletes({ commit } as unknown as ScopeStore, { newId: this.#newId, newSecret }, [name])
  }

  async #repeat(tab: number, op: number): Promise<void> {
    const all = [...this.written.values()]
    const found = all[op % Math.max(1, all.length)]
    if (!found || found.by === AGENT || found.op.envelope.kind === 'erase') return
    if (this.isGone(found) || this.erasedHere.has(found.op.envelope.opId)) return
    const index = this.tabs.findIndex(({ device }) => device === `d${found.by}`)
    await (this.tabs[index] as Tab).write([found.op], decide)
    void tab
  }

  async #unknown(): Promise<void> {
    const { generation } = await this.home.state()
    const opId = this.#newId()
    const envelope = { opId, kind: 'poll', ids: [`q${opId}`] } as unknown as Envelope
    const op = { envelope, bodies: [JSON.stringify(textOf(`q${opId}`))] }
    await this.home.push({ generation, ops: [op] })
    this.written.set(opId, { op, by: AGENT, generation, wiped: false })
  }

  async #wipe(index: number): Promise<void> {
    const { device } = this.tabs[index] as Tab
    const by = Number(device.slice(1))
    for (const one of this.written.values()) if (one.by === by) one.wiped = true
    const scope = await this.disk.open()
    for (const [at, tab] of this.tabs.entries())
      if (tab.device === device) this.tabs[at] = new Tab(device, scope, this.protocol)
    this.#forget((message) => this.tabs[message.tab]?.device === device && 'answer' in message)
    this.wipes++
  }

  #forget(isLost: (message: Message) => boolean): void {
    for (let at = this.messages.length - 1; at >= 0; at--)
      if (isLost(this.messages[at] as Message)) this.messages.splice(at, 1)
  }

  /** Whether what an op wrote was erased. */
  isGone({ generation }: Written): boolean {
    return generation !== undefined && this.erased.has(generation)
  }
}

/** A text that nothing else has in it. */
export function textOf(name: string): string {
  return `<text of ${name}>`
}

function secretOf(opId: string): SealedOp {
  const body = JSON.stringify(`secret of ${opId}`)
  return { envelope: { opId, kind: 'put', ids: ['secret'], key: 'secret', base: null }, bodies: [body] }
}

export type { LogRow, RegisterRow }
