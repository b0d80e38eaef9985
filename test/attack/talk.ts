/** What is said, sent again, rewound and edited; and that it shows. */
import {
  type AppendResult,
  attach,
  editMessage,
  isPlimsollError,
  type MessageInput,
  type Part,
  readAttachment,
  readBranches,
  rewind,
  switchTo,
  undo,
} from '../../src/index.ts'
import type { At, Command } from './program.ts'
import { readLog } from './rows.ts'
import { Broken, chosen, mustNot, type Stage } from './stage.ts'
import type { Entry, File, World } from './world.ts'

type Of<Do extends Command['do']> = Command & { readonly do: Do }

/** What a message is made of. */
type Said = Of<'say'> | Of<'answer'> | Of<'call'> | Of<'result'>

type Outcome = Pick<AppendResult, 'repeated' | 'mismatch'>

export async function write(stage: Stage, command: Said): Promise<void> {
  const world = stage.world(command)
  const opId = stage.opId()
  const mark = stage.mark(command.scope)
  const id = `m-${opId}`
  await append(stage, command, messageOf(command, world, mark, id), { opId, mark })
}

/** A message that was acknowledged is in the world from then on. */
async function append(
  stage: Stage,
  at: At,
  message: MessageInput,
  { opId, mark }: Pick<Entry, 'opId' | 'mark'>,
  call: () => Promise<Outcome> = () => stage.session(at).append(message, { opId }),
): Promise<void> {
  const by = stage.session(at)
  const { repeated, mismatch } = await stage.surely(at, call)
  if (mismatch) throw new Broken(`${opId} had been written with another content`)
  const isPlain = !repeated && stage.session(at) === by
  const { tab } = at
  stage.world(at).wrote(message, { mark, opId, tab, at: stage.now, ...(isPlain && { by }) })
}

/** As {@link write}, with what features take beside it. */
export async function writeWith(
  stage: Stage,
  at: At,
  text: string,
  call: (message: MessageInput, opId: string) => Promise<Outcome>,
): Promise<void> {
  const opId = stage.opId()
  const mark = stage.mark(at.scope)
  const message: MessageInput = { id: `m-${opId}`, role: 'user', content: `${mark} ${text}` }
  await append(stage, at, message, { opId, mark }, () => call(message, opId))
}

/** Bytes that a message names, or none; or a message that names older ones. */
export async function file(stage: Stage, command: Of<'file'>): Promise<void> {
  const { scope, as, which } = command
  const world = stage.world(command)
  let named: File | undefined
  if (as === 'again')
    named = chosen(
      world.files.filter((one) => !world.isUnnamed(one)),
      which,
    )
  else {
    const mark = stage.mark(scope)
    const bytes = Uint8Array.from(`a picture of ${mark}`, (letter) => letter.charCodeAt(0))
    named = { id: stage.name('file'), mark, bytes, at: stage.now, namedBy: [], isRemoved: false }
    const { id } = named
    await stage.surely(command, () => attach(stage.session(command), { mediaType: 'image/png', bytes, id }))
    world.files.push(named)
  }
  if (!named || as === 'alone') return
  const opId = stage.opId()
  const mark = stage.mark(scope)
  const content: Part[] = [
    { type: 'text', text: mark },
    { type: 'media', mediaType: 'image/png', ref: named.id, tokens: 60 },
  ]
  await append(stage, command, { id: `m-${opId}`, role: 'user', content }, { opId, mark })
  await checkFiles(stage, command)
}

/** What a message names is there, byte by byte; what no message names any more is not. */
export async function checkFiles(stage: Stage, at: At): Promise<void> {
  const world = stage.world(at)
  for (const one of world.files) {
    if (one.namedBy.length === 0 && !one.isRemoved) continue
    const found = await readAttachment(stage.session(at), one.id).catch((error: unknown) => {
      if (isPlimsollError(error, 'ERR_NOT_FOUND')) return undefined
      throw error
    })
    const isThere = !world.isUnnamed(one)
    if (!isThere && found) throw new Broken(`${one.id} can be read, which no message names`)
    if (isThere && found?.bytes.join() !== one.bytes.join()) throw new Broken(`${one.id} was lost`)
  }
}

export async function race(stage: Stage, { scope, text }: Of<'race'>): Promise<void> {
  const world = stage.world({ scope })
  stage.fuse.left = undefined
  const sent = [0, 1].map((tab) => {
    const opId = stage.opId()
    const mark = stage.mark(scope)
    const message: MessageInput = { id: `m-${opId}`, role: 'user', content: `${mark} ${text}` }
    return { message, mark, opId, tab, at: stage.now }
  })
  await Promise.all(
    sent.map(({ message, opId, tab }) => stage.session({ scope, tab }).append(message, { opId })),
  )
  const ids = (await readLog(stage, scope)).filter(({ kind }) => kind === 'message').map(({ id }) => id)
  sent.sort((a, b) => ids.indexOf(a.message.id as string) - ids.indexOf(b.message.id as string))
  for (const { message, ...about } of sent) world.wrote(message, about)
}

