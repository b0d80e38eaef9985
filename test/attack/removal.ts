/** What is forgotten, by a call or by its age: it shows nowhere, and nothing else is lost. */
import {
  eraseUser,
  forget,
  forgetFact,
  isPlimsollError,
  type LogRow,
  type MessageInput,
  runDueWork,
} from '../../src/index.ts'
import { checkFacts, liveFacts } from './facts.ts'
import { checkCheckpoint } from './kept.ts'
import { CANARIES, OWNERS, ownerOf, PLACES } from './places.ts'
import type { At, Command } from './program.ts'
import { handedOut } from './requests.ts'
import { checkLog, checkStore, readLog, textOf } from './rows.ts'
import { Broken, chosen, DAY, isCrash, type Stage } from './stage.ts'
import { checkFiles, checkHistory } from './talk.ts'

type Of<Do extends Command['do']> = Command & { readonly do: Do }

/** More calls of `runDueWork` in a row than any of these stores needs. */
const MOST_CALLS = 50

export async function forgetOne(stage: Stage, command: Of<'forget'>): Promise<void> {
  const { scope, of, which } = command
  const world = stage.world(command)
  if (of === 'message') {
    const target = chosen(world.entries, which)
    if (!target) return
    const certificate = await stage.surely(command, () => forget(stage.session(command), target.id))
    world.forgot(target.id)
    stage.seen(scope, 'the certificate', JSON.stringify(certificate))
  } else {
    const target = chosen(liveFacts(stage, command), which)
    if (!target) return
    const { user } = OWNERS[ownerOf(scope)] as (typeof OWNERS)[number]
    const { id } = target
    const certificate = await stage.surely(command, () =>
      target.isShared && which % 2 === 0
        ? forgetFact(stage.tab(command).memory, user, id)
        : forget(stage.session(command), id, { kind: 'fact' }),
    )
    target.isForgotten = true
    stage.seen(OWNERS[ownerOf(scope)]?.scopes ?? [], 'the certificate', JSON.stringify(certificate))
  }
  await checkGone(stage, command)
}

/** One tab forgets a message while the other builds on it. */
export async function raceForget(stage: Stage, command: Of<'race-forget'>): Promise<void> {
  const { scope, which, beside } = command
  const world = stage.world(command)
  const target = chosen(world.entries, which)
  const needsFacts = beside === 'compaction' || beside === 'remember'
  if (!target || (needsFacts && !stage.hasFacts)) return
  const other: At = { scope, tab: 1 - command.tab }
  const opId = stage.opId()
  const mark = stage.mark(scope)
  const message: MessageInput = { id: `m-${opId}`, role: 'user', content: `${mark} meanwhile` }
  const fact = {
    kind: 'finding',
    text: `${mark} of it`,
    sources: [target.id],
    id: stage.name('fact'),
  } as const
  const doBeside = async (): Promise<unknown> => {
    const session = stage.session(other)
    if (beside === 'context') return session.context({ onPending: 'abandon' })
    if (beside === 'compaction') return session.compaction.run()
    if (beside === 'forget') return forget(session, target.id)
    if (beside === 'say') return session.append(message, { opId })
    return session.facts.remember(fact, { opId })
  }
  const [, outcome] = await Promise.all([
    stage.surely(command, () => forget(stage.session(command), target.id)),
    stage.surely(other, doBeside).catch((error: unknown) => {
      // What it is about may be gone by then, or be too large for the line.
      if (!isPlimsollError(error, 'ERR_BUDGET_TOO_SMALL') && !isPlimsollError(error, 'ERR_NOT_FOUND'))
        throw error
    }),
  ])
  world.forgot(target.id)
  stage.doubt(scope)
  if (beside === 'say') world.wrote(message, { mark, opId, tab: other.tab, at: stage.now })
  if (beside === 'context' && outcome) handedOut(stage, other, outcome as never, false)
  if (beside === 'remember')
    world.facts.push({
      id: fact.id,
      mark,
      source: target.id,
      isShared: false,
      isPinned: false,
      at: stage.now,
      isForgotten: false,
    })
  await checkGone(stage, command)
}

/** What was forgotten is in no row and shows nowhere, and all else is there. */
async function checkGone(stage: Stage, { scope }: At): Promise<void> {
  stage.doubt(scope)
  await checkLog(stage, scope)
  await checkStore(stage)
  for (const tab of [0, 1]) {
    await checkHistory(stage, { scope, tab })
    await checkFiles(stage, { scope, tab })
    await checkFacts(stage, { scope, tab })
  }
}

