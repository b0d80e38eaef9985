/** Devices, their home and the network between them: plays commands, and keeps what was written. */
import { commitDeletes } from '../../src/forgetting/deletes.ts'
import { SECRET } from '../../src/kernel/context/secret.ts'
import { decide } from '../../src/kernel/log/decide.ts'
import { sealMessage } from '../../src/kernel/log/message.ts'
import { attachmentsIn } from '../../src/kernel/log/seal.ts'
import { isPlimsollError, PlimsollError } from '../../src/ports/errors.ts'
import type { Part } from '../../src/ports/message.ts'
import type { Envelope, Name, OpResult, SealedOp } from '../../src/ports/op.ts'
import type { Attachment, Decide, LogRow, RegisterRow, ScopeStore } from '../../src/ports/store.ts'
import type { PullAnswer, PullRequest, PushAnswer, PushRequest } from '../../src/ports/sync.ts'
import type { Ask } from '../../src/sync/keep-local.ts'
import { erase, readLog } from '../contract/samples.ts'
import { DAY_MS, NOW, Tab } from './client.ts'
import type { Command } from './commands.ts'
import { Home } from './home.ts'

/** A scope on a disk. */
export interface Place {
  /** Another handle of it. */
  open(): ScopeStore
}

/** Where scopes of a world live. */
export interface Disk {
  /** An empty scope. */
  place(): Promise<Place> | Place
  /** Another scope with the same rows. */
  copy(place: Place): Promise<Place> | Place
}

/** What a mutant puts wrong. */
export interface Sabotage {
  /** A handle of the home's scope, or of a device's. */
  readonly home?: (scope: ScopeStore) => ScopeStore
  readonly device?: (scope: ScopeStore) => ScopeStore
  /** What a tab sends. */
  readonly sent?: (message: Message) => Message
  /** What the home is given of it. */
  readonly received?: (message: Message, world: World) => Promise<Message> | Message
  /** What the home answers. */
  readonly answered?: (message: Message, world: World) => Promise<Message> | Message
  /** What a tab is given of it; and what else it does then. */
  readonly heard?: (message: Message, tab: Tab) => Promise<Message> | Message
  readonly after?: (message: Message, tab: Tab) => Promise<void>
  readonly counts?: true
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
  readonly generation?: string | undefined
  /** The generation that its writer had erased. */
  readonly after?: string | undefined
  /** Puts: the version that the writer saw. */
  readonly saw?: string | null
  /** Puts, where a mutant counts: how many of its key the writer saw. */
  readonly count?: number
  /** The secret that was stored beside it. */
  readonly secret?: string | undefined
  /** The device lost its store before it sent it, for all that is known. */
  wiped: boolean
  /** It was refused, and written again later; or another device wrote something of its name. */
  isAgain?: boolean
}

/** Ops that a device is about to let go of, since they are at home. */
interface Leaving {
  readonly device: number
  opIds: ReadonlySet<string>
}

/** In the names that several writers come upon. */
export const RACE = 'race/'

/** Of a tab: the home's own agent. */
export const AGENT = -1

export class World {
  readonly sabotage: Sabotage
  readonly disk: Disk
  home: Home
  #homePlace: Place
  readonly tabs: Tab[]
  readonly #places: Place[]
  readonly messages: Message[] = []
  /** All that was ever delivered. */
  readonly delivered: Message[] = []
  readonly bookmarks: Place[] = []
  readonly written = new Map<string, Written>()
  /** Generations that were erased, at home. */
  readonly erased = new Set<string>()
  /** Ops that are gone since a device erased what it knew. */
  readonly erasedHere = new Set<string>()
  /** Ops that no device held when the home went back. */
  readonly letGo = new Set<string>()
  readonly #leaving = new Set<Leaving>()
  /** Logs that were written to, in their order: their own names are random. */
  readonly #generations = ['']
  restores = 0
  wipes = 0
  /** What happens next: some of it does while a device waits for an answer. */
  next: () => Command | undefined = () => undefined
  readonly #isPartial: boolean
  #asks = 0
  #count = 0
  #toks = 0

