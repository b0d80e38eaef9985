import { loadO200k } from '../../src/counters/o200k.ts'
import {
  type Context,
  compaction,
  contextAt,
  createMemory,
  defaultCounter,
  eraseUser,
  exportFrom,
  type FactsShape,
  facts,
  forget,
  isPlimsollError,
  type Memory,
  type MessageInput,
  readAudit,
  rewind,
  type Session as SessionWith,
  type Store,
  stringifyContext,
  toAnthropic,
  toOpenAI,
  undo,
} from '../../src/index.ts'
import type { Command, Program } from './program.ts'
import { type Item, refusedByAnthropic, refusedByOpenAI, tokensOf } from './rules.ts'
import { Crash, crashing, type Disk, diskOf, type Fuse } from './stores.ts'
import { World } from './world.ts'

/** The second and the third are one to whatever joins their names by slashes. */
const PLACES = [
  { tenant: 'red', userId: 'ada', sessionId: 'one' },
  { tenant: 'red', userId: 'ada', sessionId: 'one/two' },
  { tenant: 'red/ada', userId: 'one', sessionId: 'two' },
  { userId: 'ada', sessionId: 'one' },
] as const
const CANARIES = ['wren', 'rook', 'teal', 'knot'] as const
const SYSTEM = 'You are a travel agent.'

export interface Played {
  /** What was broken first. */
  readonly broken?: string
  /** How many contexts were built, calls refused as too small, and pasts attested. */
  readonly built: number
  readonly refused: number
  readonly attested: number
}

/** What a test puts wrong, to see that it is found. */
export interface Sabotage {
  readonly store?: (store: Store) => Store
  readonly context?: (context: Context) => Context
}

/** Plays a program, over a store of its own. */
export async function play(program: Program, sabotage: Sabotage = {}): Promise<Played> {
  const disk = diskOf(program.store)
  const run = new Run(program, disk, sabotage, await loadO200k())
  try {
    for (const command of program.commands) await run.does(command)
    await run.ends()
    return run.counts
  } catch (error) {
    const broken =
      error instanceof Broken ? error.message : `threw ${error instanceof Error ? error.stack : error}`
    return { broken, ...run.counts }
  } finally {
    await disk.close()
  }
}

class Broken extends Error {}

function mustNot(reason: string | undefined): void {
  if (reason !== undefined) throw new Broken(reason)
}

type Features = { readonly facts?: FactsShape }
type Session = SessionWith<Features>

/** A process: a memory with its sessions. */
interface Tab {
  readonly memory: Memory<Features>
  readonly sessions: readonly Session[]
}

class Run {
  readonly counts = { built: 0, refused: 0, attested: 0 }
  readonly #worlds = PLACES.map(() => new World())
  readonly #program: Program
  readonly #disk: Disk
  readonly #sabotage: Sabotage
  readonly #exact: Awaited<ReturnType<typeof loadO200k>>
  readonly #fuse: Fuse = { reached: false }
  readonly #rows = new Map<number, readonly string[]>()
  readonly #tabs: Tab[]
  #dies = false
  #ids = 0
  #ops = 0

  constructor(
    program: Program,
    disk: Disk,
    sabotage: Sabotage,
    exact: Awaited<ReturnType<typeof loadO200k>>,
  ) {
    this.#program = program
    this.#disk = disk
    this.#sabotage = sabotage
    this.#exact = exact
    this.#tabs = [this.#open(), this.#open()]
  }

