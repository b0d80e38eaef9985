import { spawn } from 'node:child_process'
import { once } from 'node:events'

const TIMEOUT_MS = 120_000
/** Between the outputs of two blocks. */
const MARK = '=== end of a block ==='

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

/** Runs blocks one after the other in one shell. @returns what each of them printed */
export async function outputsOf(
  blocks: readonly string[],
  options: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): Promise<readonly string[]> {
  const script = blocks.map((commands) => `${commands}echo\necho '${MARK}'\n`).join('')
  // Monitor mode, as in a terminal: what is put into the background is a process group of its own.
  const bash = spawn('bash', ['-c', `set -m\n${script}`], {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let said = ''
  bash.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  const timer = setTimeout(() => bash.kill('SIGKILL'), TIMEOUT_MS)
  await once(bash, 'close')
  clearTimeout(timer)
  return said.split(MARK)
}
