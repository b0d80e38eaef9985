/** What is kept beside the log, by compare-and-set: checkpoint, documents, skills. */
import { isPlimsollError } from '../../src/index.ts'
import type { Line } from './owner.ts'
import { OWNERS, ownerOf } from './places.ts'
import type { At, Command } from './program.ts'
import { Broken, isCrash, type Stage, type State } from './stage.ts'

type Of<Do extends Command['do']> = Command & { readonly do: Do }

const DOCUMENTS = ['SOUL.md', 'TASKS.md']
const SKILLS = ['ports', 'tides']

export async function checkpoint(stage: Stage, command: Of<'checkpoint'>): Promise<void> {
  const { scope, as } = command
  const world = stage.world(command)
  if (!stage.hasAll) return
  const before = await checkCheckpoint(stage, command)
  const acknowledged = (marks: readonly string[]): void => {
    world.checkpoint = { marks, at: stage.now }
  }
  const add = async (at: At, mark: string): Promise<void> => {
    const opId = stage.opId()
    const change = ({ marks }: State): State => ({ marks: [...marks, mark] })
    await stage.surely(at, () => stage.session(at).checkpoint.update(change, { opId }))
  }
  const mark = stage.mark(scope)
  const other = { scope, tab: 1 - command.tab }
  if (as === 'delete') {
    await stage.surely(command, () => stage.session(command).checkpoint.delete())
    world.checkpoint = undefined
  } else if (as === 'update') {
    await add(command, mark)
    acknowledged([...before.value.marks, mark])
  } else if (as === 'race') {
    const second = stage.mark(scope)
    await Promise.all([add(command, mark), add(other, second)])
    const { value } = await stage.session(command).checkpoint.get()
    const added = value.marks.slice(before.value.marks.length)
    if (!added.includes(mark) || !added.includes(second)) throw new Broken('the checkpoint lost an update')
    acknowledged([...before.value.marks, ...added])
  } else if (as === 'set') {
    const opId = stage.opId()
    const marks = [...before.value.marks, mark]
    const ifVersion = before.version
    await stage.surely(command, () => stage.session(command).checkpoint.set({ marks }, { ifVersion, opId }))
    acknowledged(marks)
  } else {
    await add(other, mark)
    acknowledged([...before.value.marks, mark])
    const stale = { marks: ['stale'] }
    await refused(stage.session(command).checkpoint.set(stale, { ifVersion: before.version }))
  }
  await checkCheckpoint(stage, command)
  await checkCheckpoint(stage, other)
}

/** What was acknowledged last is there. */
export async function checkCheckpoint(stage: Stage, at: At) {
  const { value, version } = await stage.session(at).checkpoint.get()
  const expected = stage.world(at).checkpoint?.marks ?? []
  if (value.marks.join() !== expected.join())
    throw new Broken(`the checkpoint has ${value.marks}, and should have ${expected}`)
  return { value, version }
}

export async function document(stage: Stage, command: Of<'document'>): Promise<void> {
  const { scope, as, text } = command
  const name = DOCUMENTS[command.name] as string
  const owner = stage.owner(command)
  if (!stage.hasAll) return
  const before = owner.documents.get(name) ?? []
  const line = (): Line => {
    const mark = stage.sharedMark(scope)
    return { mark, text: `${mark} ${text}` }
  }
  const add = async (at: At, added: Line): Promise<void> => {
    const opId = stage.opId()
    const change = (now: string): string => (now === '' ? added.text : `${now}\n${added.text}`)
    await stage.surely(at, () => stage.user(at).profile.update(name, change, { opId }))
  }
  const [one, two] = [line(), line()]
  const other = { scope, tab: 1 - command.tab }
  if (as === 'delete') {
    await stage.surely(command, () => stage.user(command).profile.delete(name))
    owner.setDocument(name, undefined)
    stage.doubt(scope)
  } else if (as === 'update') {
    await add(command, one)
    owner.setDocument(name, [...before, one])
  } else if (as === 'race') {
    await Promise.all([add(command, one), add(other, two)])
    const now = (await stage.user(command).profile.get(name))?.text ?? ''
    const added = now.indexOf(one.mark) < now.indexOf(two.mark) ? [one, two] : [two, one]
    owner.setDocument(name, [...before, ...added])
  } else if (as === 'set') {
    const opId = stage.opId()
    await stage.surely(command, () => stage.user(command).profile.set(name, one.text, { opId }))
    owner.setDocument(name, [one])
  } else {
    const ifVersion = (await stage.user(command).profile.get(name))?.version ?? null
    await add(other, one)
    owner.setDocument(name, [...before, one])
    await refused(stage.user(command).profile.set(name, 'stale', { ifVersion }))
  }
  await checkShared(stage, command)
  await checkShared(stage, other)
}