  #open(): Tab {
    const whole = this.#disk.open()
    const { store = whole } = this.#sabotage.store ? { store: this.#sabotage.store(whole) } : {}
    const options = {
      store: crashing(store, this.#fuse),
      budget: this.#program.line,
      counter: this.#program.counter === 'exact' ? this.#exact : defaultCounter,
      system: SYSTEM,
      newId: () => `id-${++this.#ids}`,
      newSecret: () => String(++this.#ids).padStart(64, '0'),
      clock: () => 1_790_000_000_000,
    }
    const memory: Memory<Features> = this.#program.features
      ? createMemory({ ...options, use: [facts(), compaction()] })
      : createMemory(options)
    return { memory, sessions: PLACES.map((place) => memory.session(place)) }
  }

  async does(command: Command): Promise<void> {
    const { scope, tab } = command
    const world = this.#worlds[scope] as World
    const entries = world.entries
    switch (command.do) {
      case 'crash':
        Object.assign(this.#fuse, { left: command.after, reached: command.reached })
        this.#dies = command.dies
        return
      case 'reopen':
        this.#tabs[tab] = this.#open()
        return this.#log(scope)
      case 'race':
        return this.#race(scope, command.text)
      case 'repeat':
        return this.#repeat(command, chosen(entries, command.which))
      case 'context':
        return this.#context(command)
      case 'past':
        return this.#past(command, entries.at(-1 - (command.which % Math.max(1, entries.length))))
      case 'rewind': {
        const history = await this.#history(scope, tab)
        const target = chosen(history, command.which)
        if (!target) return
        const opId = this.#opId()
        await this.#surely(command, (session) => rewind(session, target.id, { opId }))
        world.rewinds.push(history.slice(history.indexOf(target)).map(({ id }) => id))
        await this.#history(scope, tab)
        return
      }
      case 'undo': {
        if (world.rewinds.length === 0) return
        const opId = this.#opId()
        await this.#surely(command, (session) => undo(session, undefined, { opId }))
        world.undone()
        await this.#history(scope, tab)
        return
      }
      case 'forget': {
        const target = chosen(entries, command.which)
        if (!target) return
        const certificate = await this.#surely(command, (session) => forget(session, target.id))
        world.forgot(target.id)
        this.#seen(scope, 'the certificate', JSON.stringify(certificate))
        await this.#log(scope)
        await this.#leaves()
        return
      }
      case 'remember': {
        const source = chosen(entries, command.which)
        if (!source || world.forgotten.has(source.id) || !this.#program.features) return
        const opId = this.#opId()
        const mark = this.#mark(scope)
        await this.#surely(command, async (session) =>
          session.facts?.remember(
            { kind: 'finding', text: `${mark} ${command.text}`, sources: [source.id] },
            { opId },
          ),
        )
        world.facts.push({ mark, source: source.id })
        return
      }
      case 'export':
        return this.#export(scope, tab)
      default:
        return this.#write(command)
    }
  }

  /** What is left in the end: all that was acknowledged, in the order of the log, byte by byte. */
  async ends(): Promise<void> {
    this.#fuse.left = undefined
    this.#tabs.push(this.#open())
    for (const scope of PLACES.keys()) {
      if (this.#worlds[scope]?.entries.length === 0) continue
      await this.#log(scope)
      for (const tab of this.#tabs.keys()) await this.#history(scope, tab)
      await this.#export(scope, 0)
    }
    await this.#erase()
    await this.#leaves()
  }

  async #write(command: Command): Promise<void> {
    const { scope, tab } = command
    const world = this.#worlds[scope] as World
    const opId = this.#opId()
    const mark = this.#mark(scope)
    const message = messageOf(command, world, mark, `m-${opId}`)
    if (!message) return
    const by = this.#session(command)
    const { repeated, mismatch } = await this.#surely(command, (session) => session.append(message, { opId }))
    if (mismatch) throw new Broken(`${opId} had been written with another content`)
    const isPlain = !repeated && this.#session(command) === by
    world.wrote(message, { mark, opId, tab, ...(isPlain && { by }) })
  }

  async #race(scope: number, text: string): Promise<void> {
    const world = this.#worlds[scope] as World
    this.#fuse.left = undefined
    const sent = [0, 1].map((tab) => {
      const opId = this.#opId()
      const mark = this.#mark(scope)
      const message: MessageInput = { id: `m-${opId}`, role: 'user', content: `${mark} ${text}` }
      return { message, mark, opId, tab }
    })
    await Promise.all(
      sent.map(({ message, opId, tab }) => this.#session({ scope, tab }).append(message, { opId })),
    )
    const written = (await this.#read(scope)).filter(({ kind }) => kind === 'message').map(({ id }) => id)
    sent.sort((a, b) => written.indexOf(a.message.id as string) - written.indexOf(b.message.id as string))
    for (const { message, ...about } of sent) world.wrote(message, about)
  }

  /** The first content of an op stays, whatever is sent under its name later. */
  async #repeat(command: Command & { do: 'repeat' }, entry: Entry | undefined): Promise<void> {
    if (!entry) return
    const { opId, message, id } = entry
    const changed: MessageInput = { id, role: 'user', content: 'something else' }
    const isChanged = command.changed && message.role === 'user'
    const { repeated, mismatch } = await this.#surely(command, (session) =>
      session.append(isChanged ? changed : message, { opId }),
    )
    if (!repeated) throw new Broken(`${opId} was written twice`)
    const world = this.#worlds[command.scope] as World
    if (!world.forgotten.has(id) && mismatch !== isChanged)
      throw new Broken(`the content of ${opId} was mistaken`)
  }

  async #context(command: Command & { do: 'context' }): Promise<void> {
    const { scope, as } = command
    const world = this.#worlds[scope] as World
    const session = this.#session(command)
    const isFused = this.#fuse.left !== undefined
    let context: Context
    try {
      context = await session.context({
        onPending: 'abandon',
        ...(command.tail !== undefined && { tail: command.tail }),
        ...(as === 'preview' && { preview: true }),
        ...(as === 'manual' && { newEpoch: true }),
      })
    } catch (error) {
      if (!isPlimsollError(error, 'ERR_BUDGET_TOO_SMALL')) throw error
      this.counts.refused++
      return
    }
    context = this.#sabotage.context?.(context) ?? context
    this.counts.built++
    const openai = toOpenAI(context).messages as unknown as readonly Item[]
    const { system, messages } = toAnthropic(context) as unknown as { system?: unknown; messages: Item[] }
    const { line } = this.#program
    const tokens = tokensOf(openai)
    if (tokens > line) throw new Broken(`${tokens} tokens are above the line of ${line}`)
    const { used, margin, cap } = context.receipt
    if (used + margin > (cap ?? Infinity))
      throw new Broken(`the receipt has ${used} + ${margin}, above ${cap}`)
    mustNot(refusedByOpenAI(openai) ?? refusedByAnthropic(messages))
    this.#seen(scope, 'a context', stringifyContext(context) + JSON.stringify([openai, system, messages]))
    mustNot(misquoted(context, world))
    const { epoch } = context.receipt
    const isKept = typeof epoch !== 'string'
    const request = stable(context)
    if (isKept) mustNot(world.refusesPrefix(epoch.id, request))
    if (as === 'preview') return
    world.handedOut.push({
      ...(world.newest && { newest: world.newest.id }),
      bytes: request.join(),
      by: session,
      isRecorded: isKept && !isFused,
    })
  }

  /**
   * What is attested was handed out, byte by byte. And it is attested, where one process was given
   * all that was handed out then and wrote what follows.
   */
  async #past(command: Command, entry: Entry | undefined): Promise<void> {
    if (!entry) return
    const world = this.#worlds[command.scope] as World
    const there = world.handedOut.filter(({ newest }) => newest === entry.id)
    const next = world.entries[world.entries.indexOf(entry) + 1]
    const by = next && world.writers.get(next.id)
    const isCertain =
      there.length > 0 && there.length <= 4 && there.every((one) => one.isRecorded && one.by === by)
    try {
      const { context, verified, reason } = await contextAt(this.#session(command), entry.id)
      this.#seen(command.scope, 'a past context', stringifyContext(context))
      const bytes = stable(context).join()
      if (verified && !world.handedOut.some((one) => one.bytes === bytes))
        throw new Broken(`contextAt attests what was not handed out at ${entry.id}`)
      if (!verified && isCertain) throw new Broken(`contextAt does not attest ${entry.id}: ${reason}`)
      if (verified) this.counts.attested++
    } catch (error) {
      if (isPlimsollError(error, 'ERR_NOT_FOUND') && !isCertain) return
      throw error
    }
  }

  /** Whole pages of one user: nothing of another one, nothing that was forgotten. */
  async #export(scope: number, tab: number): Promise<void> {
    const { tenant, userId } = PLACES[scope] as { tenant?: string; userId: string }
    const user = { ...(tenant !== undefined && { tenant }), userId }
    const { memory } = this.#tabs[tab] as Tab
    // It rejects where its record cannot be written, and says so.
    this.#fuse.left = undefined
    for (const format of ['jsonl', 'markdown'] as const) {
      let text = ''
      for await (const line of exportFrom(memory, user, { format })) text += line
      const own = PLACES.flatMap((place, at) =>
        place.userId === userId && ('tenant' in place ? place.tenant : undefined) === tenant ? [at] : [],
      )
      this.#seen(own, `an export (${format})`, text)
      for (const at of own)
        for (const { id, mark } of this.#worlds[at]?.entries ?? [])
          if (!this.#worlds[at]?.forgotten.has(id) && !text.includes(mark))
            throw new Broken(`an export (${format}) lost ${id}`)
    }
    this.#seen([], 'the audit', JSON.stringify(await readAudit(memory, user)))
  }

  /** Of a user who is erased nothing is left, and the others keep all. */
  async #erase(): Promise<void> {
    const { memory } = this.#tabs[0] as Tab
    const user = { tenant: PLACES[0].tenant, userId: PLACES[0].userId }
    this.#seen([], 'the certificate', JSON.stringify(await eraseUser(memory, user)))
    for (const scope of [0, 1]) {
      const world = this.#worlds[scope] as World
      for (const { id } of world.entries) world.forgot(id)
    }
    for (const scope of PLACES.keys()) await this.#history(scope, this.#tabs.push(this.#open()) - 1)
  }

  async #history(scope: number, tab: number) {
    const history = await this.#session({ scope, tab }).history({ messages: 1_000 })
    this.#seen(scope, 'the history', JSON.stringify(history))
    mustNot(this.#worlds[scope]?.refusesHistory(history))
    return history
  }

  /** The log is what was acknowledged, in that order, and only grows. */
  async #log(scope: number): Promise<void> {
    const world = this.#worlds[scope] as World
    const rows = await this.#read(scope)
    this.#seen(scope, 'the log', JSON.stringify(rows))
    const messages = rows.filter(({ kind }) => kind === 'message')
    const ids = messages.map(({ id }) => id).join()
    const expected = world.entries.map(({ id }) => id).join()
    if (ids !== expected) throw new Broken(`the log has ${ids}, and should have ${expected}`)
    for (const [at, { message, id }] of world.entries.entries()) {
      const body = messages[at]?.body ?? null
      if (world.forgotten.has(id)) mustNot(body === null ? undefined : `${id} has a body`)
      else if (body === null) throw new Broken(`the log lost the body of ${id}`)
      else if (JSON.stringify(JSON.parse(body).content) !== JSON.stringify(message.content))
        throw new Broken(`the log has ${id} with another content`)
    }
    const names = rows.map(({ seq, place, kind, id }) => [seq, place, kind, id].join(' '))
    const before = this.#rows.get(scope) ?? []
    if (before.some((name, at) => name !== names[at])) throw new Broken('the log does not only grow')
    this.#rows.set(scope, names)
  }