  private constructor(sabotage: Sabotage, disk: Disk, home: Place, places: Place[], isPartial: boolean) {
    this.#isPartial = isPartial
    this.sabotage = sabotage
    this.disk = disk
    this.#homePlace = home
    this.home = this.#openHome()
    this.#places = places
    // The first device has two tabs.
    this.tabs = [...places.keys(), 0].map((device) => this.#openTab(device))
  }

  /** @param isPartial whether all devices but the first keep the newest ops alone */
  static async of(disk: Disk, sabotage: Sabotage = {}, isPartial = false, devices = 3): Promise<World> {
    const places: Place[] = []
    for (let device = 0; device < devices; device++) places.push(await disk.place())
    return new World(sabotage, disk, await disk.place(), places, isPartial)
  }

  /** What no device holds any more is lost where the home goes back to before it. */
  async #noteHeld(): Promise<void> {
    const held = new Set<string>()
    for (const tab of this.tabs) {
      const leaving = [...this.#leaving].filter(({ device }) => device === tab.device)
      const isLeaving = (opId: string) => leaving.some(({ opIds }) => opIds.has(opId))
      for (const { opId } of await readLog(tab.here)) if (!isLeaving(opId)) held.add(opId)
      for (const { envelope } of await tab.outbox()) if (!isLeaving(envelope.opId)) held.add(envelope.opId)
    }
    for (const opId of this.written.keys()) if (!held.has(opId)) this.letGo.add(opId)
  }

  #openHome(): Home {
    const scope = this.#homePlace.open()
    return new Home(this.sabotage.home?.(scope) ?? scope, this.newTok)
  }