/** The first content of an op stays, whatever is sent under its name later. */
export async function repeat(stage: Stage, command: Of<'repeat'>): Promise<void> {
  const world = stage.world(command)
  const entry = chosen(world.entries, command.which)
  if (!entry) return
  const { opId, message, id } = entry
  const changed: MessageInput = { id, role: 'user', content: 'something else' }
  const isChanged = command.changed && message.role === 'user'
  const { repeated, mismatch } = await stage.surely(command, () =>
    stage.session(command).append(isChanged ? changed : message, { opId }),
  )
  if (!repeated) throw new Broken(`${opId} was written twice`)
  if (!world.forgotten.has(id) && mismatch !== isChanged)
    throw new Broken(`the content of ${opId} was mistaken`)
}

export async function rewindTo(stage: Stage, command: Of<'rewind'>): Promise<void> {
  const history = await checkHistory(stage, command)
  const target = chosen(history, command.which)
  if (!target) return
  const opId = stage.opId()
  await stage.surely(command, () => rewind(stage.session(command), target.id, { opId }))
  stage.world(command).rewinds.push(history.slice(history.indexOf(target)).map(({ id }) => id))
  await checkHistory(stage, command)
}

export async function undoRewind(stage: Stage, command: Of<'undo'>): Promise<void> {
  const world = stage.world(command)
  if (world.rewinds.length === 0) return
  const opId = stage.opId()
  await stage.surely(command, () => undo(stage.session(command), undefined, { opId }))
  world.undone()
  await checkHistory(stage, command)
}

export async function edit(stage: Stage, command: Of<'edit'>): Promise<void> {
  const history = await checkHistory(stage, command)
  const target = chosen(
    history.filter(({ role }) => role === 'user'),
    command.which,
  )
  if (!target) return
  const opId = stage.opId()
  const mark = stage.mark(command.scope)
  const message: MessageInput = { id: `m-${opId}`, role: 'user', content: `${mark} ${command.text}` }
  const call = () => editMessage(stage.session(command), target.id, message, { opId })
  await append(stage, command, message, { opId, mark }, call)
  stage.world(command).rewinds.push(history.slice(history.indexOf(target)).map(({ id }) => id))
  await checkHistory(stage, command)
}

/**
 * A version shows in the place of all that followed the same message, and what hid it is undone;
 * what follows a message that does not show cannot.
 */
export async function switchVersion(stage: Stage, command: Of<'switch'>): Promise<void> {
  const world = stage.world(command)
  const history = await checkHistory(stage, command)
  const branches = await readBranches(stage.session(command))
  const places = branches.flatMap(({ after, versions }) =>
    versions.filter((id) => !world.forgotten.has(id)).map((id) => ({ after, id })),
  )
  const place = chosen(places, command.which)
  if (!place) return
  const { after, id } = place
  const opId = stage.opId()
  const call = () => switchTo(stage.session(command), id, { opId })
  const shown = history.map((message) => message.id)
  if (!shown.includes(id)) {
    if (after !== null && !shown.includes(after)) {
      await stage.surely(command, () =>
        call().then(
          () => Promise.reject(new Broken(`${id} shows after ${after}, which is hidden`)),
          (error: unknown) => (isPlimsollError(error, 'ERR_NOT_FOUND') ? undefined : Promise.reject(error)),
        ),
      )
      return
    }
    await stage.surely(command, call)
    world.switched(id, shown.slice(after === null ? 0 : shown.indexOf(after) + 1))
  } else await stage.surely(command, call)
  const now = await checkHistory(stage, command)
  if (!now.some((message) => message.id === id)) throw new Broken(`${id} does not show after switchTo`)
}

export async function checkHistory(stage: Stage, at: At) {
  const history = await stage.session(at).history({ messages: 1_000 })
  stage.seen(at.scope, 'the history', JSON.stringify(history))
  mustNot(stage.world(at).refusesHistory(history))
  return history
}

function messageOf(command: Said, world: World, mark: string, id: string): MessageInput {
  switch (command.do) {
    case 'say':
      return { id, role: 'user', content: `${mark} ${command.text}` }
    case 'answer':
      return { id, role: 'assistant', content: `${mark} ${command.text}` }
    case 'call': {
      const first = command.again ? world.calls[0]?.id : undefined
      const calls = Array.from({ length: command.calls }, (_, at) => (at === 0 && first) || `${id}-${at}`)
      const content = calls.map(
        (call): Part => ({ type: 'tool-call', id: call, name: 'look_up', input: { mark } }),
      )
      return { id, role: 'assistant', content }
    }
    case 'result': {
      const callId = chosen(world.calls.slice(-8), command.which)?.id ?? 'nobody'
      return {
        id,
        role: 'tool',
        content: [{ type: 'tool-result', callId, output: `${mark} ${command.text}` }],
      }
    }
  }
}
