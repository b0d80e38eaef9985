/** What must hold when nothing is on its way any more. */
import { messageIn } from '../../src/kernel/log/bodies.ts'
import { fold } from '../../src/kernel/log/fold.ts'
import type { LogRow, Reads, RegisterRow, ScopeStore } from '../../src/ports/store.ts'
import { utf8Length } from '../../src/ports/utf8-length.ts'
import { tokOf } from '../../src/sync/tok.ts'
import { readLog } from '../contract/samples.ts'
import { DAY_MS, KEEP, NOW, type Tab } from './client.ts'
import { attachmentsOf, bytesOf, RACE, textOf, type World } from './world.ts'

export class Broken extends Error {}

const ROUNDS = 60

/** Lets all devices and the home come together. */
export async function settle(world: World): Promise<void> {
  world.messages.length = 0
  for (let round = 0; ; round++) {
    let moved = false
    for (const [index, tab] of world.tabs.entries()) {
      if (await isSettled(world, tab)) continue
      moved = true
      for (const what of ['push', 'pull'] as const) {
        await world.send(what, index, 100)
        while (world.messages.length > 0)
          await world.deliver(world.messages.shift() as (typeof world.messages)[number])
      }
    }
    if (!moved) return
    if (round === ROUNDS) throw new Broken('I13: they do not come together')
  }
}

async function isSettled({ home }: World, tab: Tab): Promise<boolean> {
  const { state, waiting, wanted } = await tab.replica.view()
  if (waiting.length + wanted.length > 0) return false
  const { generation, since } = await home.state()
  const { seq } = await home.scope.head()
  const isSame = generation === '' || state.generation === generation
  if (!isSame || state.seq !== seq - since) return false
  const { rows } = await home.scope.changesSince(seq - 1)
  return state.seq === 0 || state.anchor === tokOf(rows[0] as LogRow)
}

/** A tab of each device. */
function devicesOf({ tabs }: World): readonly Tab[] {
  return tabs.filter(({ device }, index) => tabs.findIndex((tab) => tab.device === device) === index)
}

/** All that a scope shows, as of the first seq of its log. */
export async function shownBy(scope: Reads, since = 0): Promise<Record<string, unknown>> {
  const head = await scope.head()
  const log = (await readLog(scope)).filter(({ seq, kind }) => seq > since && kind !== 'erase')
  const registers = await allRegisters(scope)
  const { units, unshown, hidden } = fold(log)
  return {
    head: {
      seq: (log.at(-1)?.seq ?? since) - since,
      ordinal: head.ordinal,
      first: head.first,
      marks: [...head.marks.values()]
        .map((mark) => ({ ...mark, seq: mark.seq - since }))
        .sort((a, b) => (a.slot < b.slot ? -1 : 1)),
    },
    log: log.map(({ tok: _, derived: __, seq, ...row }) => ({ seq: seq - since, ...row })),
    registers: registers.map(({ seq, ...row }) => ({ seq: seq - since, ...row })),
    indexed: (await scope.indexed('facts')).map(({ key }) => key),
    sums: [...(await scope.sums(['facts']))],
    fold: {
      units: units.map(({ row, results }) => [row.id, results.map((one) => one.row.id)]),
      unshown: unshown.map(({ row, reason }) => [row.id, reason]),
      hidden: [...hidden].sort(),
    },
  }
}

async function allRegisters(scope: Reads) {
  const live = await scope.registers('')
  const keys = new Set(live.map(({ key }) => key))
  for (const { kind, id } of await readLog(scope)) if (kind === 'put') keys.add(id)
  const all = await Promise.all([...keys].sort().map((key) => scope.register(key)))
  return all.flatMap((row) => row ?? [])
}

/** Whatever was delivered changes nothing when it comes again. */
export async function checkAgain(world: World): Promise<void> {
  if (world.restores + world.wipes > 0) return
  const all = async () => {
    const { generation, since } = await world.home.state()
    const scopes = [world.home.scope, ...devicesOf(world).map(({ scope }) => scope)]
    return [
      generation,
      await Promise.all(scopes.map((scope, index) => shownBy(scope, index > 0 ? 0 : since))),
    ]
  }
  const before = await all()
  for (const message of [...world.delivered]) {
    await world.deliver(message)
    world.messages.length = 0
  }
  same('I12: what came again', await all(), before)
}

