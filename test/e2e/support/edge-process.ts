import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { isNewer } from '../../../worker/local/newer.ts'
import { edgeVariables } from '../../edge-variables.ts'
import { type Started, start } from '../../started.ts'

const WRANGLER = 'node_modules/wrangler/bin/wrangler.js'

/** Where a dry run of `npm run deploy` leaves the script with `--outdir dist/worker`. */
const MADE = 'dist/worker/index.js'
/** Of which it is made. */
const SOURCES = ['worker', 'src', 'wrangler.toml', 'package-lock.json']

let bundle: Promise<string> | undefined

/** The script of the Worker as it is uploaded, for all files of tests in this process. */
function bundled(): Promise<string> {
  bundle ??= isNewer(MADE, SOURCES) ? readFile(MADE, 'utf8') : makeBundle()
  return bundle
}

async function makeBundle(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-bundle-'))
  const assets = join(folder, 'assets')
  mkdirSync(assets)
  try {
    const options = ['--dry-run', '--env', '', '--assets', assets, '--outdir', folder]
    await promisify(execFile)(globalThis.process.execPath, [WRANGLER, 'deploy', ...options], {
      env: { ...globalThis.process.env, WRANGLER_SEND_METRICS: 'false' },
    })
    return readFileSync(join(folder, 'index.js'), 'utf8')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * A real `wrangler dev` of the script that `wrangler deploy` would upload, with a database of its
 * own on disk. That wrangler makes the script itself is what tests of `npm start` show.
 */
export class EdgeProcess {
  readonly #start: (port: string) => Promise<Started>
  readonly #folder: string
  #process: Started

  private constructor(start: (port: string) => Promise<Started>, process: Started, folder: string) {
    this.#start = start
    this.#process = process
    this.#folder = folder
  }

  /**
   * @param variables beside those of `edgeVariables`
   * @param page folder of the page. Default: none, and it need not be built
   */
  static async start(variables: Readonly<Record<string, string>> = {}, page?: string): Promise<EdgeProcess> {
    const folder = mkdtempSync(join(tmpdir(), 'plimsoll-edge-'))
    const assets = page ?? join(folder, 'assets')
    mkdirSync(assets, { recursive: true })
    const script = join(folder, 'worker', 'index.js')
    mkdirSync(join(folder, 'worker'))
    writeFileSync(script, await bundled())
    const vars = Object.entries({ ...edgeVariables, ...variables })
    const startAt = (port: string): Promise<Started> =>
      start(
        globalThis.process.execPath,
        [
          WRANGLER,
          ...[
            'dev',
            script,
            '--no-bundle',
            // By itself it looks for one beside the script.
            '--config',
            'wrangler.toml',
            '--env',
            '',
            '--assets',
            assets,
            '--ip',
            '127.0.0.1',
            '--port',
            port,
            '--inspector-port',
            '0',
            '--persist-to',
            folder,
          ],
          '--show-interactive-dev-session=false',
          ...vars.flatMap(([name, value]) => ['--var', `${name}:${value}`]),
        ],
        /Ready on (\S+)/,
        { WRANGLER_SEND_METRICS: 'false' },
      )
    return new EdgeProcess(startAt, await startAt('0'), folder)
  }

  /** Ends it and its runtime at once, without a word to either. */
  kill(): Promise<void> {
    return this.#process.kill()
  }

  /** Starts it again after {@link kill}, at the same URL and with what is on disk. */
  async startAgain(): Promise<void> {
    this.#process = await this.#start(new URL(this.url).port)
  }

  /**
   * Copies what is on disk, after {@link kill}. @returns what puts it in the place of what is there
   * then, after another one
   */
  save(): () => void {
    const copy = `${this.#folder}-saved`
    const replace = (from: string, to: string): void => {
      rmSync(to, { recursive: true, force: true })
      cpSync(from, to, { recursive: true })
    }
    replace(this.#folder, copy)
    return () => {
      replace(copy, this.#folder)
      rmSync(copy, { recursive: true, force: true })
    }
  }

  /** Without a slash at its end. */
  get url(): string {
    return this.#process.found
  }

  /** What it has printed, logs of the runtime included. */
  get said(): string {
    return this.#process.said()
  }

  /**
   * All bytes of its database files, free pages and logs included, as text in which each byte is a
   * character.
   */
  stored(): string {
    return readdirSync(this.#folder, { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile() && /\.sqlite/.test(file.name))
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'))
      .join('')
  }

  async stop(): Promise<void> {
    await this.#process.stop()
    // The runtime below wrangler may still write to it for a moment.
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 })
  }
}
