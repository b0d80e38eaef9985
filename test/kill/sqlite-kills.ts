/** Kills processes that write to a file of SQLite, and looks for what they had acknowledged. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { decide } from '../../src/kernel/log/decide.ts'
import type { Scope } from '../../src/ports/op.ts'
import type { ScopeStore } from '../../src/ports/store.ts'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import { openSqlite } from '../../src/stores/sqlite-handle.ts'
import { append, put, readLog } from '../contract/samples.ts'

export const SCOPES: readonly Scope[] = ['one', 'two', 'three', 'four'].map((sessionId) => ({
  userId: 'ada',
  sessionId,
}))

/** A write that was acknowledged. */
export interface Written {
  /** Place of its scope in {@link SCOPES}. */
  readonly home: number
  /** Of the op, and of an attachment. */
  readonly id: string
  readonly kind: 'append' | 'attach' | 'remove' | 'erase'
  /** Of the messages that it appends or removes. */
  readonly ids: readonly string[]
  readonly seq?: number
}

/** What a message says; no two say the same, and some are long enough for parts. */
export function bodyOf(id: string): string {
  const [, index] = id.split('/')
  return `${id} says so. `.repeat(Number(index) % 40 === 0 ? 10_000 : 1 + (Number(index) % 50))
}

/** What must be in a scope, by what was acknowledged. */
interface Expected {
  readonly messages: Map<string, Written>
  readonly removed: Set<string>
  readonly attached: Set<string>
}

export interface Outcome {
  readonly acknowledged: number
  /** What is wrong; empty where nothing is. */
  readonly problems: readonly string[]
}

/**
 * Starts a writer and kills it, again and again on one file. After each kill: the file is whole, it
 * can be written to at once, all that was acknowledged is there as it was written, in its place,
 * and nothing by halves; and to send the last op again changes nothing.
 */
export async function killWriters(path: string, kills: number): Promise<Outcome> {
  const problems: string[] = []
  const expected = SCOPES.map((): Expected => {
    return { messages: new Map(), removed: new Set(), attached: new Set() }
  })
  let acknowledged = 0
  for (let run = 0; run < kills; run++) {
    const last = new Map<number, Written>()
    for (const written of await killed(path, run)) {
      acknowledged++
      note(expected[written.home] as Expected, written)
      if (written.kind === 'append') last.set(written.home, written)
    }
    const handle = openSqlite(path, false)
    const [check] = handle.prepare('PRAGMA quick_check').all()
    handle.close()
    if (check?.quick_check !== 'ok') problems.push(`run ${run}: quick_check says ${check?.quick_check}`)
    const store = sqliteStore({ path })
    for (const [home, scope] of SCOPES.entries()) {
      const name = `run ${run}, scope ${home}`
      const opened = store.open(scope)
      problems.push(
        ...(await wrongIn(opened, expected[home] as Expected)).map((wrong) => `${name}: ${wrong}`),
      )
      const again = last.get(home)
      const isThere = again?.ids.some((id) => expected[home]?.messages.has(id))
      if (again && isThere && !(await isRepeated(opened, again)))
        problems.push(`${name}: ${again.id} was written again`)
    }
    await store.close()
  }
  return { acknowledged, problems }
}

/** What a writer acknowledged until it was killed, some time after the first. */
async function killed(path: string, run: number): Promise<readonly Written[]> {
  const program = join(import.meta.dirname, 'sqlite-writer.ts')
  const writer = spawn(process.execPath, [program, path, String(run)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: writer.stdout })
  const all: Written[] = []
  lines.on('line', (line) => all.push(JSON.parse(line)))
  await Promise.race([once(lines, 'line'), once(writer, 'exit')])
  await pause(20 + ((run * 37) % 180))
  const ended = once(lines, 'close')
  writer.kill('SIGKILL')
  await ended
  return all
}

function note({ messages, removed, attached }: Expected, written: Written): void {
  switch (written.kind) {
    case 'append':
      for (const id of written.ids) messages.set(id, written)
      return
    case 'attach':
      attached.add(written.id)
      return
    case 'remove':
      for (const id of written.ids) removed.add(id)
      return
    case 'erase':
      messages.clear()
      removed.clear()
      attached.clear()
  }
}

async function wrongIn(
  scope: ScopeStore,
  { messages, removed, attached }: Expected,
): Promise<readonly string[]> {
  const log = await readLog(scope)
  // The op in flight may have been written too, and nobody heard of it: one that erases explains
  // all that is missing.
  if (log[0]?.kind === 'erase' && ![...messages.keys()].some((id) => log.some((row) => row.id === id))) {
    messages.clear()
    removed.clear()
    attached.clear()
  }
  const wrong: string[] = []
  let before = 0
  for (const { seq } of log) {
    if (seq !== before && seq !== before + 1 && before > 0) wrong.push(`seq ${seq} follows ${before}`)
    before = seq
  }
  const rows = new Map(log.map((row) => [row.id, row]))
  const unheard = log
    .filter(({ kind, id }) => kind === 'delete' && id.startsWith('entry:'))
    .map(({ id }) => id)
  for (const [id, { seq }] of messages) {
    const row = rows.get(id)
    const isRemoved = removed.has(id) || unheard.includes(`entry:${id}`)
    if (!row || row.seq !== seq) wrong.push(`${id} is not at ${seq}, where it was acknowledged`)
    else if (row.body !== (isRemoved ? null : bodyOf(id))) wrong.push(`${id} is not what was written`)
  }
  for (const row of log)
    if (row.kind === 'message' && row.place === 0) {
      const whole = log.filter(({ opId }) => opId === row.opId)
      const key = await scope.register(`key/${row.opId}`)
      if (!key) wrong.push(`${row.opId} was written by halves: ${whole.length} messages, no register`)
    }
  for (const id of attached) {
    const found = await scope.attachment(id)
    if (!found || new TextDecoder().decode(found.bytes) !== bodyOf(id)) wrong.push(`attachment ${id} is lost`)
  }
  return wrong
}

async function isRepeated(scope: ScopeStore, { id, ids, seq }: Written): Promise<boolean> {
  const ops = [append(id, ids, { bodies: ids.map(bodyOf) }), put(`put/${id}`, `key/${id}`, null)]
  const [result] = await scope.commit(ops, decide)
  return result?.status === 'accepted' && result.seq === seq && result.repeated === true
}