export async function check(world: World): Promise<void> {
  const { home } = world
  const { since } = await home.state()
  const wanted = await shownBy(home.scope, since)
  for (const tab of devicesOf(world)) await checkPart(world, tab)
  // What was not here is now, and what that names is fetched.
  await settle(world)
  for (const tab of devicesOf(world)) {
    const shown = await shownBy(tab.scope)
    for (const [what, value] of Object.entries(wanted))
      same(`I1: ${what} of device ${tab.device}`, shown[what], value)
  }
  const log = (await readLog(home.scope)).filter(({ seq }) => seq > since)
  checkLog(log)
  await checkLost(world, log)
  checkOrder(world, log)
  checkUpdates(world, log)
  await checkForgotten(world, log)
  await checkAttachments(world, log)
  await checkKnown(world)
  await checkConfirmed(world)
}

/** A part of the log is that of the home, with all that stands beside it; then all of it comes. */
async function checkPart({ home }: World, tab: Tab): Promise<void> {
  const { after = 0 } = await tab.state()
  const { since } = await home.state()
  const ofHome = await shownBy(home.scope, since)
  const ofPart = await shownBy(tab.here)
  const log = (ofHome.log as readonly LogRow[]).filter(({ seq }) => seq > after)
  const live = ({ registers }: Record<string, unknown>) =>
    (registers as readonly RegisterRow[]).filter(({ body }) => body !== null)
  const name = `of device ${tab.device}`
  same(`I17: log ${name}`, ofPart.log, log)
  same(`I17: registers ${name}`, live(ofPart), live(ofHome))
  for (const what of ['head', 'indexed', 'sums']) same(`I17: ${what} ${name}`, ofPart[what], ofHome[what])
  checkKept(ofHome.log as readonly LogRow[], after, tab.device)
  if (after > 0 && (await readLog(tab.scope)).length < (ofHome.log as []).length)
    throw new Broken(`I18: a part is taken for all ${name}`)
}

/** What is not here is more than the device keeps; a delete makes less of what is. */
function checkKept(log: readonly LogRow[], after: number, device: number): void {
  if (after === 0 || log.some(({ kind }) => kind === 'delete')) return
  const { bytes = Number.POSITIVE_INFINITY, days = Number.POSITIVE_INFINITY } = KEEP[device] ?? {}
  const size = log.reduce((sum, { seq, body }) => sum + (seq > after ? utf8Length(body ?? '') : 0), 0)
  const times = log.flatMap((row) => (row.seq <= after ? (messageIn(row)?.createdAt ?? []) : []))
  const isOld = times.every((time) => time < NOW - days * DAY_MS)
  if (size < bytes && !isOld) throw new Broken(`I19: device ${device} keeps too little`)
}

/**
 * What a message names is where the message is. After a restore, or where a device lost its store,
 * the bytes may be on some of the devices alone.
 */
async function checkAttachments(world: World, log: readonly LogRow[]): Promise<void> {
  const scopes = [world.home.scope, ...devicesOf(world).map(({ scope }) => scope)]
  const deleted = new Set(log.flatMap(({ kind, id }) => (kind === 'delete' ? id : [])))
  const live = new Set(log.flatMap(attachmentsOf))
  for (const [opId, { op }] of world.written)
    for (const id of op.envelope.attachments ?? []) {
      const all = await Promise.all(scopes.map((scope) => scope.attachment(id)))
      const there = all.filter((one) => one !== undefined)
      for (const { bytes } of there) same(`I15: the bytes of ${opId}`, [...bytes], [...bytesOf(id)])
      if (deleted.has(`attachment:${id}`) && there.length > 0) throw new Broken(`I8: the bytes of ${opId}`)
      const isWhole = world.restores + world.wipes > 0 || there.length === all.length
      const isNamed = live.has(id) && !deleted.has(`attachment:${id}`)
      if (isNamed && !isWhole) throw new Broken(`I15: bytes of ${opId} are missing`)
    }
}

/**
 * A device that confirmed a delete holds nothing of it, whatever is on its way. Checked before all
 * has come together, too.
 */
