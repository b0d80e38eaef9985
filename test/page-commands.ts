import { spawn } from 'node:child_process'
import { once } from 'node:events'

const TIMEOUT_MS = 120_000
/** Between the outputs of two blocks. */
const MARK = '=== end of a block ==='
/** Waits until the standard input ends, and then ends what is in the background. */
const END = 'cat <&3 > /dev/null\nkill $(jobs -p) 2> /dev/null\nwait\n'

/** Commands of a page, and what it says that they print. */
export interface Step {
  readonly commands: string
  readonly shown: string
}

/** The `bash` blocks of a page, each with the `text` block right behind it. */
export function stepsOf(markdown: string): readonly Step[] {
  const blocks = [...markdown.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, kind, text = '']) => ({
    kind,
    text,
  }))
  return blocks.flatMap(({ kind, text }, index) => {
    const next = blocks[index + 1]
    return kind === 'bash' ? [{ commands: text, shown: next?.kind === 'text' ? next.text : '' }] : []
  })
}

/**
 * What is said on the page as a pattern: `…` stands for anything, and so do ids and times, which
 * differ each time.
 */
export function patternOf(shown: string): RegExp {
  const text = shown
    .trim()
    .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '[0-9a-f-]{36}')
    .replace(/(?<="id":")[\w-]{43}(?=")/g, '[\\w-]{43}')
    .replace(/\b\d{13}\b/g, '\\d{13}')
    .replaceAll('…', '[^]*?')
  return new RegExp(`^\\s*${text}\\s*$`)
}

interface ShellOptions {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  /** Contract: what is done while the shell, and what it put into the background, still run. */
  readonly beforeEnd?: () => Promise<void>
}

/**
 * Runs blocks one after the other in one shell. What they put into the background ends with it.
 *
 * @returns what each of them printed
 */
export async function outputsOf(
  blocks: readonly string[],
  { cwd, env, beforeEnd = async () => {} }: ShellOptions,
): Promise<readonly string[]> {
  const script = blocks.map((commands) => `${commands}echo\necho '${MARK}'\n`).join('')
  // Monitor mode, as in a terminal: what is put into the background is a process group of its own.
  const bash = spawn('bash', ['-c', `set -m\nexec 3<&0 < /dev/null\n${script}${END}`], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const closed = once(bash, 'close')
  let said = ''
  const done = new Promise<void>((resolve) => {
    bash.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      if (said.split(MARK).length > blocks.length) resolve()
    })
  })
  const timer = setTimeout(() => bash.kill('SIGKILL'), TIMEOUT_MS)
  try {
    await Promise.race([done, closed])
    await beforeEnd()
  } finally {
    bash.stdin.end()
    await closed
    clearTimeout(timer)
  }
  return said.split(MARK)
}
