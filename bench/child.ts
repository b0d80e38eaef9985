import { fork } from 'node:child_process'

export interface ChildOptions {
  /** The process is stopped after this long. */
  readonly limitMs: number
  readonly execArgv?: readonly string[]
}

export interface ChildResult<Message> {
  readonly messages: readonly Message[]
  /** Why it ended before its time. */
  readonly stopped?: string
}

/** Runs a file of the bench in a process of its own and collects what it sends. */
export function runChild<Message>(
  file: string,
  args: readonly string[],
  { limitMs, execArgv = [] }: ChildOptions,
): Promise<ChildResult<Message>> {
  return new Promise((resolve) => {
    const child = fork(new URL(file, import.meta.url), args, {
      execArgv: [...execArgv],
      // What a peer prints must not end up in the report.
      stdio: ['ignore', 2, 2, 'ipc'],
    })
    const messages: Message[] = []
    let late = false
    const timer = setTimeout(() => {
      late = true
      child.kill('SIGKILL')
    }, limitMs)
    child.on('message', (message) => messages.push(message as Message))
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      const stopped = late ? `cut off at ${limitMs / 1_000} s` : `process ended (${signal ?? code})`
      resolve({ messages, ...((late || code !== 0) && { stopped }) })
    })
  })
}

/**
 * In the child: sends a message, and resolves when it is on its way, so that a long call cannot
 * hold it back.
 */
export function send(message: object): Promise<void> {
  return new Promise((resolve) => {
    process.send?.(message, () => resolve())
  })
}