export async function checkConfirmed(world: World): Promise<void> {
  const { generation, since, replicas = [] } = await world.home.state()
  const log = (await readLog(world.home.scope)).filter(({ seq }) => seq > since)
  for (const tab of devicesOf(world)) {
    const state = await tab.state()
    const found = replicas.find(({ name }) => name === state.replica)
    if (!found) continue
    const isBefore = found.seq >= 0 && state.generation !== generation
    if (isBefore && world.restores === 0) throw new Broken(`I16: device ${tab.device} has another log`)
    const gone = log.flatMap(({ kind, id, seq }) =>
      kind === 'delete' && id.startsWith('entry:') && seq - since <= found.seq
        ? textOf(id.slice('entry:'.length))
        : [],
    )
    const rows = [await readLog(tab.here), await tab.here.registers(''), await tab.outbox()]
    const text = JSON.stringify(rows)
    for (const one of gone)
      if (text.includes(one)) throw new Broken(`I16: device ${tab.device} confirmed, and holds ${one}`)
  }
}

/** Once all have asked again, the home knows that each has emptied what was deleted. */
async function checkKnown(world: World): Promise<void> {
  // A home that refused all that it was sent has no log, and notes nothing.
  if ((await world.home.scope.head()).seq === 0) return
  for (const [index, tab] of world.tabs.entries()) {
    await world.send('pull', index, 100)
    while (world.messages.length > 0)
      await world.deliver(world.messages.shift() as (typeof world.messages)[number])
    const { replica } = await tab.state()
    const { replicas, emptiedAt = 0 } = await world.home.state()
    if (replica !== undefined && !((replicas?.find(({ name }) => name === replica)?.seq ?? -1) >= emptiedAt))
      throw new Broken(`I16: the home does not know of device ${tab.device}`)
  }
}

function checkLog(log: readonly LogRow[]): void {
  const firsts = log.filter(({ place }) => place === 0)
  const ops = firsts.map(({ opId }) => opId)
  if (new Set(ops).size < ops.length) throw new Broken('I3: an op is there twice')
  const ids = log.flatMap(({ kind, id }) => (kind === 'put' || kind === 'delete' ? [] : id))
  if (new Set(ids).size < ids.length) throw new Broken('I3: an entry is there twice')
  const start = (firsts[0]?.seq ?? 1) - 1
  for (const [index, { seq }] of firsts.entries())
    if (seq !== start + index + 1) throw new Broken(`I4: a gap before ${seq}`)
  const seen = new Set<string>()
  for (const { opId, place } of log) {
    if (place === 0 && seen.has(opId)) throw new Broken(`I6: ${opId} is parted`)
    seen.add(opId)
  }
}

async function checkLost(world: World, log: readonly LogRow[]): Promise<void> {
  const { generation } = await world.home.state()
  const there = new Map(log.toReversed().map((row) => [row.opId, row]))
  const refused = new Set<string>()
  for (const tab of devicesOf(world))
    for (const { envelope, refusal } of await tab.outbox()) {
      if (refusal) refused.add(`${tab.device}:${envelope.opId}`)
      const row = refusal && there.get(envelope.opId)
      // It may be another writer's of that name, who came first.
      if (row && (row.id === envelope.ids[0] || JSON.stringify(refusal) !== '{"rejected":"duplicate-id"}'))
        throw new Broken(`I2: ${envelope.opId} is refused and there`)
    }
  for (const [opId, one] of world.written) {
    const { op, by, wiped } = one
    if (there.has(opId) || op.envelope.kind === 'erase' || world.isGone(one)) continue
    if (world.mayBeGone(one, generation)) continue
    if (refused.has(`${by}:${opId}`) || wiped) continue
    // Where a home goes back, what was only there is gone, once all who had it are wiped.
    if (world.restores > 0 && (by < 0 || world.letGo.has(opId))) continue
    throw new Broken(`I2: ${opId} (${op.envelope.kind} by ${by}) is gone`)
  }
  for (const opId of there.keys()) {
    const one = world.written.get(opId)
    if (one && world.isGone(one)) throw new Broken(`I8: ${opId} was erased and is there`)
  }
}

