import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

const HEADER = 32
const FRAME_HEADER = 24

/** Commits in a write-ahead log since it last started over, from SQLite's file format. */
export interface WalCommits {
  /** Another one means that the log started over. */
  readonly salt: string
  readonly commits: number
}

/** Of the log in this folder that was written to last. */
export function walCommits(folder: string): WalCommits {
  const logs = readdirSync(folder).flatMap((name) => (name.endsWith('-wal') ? join(folder, name) : []))
  const [newest] = logs.sort((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs)
  if (newest === undefined) throw new Error(`no write-ahead log in ${folder}`)
  const bytes = readFileSync(newest)
  const pageSize = bytes.readUInt32BE(8)
  const salt = bytes.toString('hex', 16, 24)
  let commits = 0
  for (let at = HEADER; at + FRAME_HEADER + pageSize <= bytes.length; at += FRAME_HEADER + pageSize) {
    // What follows was written before the log started over.
    if (bytes.toString('hex', at + 8, at + 16) !== salt) break
    // The last frame of a commit says how long the database is after it.
    if (bytes.readUInt32BE(at + 4) > 0) commits++
  }
  return { salt, commits }
}

/** Commits between two looks; of a log that started over, those that are in it. */
export function commitsBetween(before: WalCommits, after: WalCommits): number {
  return after.salt === before.salt ? after.commits - before.commits : after.commits
}