  #openTab(device: number): Tab {
    const scope = (this.#places[device] as Place).open()
    const asking = this.#isPartial && device > 0 ? this.#asking : undefined
    return new Tab(device, this.sabotage.device?.(scope) ?? scope, asking)
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
        return this.#repeat(command.op)
      case 'erase':
        return this.write(command.tab, [erase(this.#newId())])
      case 'unknown':
        return this.#unknown()
      case 'older': {
        const { scope } = this.tabs[command.tab % this.tabs.length] as Tab
        await unlessOffline(scope.entries({ last: command.count }))
        return
      }
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
        this.tabs[index] = this.#openTab((this.tabs[index] as Tab).device)
        this.#forget((message) => message.tab === index && 'answer' in message)
        return
      }
      case 'wipe':
        return this.#wipe(command.tab % this.tabs.length)
      case 'bookmark':
        this.bookmarks.push(await this.disk.copy(this.#homePlace))
        return
      case 'restore': {
        const found = this.bookmarks[command.bookmark % Math.max(1, this.bookmarks.length)]
        if (!found) return
        if (this.#isPartial) await this.#noteHeld()
        this.#homePlace = await this.disk.copy(found)
        this.home = this.#openHome()
        this.restores++
        return
      }
    }
  }

  async send(what: 'push' | 'pull', index: number, limit: number): Promise<void> {
    const tab = this.tabs[index] as Tab
    let message: Message | undefined
    if (what === 'push') {
      await tab.supply(this.home)
      const request = await tab.push(limit)
      if (request) message = { kind: 'push', tab: index, request }
    } else {
      await tab.fetch(this.home)
      if (await unlessOffline(tab.start((work) => this.#asking(tab, work, limit)))) return
      const request = await tab.pull(limit)
      if (request) message = { kind: 'pull', tab: index, request }
    }
    if (message) this.messages.push(this.sabotage.sent?.(message) ?? message)
  }

  async deliver(message: Message): Promise<void> {
    const { received, answered, heard, after } = this.sabotage
    this.delivered.push(message)
    if (!('answer' in message)) {
      const given = (await received?.(message, this)) ?? message
      const answer = (await this.#answer(given, message)) as Message
      this.messages.push((await answered?.(answer, this)) ?? answer)
      return
    }
    const tab = this.tabs[message.tab] as Tab
    const given = (await heard?.(message, tab)) ?? message
    if (given.kind === 'pushed') await tab.pushed(given.request, given.answer)
    if (given.kind === 'pulled') await tab.pulled(given.request, given.answer)
    await after?.(message, tab)
  }

  /** Work that asks the home, while other things happen, or in vain. */
  readonly #asking = async <Result>(
    tab: Tab,
    work: (ask: Ask) => Promise<Result>,
    limit = 2,
  ): Promise<Result> => {
    const leaving: Leaving = { device: tab.device, opIds: new Set() }
    this.#leaving.add(leaving)
    try {
      return await work((asked) => this.#ask(tab, { ...asked, limit }, leaving))
    } finally {
      this.#leaving.delete(leaving)
    }
  }

  async #ask(tab: Tab, request: PullRequest, leaving: Leaving): Promise<PullAnswer> {
    const message = { kind: 'pull', tab: this.tabs.indexOf(tab), request } as const
    await this.#meanwhile()
    if (++this.#asks % 11 === 0 && this.next() !== undefined) throw new PlimsollError('ERR_OFFLINE', 'lost')
    const { received, answered, heard } = this.sabotage
    const given = (await received?.(message, this)) ?? message
    const answer = (await this.#answer(given, message)) as Message
    const sent = (await answered?.(answer, this)) ?? answer
    if (sent.kind === 'pulled' && 'start' in sent.answer) leaving.opIds = await this.#before(sent.answer.from)
    await this.#meanwhile()
    const last = (await heard?.(sent, tab)) ?? sent
    if (last.kind !== 'pulled') throw new Error(`${last.kind} is no answer`)
    return last.answer
  }

  /** Ops of the home's log up to a seq, as replicas count them. */
  async #before(seq: number): Promise<ReadonlySet<string>> {
    const { since } = await this.home.state()
    const log = (await readLog(this.home.scope)).filter((row) => row.seq > since && row.seq <= since + seq)
    return new Set(log.map(({ opId }) => opId))
  }

  async #meanwhile(): Promise<void> {
    for (let left = 2 * (this.#asks % 5); left > 0; left--) {
      const command = this.next()
      if (command) await this.play(command)
    }
  }

  async #answer(given: Message, message: Message): Promise<Message> {
    if (given.kind === 'push' && message.kind === 'push')
      return { ...message, kind: 'pushed', answer: await this.#watched(() => this.home.push(given.request)) }
    if (given.kind === 'pull' && message.kind === 'pull')
      return { ...message, kind: 'pulled', answer: await this.home.pull(given.request) }
    throw new Error(`${message.kind} is no question`)
  }

  /** Does something at home, and sees whether that erased its log. */
  async #watched<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = await work()
    for (const one of (await this.home.state()).erased) this.#erasedAtHome(one)
    return result
  }

  /** Writes ops on a device, or at home. */
  async write(tab: number, ops: readonly SealedOp[], rule: Decide = decide): Promise<void> {
    const writer = this.#writer(tab)
    const place = this.#places[writer.by]
    const saws = await Promise.all(
      ops.map(async ({ envelope: { kind, key = '' } }) =>
        kind === 'put' ? ((await writer.here.register(key))?.version ?? null) : undefined,
      ),
    )
    const count = this.sabotage.counts && puts(await readLog(writer.here), ops[0]?.envelope.key)
    const results = await unlessOffline(writer.write(ops, rule))
    if (!results) return
    const known = await writer.generation()
    const beside = ops.find(({ envelope: { key } }) => key === SECRET)
    for (const [index, op] of ops.entries()) {
      const result = results[index]
      if (result?.status !== 'accepted' || result.repeated) continue
      const { opId, kind } = op.envelope
      if (kind === 'erase') this.#erasedBy(writer.by)
      const saw = saws[index]
      this.written.set(opId, {
        op,
        by: writer.by,
        // A name that several use is of no one log, and nobody knows whose it was first.
        ...(opId.includes(RACE) ? { isAgain: true } : known),
        ...(beside?.envelope.opId === opId && { secret: beside.bodies[0] ?? undefined }),
        ...(saw !== undefined && { saw }),
        ...(count !== undefined && { count }),
        wiped: this.#places[writer.by] !== place,
      })
    }
  }

  #writer(tab: number) {
    // One in eight writes is the agent's.
    const index = tab % (this.tabs.length * 2)
    const chosen = this.tabs[index % this.tabs.length] as Tab
    if (tab >= 0 && index !== this.tabs.length)
      return {
        by: chosen.device,
        here: chosen.here,
        rounds: this.#isPartial && chosen.device > 0 ? this.home.scope : chosen.here,
        attach: (one: Attachment) => chosen.scope.attach(one, 1),
        write: (ops: readonly SealedOp[], rule: Decide) => chosen.write(ops, rule),
        generation: () => generationOf(chosen),
      }
    const { home } = this
    return {
      by: AGENT,
      here: home.scope,
      rounds: home.scope,
      attach: (one: Attachment) => home.scope.attach(one, 1),
      write: (ops: readonly SealedOp[], rule: Decide) => this.#watched(() => home.write(ops, rule)),
      generation: async () => ({ generation: (await home.state()).generation, after: undefined }),
    }
  }

  /** What a device wrote may be gone with its erase, sent or not. */
  #erasedBy(by: number): void {
    for (const [opId, one] of this.written) if (one.by === by) this.erasedHere.add(opId)
  }

  #erasedAtHome(generation: string): void {
    if (this.erased.has(generation)) return
    this.erased.add(generation)
    // An operator who restores what was there before an erase brings it back: that is not played.
    this.bookmarks.length = 0
  }

  async #append(tab: number, shape: number, at: number): Promise<void> {
    const { rounds: known } = this.#writer(tab)
    const rounds = [...new Set((await readLog(known)).flatMap(({ round }) => round ?? []))]
    const opId = this.#newId()
    const opener = rounds[at % Math.max(1, rounds.length)]
    // One shape of them has ids that others come upon too, and other bodies.
    const isRacing = shape === 8
    const name = isRacing ? `m${await this.#racing(tab)}/${at % 3}` : `m${opId}`
    const id = (place: number) => `${name}.${place}`
    const isNew = opener === undefined || shape < 3 || isRacing
    const round = isNew ? id(0) : opener
    const messages: readonly (readonly [role: 'user' | 'assistant' | 'tool', content: string | Part[]])[] =
      isNew
        ? shape === 0
          ? [
              ['user', textOf(id(0))],
              ['assistant', textOf(id(1))],
            ]
          : [['user', shape === 2 ? pictureOf(id(0)) : textOf(id(0))]]
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
      sealMessage({
        id: id(place),
        role,
        content,
        createdAt: NOW - at * DAY_MS - (isRacing ? this.#count : 0),
        trust: role,
      }),
    )
    const isPicture = isNew && shape === 2
    const attachment = { id: `a${id(0)}`, mediaType: 'image/png', bytes: bytesOf(`a${id(0)}`) }
    if (isPicture) await this.#writer(tab).attach(attachment)
    const envelope: Envelope = {
      opId: messages.length === 1 ? `entry:${id(0)}` : opId,
      kind: 'append',
      round,
      ids: messages.map((_, place) => id(place)),
      ...(isPicture && { attachments: [attachment.id] }),
    }
    await this.write(tab, [{ envelope, bodies }])
  }

  /** What a name begins with that several writers of one log come upon. */
  async #racing(tab: number): Promise<string> {
    const { generation = '' } = await this.#writer(tab).generation()
    const at = this.#generations.indexOf(generation)
    return `${RACE}${at < 0 ? this.#generations.push(generation) - 1 : at}`
  }

  async #put(tab: number, choice: number, from: number): Promise<void> {
    const { here: scope } = this.#writer(tab)
    const by = this.#newId()
    // One choice of them has names that others come upon too, for other keys and values.
    const isRacing = choice === 6
    const opId = isRacing ? `${await this.#racing(tab)}/${from % 3}` : by
    const facts = await scope.registers('fact/')
    const fact = facts[from % Math.max(1, facts.length)]
    const isFact = choice >= 2 && !isRacing
    const key = !isFact
      ? ['p', 'c'][isRacing ? from % 2 : choice]
      : choice < 4 || !fact
        ? `fact/${opId}`
        : fact.key
    const before = await scope.register(key as string)
    const entries = (await readLog(scope)).filter(({ kind }) => kind === 'message' || kind === 'summary')
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
        bodies: [JSON.stringify(textOf(opId) + (isRacing ? by : ''))],
      },
    ])
  }

  async #mark(tab: number, shape: number, from: number): Promise<void> {
    const { here: scope } = this.#writer(tab)
    const by = this.#newId()
    const head = await scope.head()
    const lane = from % 2 === 0 ? 'chat' : 'side'
    const type = ['epoch', 'summary', 'rewind', 'epoch', 'poll', 'epoch', 'epoch'][shape] as string
    const entries = (await readLog(scope)).filter(({ kind }) => kind === 'message')
    const other = entries[from % Math.max(1, entries.length)]
    const slot = head.marks.get(`${type}/${lane}`)
    // Named by what it stands for, so that others come upon its name; with other bodies, or the
    // same in another lane.
    const isRacing = shape >= 5
    const isAlike = shape === 6
    const place = isAlike ? 'any' : lane
    const opId = isRacing ? `${await this.#racing(tab)}/${place}/${slot?.id ?? ''}` : by
    const id = `k${opId}`
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
        bodies: [
          JSON.stringify({
            type,
            id,
            ...(!isAlike && { by }),
            text: textOf(id),
            ...(other && { hides: [other.id] }),
          }),
        ],
      },
    ]
    const secret = await scope.register(SECRET)
    if (type !== 'epoch' || isRacing || typeof secret?.body === 'string') return this.write(tab, ops)
    await this.write(tab, [...ops, secretOf(opId)], (given, rows) => {
      const decision = decide(given.slice(0, -1), rows)
      const row = decision.log.find((one) => one.opId === opId)
      if (!row) return decision
      const body = given.at(-1)?.bodies[0] ?? null
      return {
        ...decision,
        registers: [...decision.registers, { key: SECRET, version: opId, seq: row.seq, body }],
      }
    })
  }

  async #delete(tab: number, target: number): Promise<void> {
    const { here: scope } = this.#writer(tab)
    const entries = (await readLog(scope)).filter(({ body }) => body !== null)
    const names: Name[] = [
      ...entries.map(({ id }): Name => `entry:${id}`),
      // Fewer of these: a delete of one has no effect on the log.
      ...(target >= 97 ? entries.flatMap(attachmentNames) : []),
      ...(await scope.registers('fact/')).map(({ key }): Name => `register:${key}`),
    ]
    const name = names[target % Math.max(1, names.length)]
    if (name === undefined) return
    // Some have names that others come upon too, for other targets.
    const racing = target >= 100 ? `${await this.#racing(tab)}/delete/${target % 2}` : undefined
    const newId = () => racing ?? this.#newId()
    // By the secret beside them, too, nobody is to tell these from each other.
    const codes = [...(racing ?? '')].map((character) => character.charCodeAt(0).toString(16))
    const newSecret = () => (racing ? codes.join('') : this.#newId().replaceAll('o', 'f')).padStart(64, '0')
    const commit = async (ops: readonly SealedOp[], rule: Decide): Promise<readonly OpResult[]> => {
      await this.write(tab, ops, rule)
      return []
    }
    await commitDeletes({ commit } as unknown as ScopeStore, { newId, newSecret }, [name])
  }

  async #repeat(op: number): Promise<void> {
    const all = [...this.written.values()]
    const found = all[op % Math.max(1, all.length)]
    if (!found || found.by === AGENT || found.op.envelope.kind === 'erase') return
    if (this.isGone(found) || this.erasedHere.has(found.op.envelope.opId)) return
    const index = this.tabs.findIndex(({ device }) => device === found.by)
    const tab = this.tabs[index] as Tab
    // An erase may have taken what was attached before.
    for (const id of found.op.envelope.attachments ?? [])
      await tab.scope.attach({ id, mediaType: 'image/png', bytes: bytesOf(id) }, 1)
    const [result] = await tab.write([found.op], decide)
    if (result?.status !== 'accepted' || result.repeated) return
    const { generation: _, after: __, ...rest } = found
    const known = await generationOf(tab)
    this.written.set(found.op.envelope.opId, { ...rest, ...known, wiped: false, isAgain: true })
  }

  async #unknown(): Promise<void> {
    const { generation } = await this.home.state()
    const opId = this.#newId()
    const envelope = { opId, kind: 'poll', ids: [`q${opId}`] } as unknown as Envelope
    const op = { envelope, bodies: [JSON.stringify(textOf(`q${opId}`))] }
    await this.#watched(() => this.home.push({ generation, ops: [op] }))
    const { generation: after } = await this.home.state()
    this.written.set(opId, { op, by: AGENT, generation: after, wiped: false })
  }

  async #wipe(index: number): Promise<void> {
    const { device } = this.tabs[index] as Tab
    for (const one of this.written.values()) if (one.by === device) one.wiped = true
    this.#places[device] = await this.disk.place()
    for (const [at, tab] of this.tabs.entries())
      if (tab.device === device) this.tabs[at] = this.#openTab(device)
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

  /**
   * Whether it may have come to a log that was erased, which its writer did not know then.
   *
   * @param current the generation of the home
   */
  mayBeGone({ op, generation, after }: Written, current: string): boolean {
    const others = [...this.erased].filter((one) => one !== after)
    return this.erasedHere.has(op.envelope.opId) || (generation !== current && others.length > 0)
  }
}

