/** What the store holds: the log as it was acknowledged, and nothing that was forgotten. */
import type { LogRow, ScopeStore, Store } from '../../src/index.ts'
import { CANARIES, OWNERS, PLACES } from './places.ts'
import { Broken, mustNot, type Stage } from './stage.ts'

/** The log is what was acknowledged, in that order, and only grows. */
export async function checkLog(stage: Stage, scope: number): Promise<void> {
  const world = stage.world({ scope })
  const rows = await readLog(stage, scope)
  stage.seen(scope, 'the log', JSON.stringify(rows))
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
  const before = stage.logs.get(scope) ?? []
  if (before.some((name, at) => name !== names[at])) throw new Broken('the log does not only grow')
  stage.logs.set(scope, names)
}

/** All rows of a place, in the clear. */
export async function readLog(stage: Stage, scope: number): Promise<readonly LogRow[]> {
  return logOf(stage.disk.open().open(PLACES[scope] as (typeof PLACES)[number]))
}

/**
 * Nothing that was forgotten is in any row or attachment; and nothing at all in the clear under a
 * key.
 */
export async function checkStore(stage: Stage): Promise<void> {
  const text = await textOf(stage, stage.disk.bytes)
  stage.seen([...PLACES.keys()], 'the store', text)
  if (stage.program.store !== 'encrypted') return
  for (const canary of [...CANARIES, ...OWNERS.map((owner) => owner.canary)])
    if (text.includes(`${canary}-`)) throw new Broken(`${canary} is in the clear in the store`)
}

/** All that a store holds, as a text. */
export async function textOf({ worlds }: Stage, store: Store): Promise<string> {
  const files = worlds.flatMap((world) => world.files.map(({ id }) => id))
  const found: unknown[] = []
  for (let scopes = await store.scopes(); scopes.length > 0; scopes = await store.scopes(scopes.at(-1)))
    for (const scope of scopes) {
      const opened = store.open(scope)
      found.push(await logOf(opened))
      for (let page = await opened.registers(''); page.length > 0; ) {
        found.push(page)
        page = await opened.registers('', page.at(-1)?.key)
      }
      for (let page = await opened.derived(''); page.length > 0; ) {
        found.push(page.map(({ key, bytes }) => [key, latin(bytes)]))
        page = await opened.derived('', page.at(-1)?.key)
      }
      for (const id of files) {
        const attachment = await opened.attachment(id)
        if (attachment) found.push([id, latin(attachment.bytes)])
      }
    }
  return JSON.stringify(found)
}

async function logOf(opened: ScopeStore): Promise<readonly LogRow[]> {
  const rows: LogRow[] = []
  for (let after = 0; ; ) {
    const page = await opened.changesSince(after)
    rows.push(...page.rows)
    const last = page.rows.at(-1)
    if (!page.more || !last) return rows
    after = last.seq
  }
}

export function latin(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')
}