/** What is due is done, by a process that has done none of it: what its rules name, and no more. */
export async function work(stage: Stage, command: At): Promise<void> {
  const before = await Promise.all([...PLACES.keys()].map((scope) => readLog(stage, scope)))
  for (let calls = 0; ; calls++) {
    if (calls > MOST_CALLS) throw new Broken('what is due has no end')
    try {
      if (calls === 0) stage.tabs[command.tab] = stage.open()
      const next = await runDueWork(stage.tab(command).memory)
      if (next === undefined || next > stage.now) break
    } catch (error) {
      if (!isCrash(error)) throw error
      calls = -1
    }
  }
  for (const scope of PLACES.keys()) {
    const world = stage.world({ scope })
    const removed = await removedByAge(stage, scope, before[scope] ?? [])
    for (const id of removed) world.forgot(id)
    const { facts, checkpoint } = stage.program.kept ?? {}
    if (facts !== undefined)
      for (const fact of world.facts)
        if (!fact.isPinned && fact.at + facts * DAY <= stage.now) fact.isForgotten = true
    if (checkpoint !== undefined && (world.checkpoint?.at ?? Infinity) + checkpoint * DAY <= stage.now)
      world.checkpoint = undefined
    for (const file of world.files)
      if (file.namedBy.length === 0 && file.at + DAY <= stage.now) file.isRemoved = true
  }
  for (const scope of PLACES.keys()) {
    if (stage.world({ scope }).entries.length === 0) continue
    await checkGone(stage, { scope, tab: 0 })
    if (stage.hasAll) await checkCheckpoint(stage, { scope, tab: command.tab })
  }
}

/**
 * Messages that retention removed: whole rounds of which the newest message that was left is old
 * enough, and never the newest round.
 */
async function removedByAge(
  stage: Stage,
  scope: number,
  before: readonly LogRow[],
): Promise<readonly string[]> {
  const days = stage.program.kept?.log
  const world = stage.world({ scope })
  const times = new Map(world.entries.map(({ id, at }) => [id, at]))
  const messages = before.filter(({ kind }) => kind === 'message')
  const live = messages.filter(({ body }) => body !== null)
  const newest = messages.findLast(({ id, round }) => id === round)?.round
  const isDue = ({ round }: LogRow): boolean => {
    const ages = live.filter((row) => row.round === round).map(({ id }) => times.get(id) ?? Infinity)
    return days !== undefined && round !== newest && Math.max(...ages) + days * DAY <= stage.now
  }
  const after = new Map((await readLog(stage, scope)).map(({ id, body }) => [id, body]))
  const removed: string[] = []
  for (const row of live) {
    const isThere = (after.get(row.id) ?? null) !== null
    if (!isThere && !isDue(row)) throw new Broken(`retention removed ${row.id}, which is not due`)
    // Where nothing of the newest round is left, the one before it is the newest.
    if (isThere && isDue(row) && row.round !== live.at(-1)?.round)
      throw new Broken(`retention left ${row.id}, which is due`)
    if (!isThere) removed.push(row.id)
  }
  return removed
}

/** Of a user who is erased nothing is left, and the others keep all. */
export async function erase(stage: Stage): Promise<void> {
  const [owner] = OWNERS
  const { memory } = stage.tab({ tab: 0 })
  stage.seen([], 'the certificate', JSON.stringify(await eraseUser(memory, owner?.user ?? { userId: '' })))
  const text = await textOf(stage, stage.disk.open())
  for (const canary of [owner?.canary, ...(owner?.scopes ?? []).map((scope) => CANARIES[scope])])
    if (text.includes(`${canary}-`)) throw new Broken(`the store has ${canary}, which was erased`)
  for (const scope of owner?.scopes ?? []) {
    const world = stage.world({ scope })
    for (const { id } of world.entries) world.forgot(id)
    for (const fact of world.facts) fact.isForgotten = true
    world.checkpoint = undefined
  }
  stage.owner({ scope: 0 }).erased()
  for (const scope of PLACES.keys())
    await checkHistory(stage, { scope, tab: stage.tabs.push(stage.open()) - 1 })
  await checkStore(stage)
}