function checkOrder({ written, restores, wipes }: World, log: readonly LogRow[]): void {
  if (restores > 0 || wipes > 0) return
  const orders = new Map<number, number>()
  const numbers = new Map([...written.keys()].map((opId, index) => [opId, index]))
  for (const { opId } of log) {
    const { by = -1, isAgain = false } = written.get(opId) ?? {}
    if (isAgain) continue
    const number = numbers.get(opId) ?? 0
    if (by >= 0 && number < (orders.get(by) ?? 0)) throw new Broken(`I5: ${opId} is out of order`)
    orders.set(by, number)
  }
}

function checkUpdates({ written, restores }: World, log: readonly LogRow[]): void {
  if (restores > 0) return
  const versions = new Map<string, string>()
  for (const { kind, id, opId, place } of log) {
    if (place !== 0 || kind !== 'put') continue
    const { saw, isAgain = false } = written.get(opId) ?? {}
    if (!isAgain && saw !== undefined && saw !== (versions.get(id) ?? null))
      throw new Broken(`I7: ${opId} wrote over ${versions.get(id)}, and saw ${saw}`)
    versions.set(id, opId)
  }
}

/** What was deleted or erased is nowhere. */
async function checkForgotten(world: World, log: readonly LogRow[]): Promise<void> {
  const scopes: (readonly [string, ScopeStore])[] = [
    ['home', world.home.scope],
    ...devicesOf(world).map((tab) => [`device ${tab.device}`, tab.scope] as const),
  ]
  const texts = await Promise.all(
    scopes.map(async ([name, scope]) => {
      const outbox = await scope.outbox?.(0)
      checkDerived(log, await scope.registers(''), name)
      return [name, JSON.stringify([await readLog(scope), await scope.registers(''), outbox])] as const
    }),
  )
  const gone: string[] = []
  for (const { kind, id } of log)
    if (kind === 'delete') {
      const name = id.slice(id.indexOf(':') + 1)
      if (id.startsWith('entry:')) gone.push(textOf(name))
      else for (const [opId, { op }] of world.written) if (op.envelope.key === name) gone.push(textOf(opId))
    }
  if (world.restores + world.wipes === 0) gone.push(...oldSecrets(world, log))
  for (const [opId, one] of world.written)
    if (world.isGone(one)) gone.push(textOf(opId), ...one.op.envelope.ids.map(textOf))
  for (const [name, text] of texts)
    for (const one of gone) if (text.includes(one)) throw new Broken(`I8: ${one} is there on ${name}`)
}

/**
 * Secrets that a delete has put another one in the place of. Where two deletes had one name, the
 * secret of the second went with it, and with that what it had replaced on its device.
 */
function oldSecrets({ written }: World, log: readonly LogRow[]): readonly string[] {
  const isRotating = ({ kind, opId }: LogRow) => kind === 'delete' && written.get(opId)?.secret !== undefined
  if (log.some(({ kind, opId }) => kind === 'delete' && opId.startsWith(RACE))) return []
  const last = log.findLastIndex(isRotating)
  return log.slice(0, Math.max(0, last)).flatMap(({ opId }) => {
    const { secret } = written.get(opId) ?? {}
    return secret === undefined ? [] : JSON.stringify(secret).slice(1, -1)
  })
}

/** What derives from something that is deleted has no value, where its sources are known. */
function checkDerived(log: readonly LogRow[], registers: readonly RegisterRow[], name: string): void {
  const gone = new Set<string>(log.flatMap(({ kind, id }) => (kind === 'delete' ? id : [])))
  for (const { id, sources = [], body } of log)
    if (body !== null && sources.some((source) => gone.has(source)))
      throw new Broken(`I8: ${id} derives from what is deleted, on ${name}`)
  for (const { key, sources = [], body } of registers)
    if (body !== null && sources.some((source) => gone.has(source)))
      throw new Broken(`I8: ${key} derives from what is deleted, on ${name}`)
}

export function same(what: string, one: unknown, other: unknown): void {
  if (JSON.stringify(one) === JSON.stringify(other)) return
  const [is, was] = [JSON.stringify(one, inOrder), JSON.stringify(other, inOrder)]
  if (is === was) return
  const at = [...is].findIndex((character, place) => character !== was[place])
  const from = Math.max(0, at - 120)
  throw new Broken(`${what}:\n  ${is.slice(from, at + 160)}\n  ${was.slice(from, at + 160)}`)
}

export function inOrder(_: string, value: unknown): unknown {
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isRecord ? Object.fromEntries(Object.entries(value).sort()) : value
}