/** Of what is written now: after an erase that waits, that of the log after it. */
async function generationOf(tab: Tab): Promise<Pick<Written, 'generation' | 'after'>> {
  const { generation, erasing } = await tab.state()
  return erasing ? { after: generation } : { generation }
}

function puts(rows: readonly LogRow[], key: string | undefined): number {
  return rows.filter(({ kind, id }) => kind === 'put' && id === key).length
}

/** A text that nothing else has in it. */
export function textOf(name: string): string {
  return `<text of ${name}>`
}

/** Attachments that a message names. */
export function attachmentsOf({ kind, body }: LogRow): readonly string[] {
  return kind === 'message' && body !== null ? attachmentsIn(JSON.parse(body)) : []
}

function attachmentNames(row: LogRow): readonly Name[] {
  return attachmentsOf(row).map((id): Name => `attachment:${id}`)
}

function pictureOf(id: string): Part[] {
  const media = { type: 'media', mediaType: 'image/png', ref: `a${id}` } as const
  return [{ type: 'text', text: textOf(id) }, media]
}

/** Bytes that nothing else has. */
export function bytesOf(id: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(id, (unit) => unit.charCodeAt(0))
}

function secretOf(opId: string): SealedOp {
  const body = JSON.stringify(`secret of ${opId}`)
  return { envelope: { opId, kind: 'put', ids: [SECRET], key: SECRET, base: null }, bodies: [body] }
}

export type { LogRow, RegisterRow }

/** What something comes to; nothing, where it needs what is at home alone. */
async function unlessOffline<Result>(work: Promise<Result>): Promise<Result | undefined> {
  try {
    return await work
  } catch (error) {
    if (isPlimsollError(error, 'ERR_OFFLINE')) return undefined
    throw error
  }
}