export async function skill(stage: Stage, command: Of<'skill'>): Promise<void> {
  const { scope, as } = command
  const name = SKILLS[command.name] as string
  const owner = stage.owner(command)
  const world = stage.world(command)
  if (!stage.hasAll) return
  const before = owner.skills.get(name)
  const opId = stage.opId()
  const line = (what: string): Line => {
    const mark = stage.sharedMark(scope)
    return { mark, text: `${mark} ${what}` }
  }
  if (as === 'set' || as === 'text') {
    const description = (as === 'text' && before?.description) || line('Reads tables of trains.')
    const text = line('# How to read them')
    const written = { name, description: description.text, text: text.text }
    await stage.surely(command, () => stage.user(command).skills.set(written, { opId }))
    owner.setSkill(name, { description, text })
  } else if (as === 'delete') {
    await stage.surely(command, () => stage.user(command).skills.delete(name))
    owner.setSkill(name, undefined)
    stage.doubt(scope)
  } else if (as === 'unload') {
    await stage.surely(command, () => stage.session(command).skills.unload(name))
    world.loaded = world.loaded.filter((one) => one !== name)
  } else if (before) {
    await stage.surely(command, () => stage.session(command).skills.load(name))
    if (!world.loaded.includes(name)) world.loaded = [...world.loaded, name]
  }
  const loaded = await stage.session(command).skills.loaded()
  if (loaded?.join() !== world.loaded.join())
    throw new Broken(`${loaded} are loaded, and should be ${world.loaded}`)
  await checkShared(stage, command)
}

/** Documents and skills are what was written last, byte for byte. */
export async function checkShared(stage: Stage, at: At): Promise<void> {
  const owner = stage.owner(at)
  if (!stage.hasAll) return
  const { profile, skills } = stage.user(at)
  const documents = (await profile.list()).map(({ name, text }) => [name, text])
  const expected = [...owner.documents.keys()].sort().map((name) => [name, owner.documentText(name)])
  same('documents', documents, expected)
  const names = (await skills.list()).map(({ name, description }) => [name, description])
  const described = [...owner.skills].sort().map(([name, { description }]) => [name, description.text])
  same('skills', names, described)
  for (const [name, { text }] of owner.skills) same(name, (await skills.get(name))?.text, text.text)
  const own = OWNERS[ownerOf(at.scope)]?.scopes ?? []
  stage.seen(own, 'what is shared', JSON.stringify([documents, names]))
}

function same(what: string, found: unknown, expected: unknown): void {
  const [is, should] = [JSON.stringify(found), JSON.stringify(expected)]
  if (is !== should) throw new Broken(`${what}: ${is}, and should be ${should}`)
}

/** A write over a version that is not there any more. */
async function refused(write: Promise<unknown>): Promise<void> {
  try {
    await write
  } catch (error) {
    if (isPlimsollError(error, 'ERR_CONFLICT') || isCrash(error)) return
    throw error
  }
  throw new Broken('an acknowledged update was written over')
}
