/**
 * `npm run test:kill-sqlite [-- <kills>]`: kills processes that write to a file of SQLite; then
 * fills the disk under one, makes room, and looks for what was acknowledged.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decide } from '../../src/kernel/log/decide.ts'
import { isPlimsollError } from '../../src/ports/errors.ts'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import { append, put, readLog, SCOPE } from '../contract/samples.ts'
import { bodyOf, killWriters } from './sqlite-kills.ts'

const KILLS = Number(process.argv[2] ?? 10)
const folder = mkdtempSync(join(tmpdir(), 'plimsoll-kill-sqlite-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

const started = Date.now()
const { acknowledged, problems: lost } = await killWriters(join(folder, 'killed.db'), KILLS)
const problems = [...lost]
console.log(`${KILLS} kills, ${acknowledged} writes acknowledged.`)
if (acknowledged < KILLS) problems.push('hardly anything was written')
problems.push(...(await fill()))
for (const problem of problems.slice(0, 20)) console.error(problem)
console.log(
  problems.length === 0
    ? `Nothing acknowledged lost, nothing written by halves, in ${((Date.now() - started) / 1_000).toFixed(1)} s.`
    : `${problems.length} problems`,
)
process.exitCode = problems.length === 0 ? 0 : 1

async function fill(): Promise<readonly string[]> {
  const disk = join(folder, 'disk')
  mkdirSync(disk)
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', disk]).status === 0
  if (!mounted) {
    console.log('Full disk: skipped, a small tmpfs can be mounted by root only.')
    return []
  }
  process.prependListener('exit', () => spawnSync('umount', ['-l', disk]))
  const wrong: string[] = []
  const ballast = join(disk, 'ballast')
  writeFileSync(ballast, Buffer.alloc(2 ** 21))
  const path = join(disk, 'full.db')
  const store = sqliteStore({ path })
  const scope = store.open(SCOPE)
  const written: string[] = []
  /** Appends message `index` with a register. @returns whether that was acknowledged */
  const write = async (index: number): Promise<boolean> => {
    const id = `full/${index}`
    const ops = [append(id, [id], { bodies: [bodyOf(id)] }), put(`put/${id}`, `key/${id}`, null)]
    try {
      await scope.commit(ops, decide)
      written.push(id)
      return true
    } catch (error) {
      if (!isPlimsollError(error, 'ERR_STORAGE_FULL')) wrong.push(`full disk: ${id}: ${error}`)
      return false
    }
  }
  let index = 0
  while (index < 20_000 && (await write(index))) index++
  const before = written.length
  for (let again = 0; again < 5; again++) await write(index)
  if ((await readLog(scope)).length < before) wrong.push('full disk: it cannot be read')
  const copy = await store.backup(join(disk, 'copy.db')).catch((error: unknown) => error)
  if (!isPlimsollError(copy, 'ERR_STORAGE_FULL')) wrong.push(`full disk: a backup gave ${copy}`)
  rmSync(join(disk, 'copy.db'), { force: true })
  rmSync(ballast)
  for (let more = 0; more < 50; more++)
    if (!(await write(index + more))) wrong.push(`full disk: ${index + more} is refused once there is room`)
  await store.close()

  const again = sqliteStore({ path, readonly: true })
  const log = await readLog(again.open(SCOPE))
  const bodies = new Map(log.map(({ id, body }) => [id, body]))
  for (const id of written)
    if (bodies.get(id) !== bodyOf(id) || !(await again.open(SCOPE).register(`key/${id}`)))
      wrong.push(`full disk: ${id} is acknowledged and lost`)
  if (log.filter(({ kind }) => kind === 'message').length !== written.length)
    wrong.push(`full disk: ${log.length} rows, though ${written.length} writes were acknowledged`)
  await again.close()
  console.log(`Full disk: ${before} writes until it was full, ${written.length} in the end, all there.`)
  return wrong
}