  async #read(scope: number) {
    const opened = this.#disk.open().open(PLACES[scope] as (typeof PLACES)[number])
    const rows = []
    for (let after = 0; ; ) {
      const page = await opened.changesSince(after)
      rows.push(...page.rows)
      const last = page.rows.at(-1)
      if (!page.more || !last) return rows
      after = last.seq
    }
  }

  /** Nothing that was forgotten is in any row; and nothing at all in the clear under a key. */
  async #leaves(): Promise<void> {
    const { bytes } = this.#disk
    let text = ''
    for (let scopes = await bytes.scopes(); scopes.length > 0; scopes = await bytes.scopes(scopes.at(-1)))
      for (const scope of scopes) {
        const opened = bytes.open(scope)
        text += JSON.stringify([(await opened.changesSince(0)).rows, await opened.registers('')])
      }
    this.#seen([...PLACES.keys()], 'the store', text)
    if (this.#program.store !== 'encrypted') return
    for (const canary of CANARIES)
      if (text.includes(`${canary}-`)) throw new Broken(`${canary} is in the clear in the store`)
  }

  /** Nothing that shows to one scope is of another one, or was forgotten. */
  #seen(scopes: number | readonly number[], where: string, text: string): void {
    const own = [scopes].flat()
    for (const [at, canary] of CANARIES.entries()) {
      if (!own.includes(at) && text.includes(`${canary}-`))
        throw new Broken(`${where} of ${own} shows ${canary}`)
      for (const mark of this.#worlds[at]?.gone ?? [])
        if (text.includes(mark)) throw new Broken(`${where} shows ${mark}, which was forgotten`)
    }
  }

  /** A call, and the same once more where the store failed under it: nobody heard of the first. */
  async #surely<T>(at: { scope: number; tab: number }, call: (session: Session) => Promise<T>): Promise<T> {
    for (let tries = 0; ; tries++)
      try {
        return await call(this.#session(at))
      } catch (error) {
        const isCrash = error instanceof Crash || isPlimsollError(error, 'ERR_STORAGE')
        if (!isCrash || tries > 2) throw error
        if (this.#dies) this.#tabs[at.tab] = this.#open()
      }
  }

  #session({ scope, tab }: { scope: number; tab: number }): Session {
    return this.#tabs[tab]?.sessions[scope] as Session
  }

  #opId(): string {
    return `op-${++this.#ops}`
  }

  #mark(scope: number): string {
    return `${CANARIES[scope]}-${this.#ops}-mark`
  }
}

