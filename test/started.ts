import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const TIMEOUT_MS = 45_000

/** A program that was started, and listens. */
export interface Started {
  /** Of its process, and of the group of those that it started. */
  readonly pid: number
  /** What its output was searched for. */
  readonly found: string
  /** All that it has said so far. */
  said(): string
  stop(): Promise<void>
  /** Ends it, and what it started, as a loss of power would. */
  kill(): Promise<void>
}

/**
 * Starts a program, and waits until its output has the first group of `pattern`.
 *
 * @param folder default: the project's
 */
export async function start(
  command: string,
  args: readonly string[],
  pattern: RegExp,
  env: Readonly<Record<string, string>> = {},
  folder = root,
): Promise<Started> {
  // A process group of its own, so that what it started ends with it.
  const child = spawn(command, args, {
    cwd: folder,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    // Colours would stand in the middle of what is looked for.
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0', ...env },
  })
  const stop = (): Promise<void> => end(child)
  let said = ''
  const note = (chunk: Buffer): void => {
    said += chunk.toString()
  }
  child.stdout.on('data', note)
  child.stderr.on('data', note)
  try {
    const found = await outputOf(child, pattern)
    return { pid: child.pid as number, found, said: () => said, stop, kill: () => kill(child) }
  } catch (error) {
    await stop()
    throw error
  }
}

/**
 * A port on which nobody listens now, below those that systems give to those who ask for any: it
 * stays free for a while.
 */
export async function freePort(): Promise<number> {
  const port = 20_000 + Math.floor(Math.random() * 12_000)
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return freePort()
    throw error
  }
  server.close()
  await once(server, 'close')
  return port
}

function outputOf(child: ChildProcess, pattern: RegExp): Promise<string> {
  let said = ''
  return new Promise((found, failed) => {
    const fail = (reason: string): void =>
      failed(new Error(`${child.spawnargs.join(' ')} ${reason}:\n${said}`))
    const timer = setTimeout(() => fail(`said nothing of ${pattern}`), TIMEOUT_MS)
    const look = (chunk: Buffer): void => {
      said += chunk.toString()
      const match = pattern.exec(said)?.[1]
      if (match === undefined) return
      clearTimeout(timer)
      found(match)
    }
    child.stdout?.on('data', look)
    child.stderr?.on('data', look)
    child.once('error', failed)
    child.once('exit', (code) => {
      clearTimeout(timer)
      // What it said last may not be read yet.
      setTimeout(() => fail(`ended with ${code}`), 100)
    })
  })
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  process.kill(-child.pid, 'SIGTERM')
  const timer = setTimeout(() => child.pid && process.kill(-child.pid, 'SIGKILL'), 5_000)
  await ended
  clearTimeout(timer)
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  process.kill(-child.pid, 'SIGKILL')
  await ended
}
