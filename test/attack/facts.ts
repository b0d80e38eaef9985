/** What is remembered of what was said, and what is found again. */
import type { MessageInput, Recalled } from '../../src/index.ts'
import { OWNERS, ownerOf } from './places.ts'
import type { At, Command } from './program.ts'
import { Broken, chosen, type Stage } from './stage.ts'
import { writeWith } from './talk.ts'
import type { Fact } from './world.ts'

type Of<Do extends Command['do']> = Command & { readonly do: Do }

export async function remember(stage: Stage, command: Of<'remember'>): Promise<void> {
  const { scope, kind, from, which, text } = command
  const world = stage.world(command)
  const live = world.facts.filter((one) => !world.isGone(one) && one.isShared === (kind === 'preference'))
  const said = chosen(
    world.entries.filter(({ id }) => !world.forgotten.has(id)),
    which,
  )
  const source = from === 'fact' ? chosen(live, which) : said
  if (!source || !stage.hasFacts) return
  // What the user did not say stays in the session.
  const isShared = kind === 'preference' && (!('message' in source) || source.message.role === 'user')
  const opId = stage.opId()
  const mark = isShared ? stage.sharedMark(scope) : stage.mark(scope)
  const id = stage.name('fact')
  const sources = ['message' in source ? source.id : `fact/${source.id}`]
  await stage.surely(command, () =>
    stage.session(command).facts.remember({ kind, text: `${mark} ${text}`, sources, id }, { opId }),
  )
  const isPinned = false
  world.facts.push({
    id,
    mark,
    source: 'message' in source ? source.id : source,
    isShared,
    isPinned,
    at: stage.now,
    isForgotten: false,
  })
  await checkFacts(stage, command)
}

/** A message, a fact of it and the checkpoint, all or nothing. */
export async function commit(stage: Stage, command: Of<'commit'>): Promise<void> {
  const { scope, text } = command
  const world = stage.world(command)
  if (!stage.hasAll) return
  const { value, version } = await stage.session(command).checkpoint.get()
  const [shared, state] = [stage.sharedMark(scope), stage.mark(scope)]
  const fact = { kind: 'preference', text: `${shared} is best.`, id: stage.name('fact') } as const
  const marks = [...value.marks, state]
  let source = ''
  await writeWith(stage, command, text, async (message: MessageInput, opId) => {
    source = message.id as string
    const facts = [{ ...fact, sources: [source] }]
    const input = { messages: message, checkpoint: { marks }, facts }
    return stage.session(command).commit(input, { opId, ifVersion: version })
  })
  world.checkpoint = { marks, at: stage.now }
  world.facts.push({
    id: fact.id,
    mark: shared,
    source,
    isShared: true,
    isPinned: false,
    at: stage.now,
    isForgotten: false,
  })
  await checkFacts(stage, command)
}

/** All facts are there that were acknowledged, and none that was forgotten. */
export async function checkFacts(stage: Stage, at: At): Promise<void> {
  if (!stage.hasFacts) return
  const texts = JSON.stringify(await stage.session(at).facts.list({ all: true }))
  stage.seen(at.scope, 'the list of facts', texts)
  for (const { mark } of liveFacts(stage, at))
    if (!texts.includes(mark)) throw new Broken(`the fact ${mark} was lost`)
}

/** Facts that a session knows: its own, and those of its user. */
export function liveFacts(stage: Stage, { scope }: Pick<At, 'scope'>): readonly Fact[] {
  return (OWNERS[ownerOf(scope)]?.scopes ?? []).flatMap((one) => {
    const world = stage.world({ scope: one })
    return world.facts.filter((fact) => (one === scope || fact.isShared) && !world.isGone(fact))
  })
}

/** What was said is found by its own words, and nothing that is hidden or forgotten. */
export async function recall(stage: Stage, command: Of<'recall'>): Promise<void> {
  const { scope, as, which } = command
  const world = stage.world(command)
  const entry = chosen(world.entries, which)
  const session = stage.session(command)
  const user = stage.user(command)
  if (!entry || !stage.hasAll) return
  const query = entry.mark
  if (as === 'page') {
    stage.seen(scope, 'a page of what is recalled', JSON.stringify(await session.recall.page(query)))
    return
  }
  const own = OWNERS[ownerOf(scope)]?.scopes ?? []
  const found: readonly Recalled[] =
    as === 'find'
      ? await session.recall.find(query, { first: 200 })
      : await user.recall.find(query, { sessions: 'all', first: 200 })
  stage.seen(as === 'find' ? scope : own, 'what is recalled', JSON.stringify(found))
  for (const { id, type } of found)
    if (type === 'message' && own.some((one) => stage.world({ scope: one }).isHidden(id)))
      throw new Broken(`${id} is recalled, which is hidden or forgotten`)
  const isSaid = entry.message.role === 'user' || entry.message.role === 'assistant'
  const isText = isSaid && typeof entry.message.content === 'string'
  if (as === 'find' && isText && !world.isHidden(entry.id) && !found.some(({ id }) => id === entry.id))
    throw new Broken(`${entry.id} is not found by its own words`)
}