type Entry = World['entries'][number]

function chosen<T>(list: readonly T[], which: number): T | undefined {
  return list[which % Math.max(1, list.length)]
}

/** The request without its tail, message by message. */
function stable(context: Context): readonly string[] {
  const blocks = context.blocks.filter(({ section }) => section !== 'tail')
  return toOpenAI({ ...context, blocks }).messages.map((message) => JSON.stringify(message))
}

/** Why a context is not of this log: a text is not the original, or a message is in no account. */
function misquoted({ blocks, receipt }: Context, world: World): string | undefined {
  const shown = new Set(
    blocks.flatMap(({ from }) => from).filter((id) => world.entries.some((entry) => entry.id === id)),
  )
  const left = [...receipt.omitted, ...(receipt.summary?.covers ?? [])]
  const omitted = left.reduce((sum, { count }) => sum + count, 0)
  if (shown.size + omitted !== world.entries.length)
    return `${shown.size} shown and ${omitted} left out are not ${world.entries.length} messages`
  const missing = world.missing(shown)
  if (missing !== undefined) return `a context lacks the result ${missing}`
  for (const { rule, role, parts, from } of blocks) {
    const [id] = from
    if (rule !== 'verbatim' || role === 'tool' || id === undefined) continue
    const entry = world.entries.find((one) => one.id === id)
    if (!entry || world.isHidden(id)) return `a context shows ${id}`
    const content = entry.message.content
    if (typeof content !== 'string') continue
    const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
    if (text !== content) return `a context shows ${id} with another text`
  }
  return undefined
}

function messageOf(command: Command, world: World, mark: string, id: string): MessageInput | undefined {
  if (command.do === 'say') return { id, role: 'user', content: `${mark} ${command.text}` }
  if (command.do === 'answer') return { id, role: 'assistant', content: `${mark} ${command.text}` }
  if (command.do === 'call') {
    const first = command.again ? world.calls[0]?.id : undefined
    const calls = Array.from({ length: command.calls }, (_, at) => (at === 0 && first) || `${id}-${at}`)
    return {
      id,
      role: 'assistant',
      content: calls.map((call) => ({ type: 'tool-call', id: call, name: 'look_up', input: { mark } })),
    }
  }
  if (command.do === 'result') {
    const recent = world.calls.slice(-8)
    const callId = chosen(recent, command.which)?.id ?? 'nobody'
    return {
      id,
      role: 'tool',
      content: [{ type: 'tool-result', callId, output: `${mark} ${command.text}` }],
    }
  }
  return undefined
}
