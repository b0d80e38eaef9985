import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

const root = resolve(import.meta.dirname, '../..')
const START_MS = 60_000

/** A class of Durable Objects. */
export interface BareObjects {
  readonly binding: string
  readonly className: string
  /** Names the folder of its objects. */
  readonly uniqueKey: string
}

/** One worker of a workerd process, with the objects that it binds. */
export interface BareWorker extends BareObjects {
  /** Letters and digits. */
  readonly name: string
  /**
   * Where it takes requests, on loopback. Default: where nobody else does, another port after each
   * start.
   */
  readonly port?: number
  /** Its one module, a file in the folder of the process. */
  readonly module: string
  /** Classes beside the first one. Default: none. */
  readonly others?: readonly BareObjects[]
  readonly variables?: Readonly<Record<string, string>>
  /** Default: those of wrangler.toml. */
  readonly compatibilityFlags?: readonly string[]
}

export const SESSIONS: BareObjects = {
  binding: 'SESSIONS',
  className: 'SessionObject',
  uniqueKey: 'plimsoll-session',
}
export const USERS: BareObjects = { binding: 'USERS', className: 'UserObject', uniqueKey: 'plimsoll-user' }

/** Bundles the edge into `folder`. Everybody is the user `local`. */
export function edgeWorker(folder: string, variables: Readonly<Record<string, string>> = {}): BareWorker {
  // The page is no part of this.
  const assets = join(folder, 'assets')
  mkdirSync(assets, { recursive: true })
  const options = ['--dry-run', '--env', '', '--assets', assets, '--outdir', folder]
  const built = spawnSync(
    process.execPath,
    [join(root, 'node_modules/wrangler/bin/wrangler.js'), 'deploy', ...options],
    { cwd: root, encoding: 'utf8' },
  )
  if (built.status !== 0) throw new Error(`wrangler could not bundle the worker:\n${built.stderr}`)
  renameSync(join(folder, 'index.js'), join(folder, 'worker.js'))
  return {
    name: 'main',
    module: 'worker.js',
    ...SESSIONS,
    others: [USERS],
    variables: { AUTH: 'development', ...variables },
  }
}

/**
 * Workers in one bare workerd, with their objects on disk in `folder`: what `wrangler dev` runs,
 * without wrangler.
 */
export class BareWorkerd {
  readonly #folder: string
  readonly #workers: readonly BareWorker[]
  readonly #ports = new Map<string, number>()
  #process: { readonly child: ChildProcess; readonly closed: Promise<unknown> } | undefined

  constructor(folder: string, workers: readonly BareWorker[]) {
    this.#folder = folder
    this.#workers = workers
    for (const { uniqueKey } of workers.flatMap(objectsOf))
      mkdirSync(this.objects(uniqueKey), { recursive: true })
    writeFileSync(join(folder, 'config.capnp'), config(workers))
  }

  /** Of the running process. */
  get pid(): number | undefined {
    return this.#process?.child.pid
  }

  /** Of the first worker, without a slash at its end. */
  get url(): string {
    return `http://127.0.0.1:${this.#ports.get(this.#workers[0]?.name ?? '')}`
  }

  /** Folder with the SQLite files of a worker's objects. */
  objects(uniqueKey: string): string {
    return join(this.#folder, 'objects', uniqueKey)
  }

  /** Resolves when all workers take connections. */
  async start(): Promise<void> {
    const child = spawn(
      join(root, 'node_modules/.bin/workerd'),
      ['serve', '--control-fd=3', 'config.capnp'],
      { cwd: this.#folder, stdio: ['ignore', 'ignore', 'pipe', 'pipe'] },
    )
    this.#process = { child, closed: once(child, 'close') }
    let said = ''
    child.stderr?.on('data', (chunk) => {
      said += chunk
    })
    this.#ports.clear()
    // By its own word: who answers on a port may be another. The lines end with it.
    const signal = AbortSignal.timeout(START_MS)
    for await (const line of createInterface({ input: child.stdio[3] as Readable, signal })) {
      const { socket, port } = JSON.parse(line) as { socket: string; port: number }
      this.#ports.set(socket, port)
      if (this.#ports.size === this.#workers.length) return
    }
    await this.kill()
    throw new Error(`workerd does not listen:\n${said}`)
  }

  /** SIGKILL, and what it left behind is as it was at that moment. */
  async kill(): Promise<void> {
    const { child, closed } = this.#process ?? {}
    this.#process = undefined
    child?.kill('SIGKILL')
    await closed
  }
}

function objectsOf({ binding, className, uniqueKey, others = [] }: BareWorker): readonly BareObjects[] {
  return [{ binding, className, uniqueKey }, ...others]
}

/** The settings of wrangler.toml that matter here, in workerd's own words. */
function config(workers: readonly BareWorker[]): string {
  const toml = readFileSync(join(root, 'wrangler.toml'), 'utf8')
  const date = /compatibility_date = "([^"]+)"/.exec(toml)?.[1]
  const flags = /compatibility_flags = (\[[^\]]*\])/.exec(toml)?.[1]
  const services = workers.map(({ name }) => `(name = "${name}", worker = .${name}),`)
  const sockets = workers.map(
    ({ name, port = 0 }) =>
      `(name = "${name}", address = "127.0.0.1:${port}", http = (), service = "${name}"),`,
  )
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    ${services.join('\n    ')}
    # A model of the tests is on this machine.
    (name = "internet", network = (allow = ["public", "private"])),
    (name = "disk", disk = (path = "objects", writable = true)),
  ],
  sockets = [
    ${sockets.join('\n    ')}
  ],
);
${workers.map((worker) => workerConfig(worker, `${date}`, `${flags}`)).join('')}`
}

function workerConfig(worker: BareWorker, date: string, flags: string): string {
  const { name, module, variables = {}, compatibilityFlags } = worker
  const objects = objectsOf(worker)
  const namespaces = objects.map(
    ({ className, uniqueKey }) =>
      `(className = "${className}", uniqueKey = "${uniqueKey}", enableSql = true),`,
  )
  const bindings = objects.map(
    ({ binding, className }) => `(name = "${binding}", durableObjectNamespace = "${className}"),`,
  )
  const texts = Object.entries(variables).map(([key, value]) => `(name = "${key}", text = "${value}"),`)
  return `const ${name} :Workerd.Worker = (
  modules = [(name = "${module}", esModule = embed "${module}")],
  compatibilityDate = "${date}",
  compatibilityFlags = ${compatibilityFlags ? JSON.stringify(compatibilityFlags) : flags},
  durableObjectNamespaces = [
    ${namespaces.join('\n    ')}
  ],
  durableObjectStorage = (localDisk = "disk"),
  bindings = [
    ${[...bindings, ...texts].join('\n    ')}
  ],
);
`
}
