/** What is taken elsewhere: whole, nobody else's, and the same there. */
import {
  type Context,
  exportFrom,
  importInto,
  isPlimsollError,
  type Memory,
  mapStore,
  readAudit,
  type Scope,
  type SessionBase,
  stringifyContext,
  type UserScope,
} from '../../src/index.ts'
import { CANARIES, OWNERS, ownerOf, PLACES } from './places.ts'
import type { At } from './program.ts'
import { handedOut } from './requests.ts'
import { latin } from './rows.ts'
import { Broken, type Features, type Stage } from './stage.ts'

/** Whole pages of one user: nothing of another one, nothing that was forgotten. */
export async function exportAll(stage: Stage, at: At): Promise<void> {
  const { user, scopes } = OWNERS[ownerOf(at.scope)] as (typeof OWNERS)[number]
  const { memory } = stage.tab(at)
  // It rejects where its record cannot be written, and says so.
  stage.fuse.left = undefined
  for (const format of ['jsonl', 'markdown'] as const) {
    const lines = await linesOf(memory, user, format)
    const text = lines.join('') + lines.map(attached).join('')
    stage.seen(scopes, `an export (${format})`, text)
    for (const scope of scopes) {
      const world = stage.world({ scope })
      for (const { id, mark } of world.entries)
        if (!world.forgotten.has(id) && !text.includes(mark))
          throw new Broken(`an export (${format}) lost ${id}`)
      for (const fact of world.facts)
        if (!world.isGone(fact) && !text.includes(fact.mark))
          throw new Broken(`an export (${format}) lost the fact ${fact.mark}`)
    }
  }
  stage.seen([], 'the audit', JSON.stringify(await readAudit(memory, user)))
}

/** The copy of a user in another store is exported as the same, and gives the same contexts. */
export async function copyAll(stage: Stage, at: At): Promise<void> {
  const { user, scopes } = OWNERS[ownerOf(at.scope)] as (typeof OWNERS)[number]
  stage.fuse.left = undefined
  const { memory } = stage.open()
  // Names are keyed by a secret that comes with the first epoch.
  const begun: number[] = []
  for (const scope of scopes) {
    if (stage.world({ scope }).entries.length === 0) continue
    const built = await contextOf(memory.session(PLACES[scope] as Scope), false)
    if (!built) continue
    begun.push(scope)
    stage.world({ scope }).doubt()
    handedOut(stage, { scope, tab: 0 }, built, false)
  }
  const lines = await linesOf(memory, user, 'jsonl')
  const copy = { userId: 'copy' }
  const there = stage.memoryOver(mapStore())
  await importInto(there, copy, lines)
  const again = await linesOf(there, copy, 'jsonl')
  const differs = lines.findIndex((line, index) => line !== again[index])
  if (differs >= 0 || again.length !== lines.length)
    throw new Broken(`the copy has ${again[differs]}, and not ${lines[differs]}`)
  const { parts } = await importInto(there, copy, lines)
  const written = Object.values(parts).reduce((sum, part) => sum + part.written, 0)
  if (written > 0) throw new Broken(`a second import wrote ${written} things`)
  const stranger = { userId: 'stranger' }
  await importInto(there, stranger, lines, { trust: 'import' })
  for (const scope of begun) {
    const { sessionId } = PLACES[scope] as (typeof PLACES)[number]
    const one = await contextOf(memory.session({ ...user, sessionId }), true)
    const other = await contextOf(there.session({ ...copy, sessionId }), true)
    if (one && stringifyContext(one) !== (other && stringifyContext(other)))
      throw new Broken(`the copy of ${scope} gives another context`)
    const untrusted = await contextOf(there.session({ ...stranger, sessionId }), true)
    const system = untrusted?.blocks.filter(({ section }) => section === 'system')
    for (const canary of [...CANARIES, ...OWNERS.map((owner) => owner.canary)])
      if (JSON.stringify(system)?.includes(`${canary}-`))
        throw new Broken(`a stranger’s file has ${canary} in system text`)
  }
}

/** Undefined: its floor is above the line. */
async function contextOf(session: SessionBase, preview: boolean): Promise<Context | undefined> {
  try {
    return await session.context({ preview, onPending: 'abandon' })
  } catch (error) {
    if (isPlimsollError(error, 'ERR_BUDGET_TOO_SMALL')) return undefined
    throw error
  }
}

async function linesOf(
  memory: Memory<Features>,
  user: UserScope,
  format: 'jsonl' | 'markdown',
): Promise<readonly string[]> {
  const lines: string[] = []
  for await (const line of exportFrom(memory, user, { format })) lines.push(line)
  return lines
}

/** The bytes in a line, as a text. */
function attached(line: string): string {
  const [, base64 = ''] = /"base64":"([^"]*)"/.exec(line) ?? []
  return latin(Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)))
}
