/** Contexts, present and past: what they may hold, and what is attested of them. */
import {
  type Context,
  contextAt,
  isPlimsollError,
  stringifyContext,
  type ToolSpec,
  toAnthropic,
  toOpenAI,
} from '../../src/index.ts'
import type { Command } from './program.ts'
import { type Item, refusedByAnthropic, refusedByOpenAI, tokensOf } from './rules.ts'
import { Broken, mustNot, type Stage } from './stage.ts'
import type { World } from './world.ts'

type Of<Do extends Command['do']> = Command & { readonly do: Do }

const LOOK_UP: ToolSpec = {
  name: 'look_up',
  description: 'Looks a train up, by its place and its time.',
  inputSchema: { type: 'object', properties: { mark: { type: 'string' } }, required: ['mark'] },
}
const TOOL_SETS: readonly (readonly ToolSpec[] | undefined)[] = [
  undefined,
  [LOOK_UP],
  [
    LOOK_UP,
    { name: 'book', inputSchema: { type: 'object', properties: { 'place 漢字': { enum: [1, null] } } } },
  ],
]

export async function context(
  stage: Stage,
  command: Of<'context'>,
  change: (context: Context) => Context,
): Promise<void> {
  const { scope, as } = command
  const world = stage.world(command)
  const session = stage.session(command)
  const isFused = stage.fuse.left !== undefined
  const tools = TOOL_SETS[command.tools]
  let built: Context
  try {
    built = await session.context({
      onPending: 'abandon',
      ...(command.tail !== undefined && { tail: command.tail }),
      ...(tools && { tools }),
      ...(command.recall && stage.hasAll && { recall: true }),
      ...(as === 'preview' && { preview: true }),
      ...(as === 'manual' && { newEpoch: true }),
    })
  } catch (error) {
    if (!isPlimsollError(error, 'ERR_BUDGET_TOO_SMALL')) throw error
    stage.counts.refused++
    return
  }
  built = change(built)
  stage.counts.built++
  checkRequest(stage, scope, built, tools)
  // That documents are shown shortened is said there too.
  const failure = built.receipt.failures.find(({ part, code }) => part !== 'profile' || code !== 'ERR_LIMIT')
  if (failure && !isFused) throw new Broken(`${JSON.stringify(failure)} without a crash`)
  const { epoch } = built.receipt
  const isKept = typeof epoch !== 'string'
  const request = stable(built)
  if (isKept) mustNot(world.refusesPrefix(epoch.id, request))
  if (as === 'preview') return
  handedOut(stage, command, built, isKept && !isFused)
}

/** What is handed out may be attested later, and nothing else. */
export function handedOut(
  stage: Stage,
  at: { readonly scope: number; readonly tab: number },
  built: Context,
  isRecorded: boolean,
): void {
  const world = stage.world(at)
  world.handedOut.push({
    ...(world.newest && { newest: world.newest.id }),
    bytes: stable(built).join(),
    hash: built.hash,
    by: stage.session(at),
    isRecorded,
  })
}

/** A request that is under the line, that providers take, and that is of this place alone. */
function checkRequest(
  stage: Stage,
  scope: number,
  built: Context,
  tools: readonly ToolSpec[] | undefined,
): void {
  const openai = toOpenAI(built)
  const items = openai.messages as unknown as readonly Item[]
  const anthropic = toAnthropic(built) as unknown as { system?: unknown; messages: Item[]; tools?: Item[] }
  const { line } = stage.program
  const tokens = tokensOf(items, openai.tools)
  if (tokens > line) throw new Broken(`${tokens} tokens are above the line of ${line}`)
  const { used, margin, cap } = built.receipt
  if (used + margin > (cap ?? Infinity)) throw new Broken(`the receipt has ${used} + ${margin}, above ${cap}`)
  mustNot(refusedByOpenAI(items) ?? refusedByAnthropic(anthropic.messages))
  const names = tools?.map(({ name }) => name).join()
  if (openai.tools?.map((tool) => tool.function.name).join() !== names)
    throw new Broken(`OpenAI is not told of the tools ${names}`)
  if (anthropic.tools?.map((tool) => (tool as { name?: string }).name).join() !== names)
    throw new Broken(`Anthropic is not told of the tools ${names}`)
  const text = stringifyContext(built) + JSON.stringify([openai, anthropic])
  stage.seen(scope, 'a context', text)
  for (const mark of stage.owner({ scope }).replaced)
    if (text.includes(mark)) throw new Broken(`a context shows ${mark}, which was written over`)
  mustNot(misquoted(built, stage.world({ scope })))
}

/**
 * What is attested was handed out, byte by byte. And it is attested, where one process was given
 * all that was handed out then and wrote what follows.
 */
export async function past(stage: Stage, command: Of<'past'>): Promise<void> {
  const world = stage.world(command)
  const { entries } = world
  const entry = entries.at(-1 - (command.which % Math.max(1, entries.length)))
  if (!entry) return
  const there = world.handedOut.filter(({ newest }) => newest === entry.id)
  const next = entries[entries.indexOf(entry) + 1]
  const by = next && world.writers.get(next.id)
  const isCertain =
    there.length > 0 && there.length <= 4 && there.every((one) => one.isRecorded && one.by === by)
  try {
    const { context, verified, reason, tail } = await contextAt(stage.session(command), entry.id)
    stage.seen(command.scope, 'a past context', stringifyContext(context))
    const bytes = stable(context).join()
    if (verified && !world.handedOut.some((one) => one.bytes === bytes))
      throw new Broken(`contextAt attests what was not handed out at ${entry.id}`)
    if (tail === 'whole' && !world.handedOut.some((one) => one.hash === context.hash))
      throw new Broken(`contextAt attests a tail that was not handed out at ${entry.id}`)
    if (verified && tail === 'absent' && there.length > 0 && there.every(({ hash }) => hash === context.hash))
      throw new Broken(`contextAt misses a tail that was not there at ${entry.id}`)
    if (!verified && isCertain) throw new Broken(`contextAt does not attest ${entry.id}: ${reason}`)
    if (verified) stage.counts.attested++
  } catch (error) {
    if (isPlimsollError(error, 'ERR_NOT_FOUND') && !isCertain) return
    throw error
  }
}

/** The request without its tail, message by message. */
function stable(context: Context): readonly string[] {
  const blocks = context.blocks.filter(({ section }) => section !== 'tail')
  return toOpenAI({ ...context, blocks }).messages.map((message) => JSON.stringify(message))
}

/** Why a context is not of this log: a text is not the original, or a message is in no account. */
function misquoted({ blocks, receipt }: Context, world: World): string | undefined {
  const stands = blocks.filter(({ section }) => section !== 'tail')
  const shown = new Set(
    stands.flatMap(({ from }) => from).filter((id) => world.entries.some((entry) => entry.id === id)),
  )
  const left = [...receipt.omitted, ...(receipt.summary?.covers ?? [])]
  const omitted = left.reduce((sum, { count }) => sum + count, 0)
  if (shown.size + omitted !== world.entries.length)
    return `${shown.size} shown and ${omitted} left out are not ${world.entries.length} messages`
  const missing = world.missing(shown)
  if (missing !== undefined) return `a context lacks the result ${missing}`
  for (const { rule, role, parts, from } of stands) {
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
