import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

const root = resolve(import.meta.dirname, '../..')

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
  /** Where it takes requests, on loopback. */
  readonly port: number
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
export function edgeWorker(
  folder: string,
  port: number,
  variables: Readonly<Record<string, string>> = {},
): BareWorker {
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
    port,
    module: 'worker.js',
    ...SESSIONS,
    others: [USERS],
    variables: { AUTH: 'development', ...variables },
  }
}

/** Workers in one bare workerd, with their objects on disk in `folder`: what `wrangler dev` runs, without wrangler. */
export class BareWorkerd {
  readonly #folder: string
  readonly #workers: readonly BareWorker[]
  #process: ChildProcess | undefined

  constructor(folder: string, workers: readonly BareWorker[]) {
    this.#folder = folder
    this.#workers = workers
    for (const { uniqueKey } of workers.flatMap(objectsOf))
      mkdirSync(this.objects(uniqueKey), { recursive: true })
    writeFileSync(join(folder, 'config.capnp'), config(workers))
  }

  /** Of the running process. */
  get pid(): number | undefined {
    return this.#process?.pid
  }

  /** Folder with the SQLite files of a worker's objects. */
  objects(uniqueKey: string): string {
    return join(this.#folder, 'objects', uniqueKey)
  }

  /** Resolves when all workers take connections. */
  async start(): Promise<void> {
    const child = spawn(join(root, 'node_modules/.bin/workerd'), ['serve', 'config.capnp'], {
      cwd: this.#folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let said = ''
    child.stderr?.on('data', (chunk) => {
      said += chunk
    })
    this.#process = child
    for (let tries = 0; tries < 400; tries++) {
      if (child.exitCode !== null) throw new Error(`workerd ended with ${child.exitCode}:\n${said}`)
      const taken = await Promise.all(this.#workers.map(({ port }) => accepts(port)))
      if (taken.every(Boolean)) return
      await pause(10)
    }
    throw new Error(`workerd takes no connections:\n${said}`)
  }

  /** SIGKILL, and what it left behind is as it was at that moment. */
  async kill(): Promise<void> {
    const child = this.#process
    this.#process = undefined
    if (!child || child.exitCode !== null) return
    const ended = new Promise((done) => child.once('exit', done))
    child.kill('SIGKILL')
    await ended
  }
}

function objectsOf({ binding, className, uniqueKey, others = [] }: BareWorker): readonly BareObjects[] {
  return [{ binding, className, uniqueKey }, ...others]
}

function accepts(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      done(true)
    })
    socket.once('error', () => done(false))
  })
}

/** The settings of wrangler.toml that matter here, in workerd's own words. */
function config(workers: readonly BareWorker[]): string {
  const toml = readFileSync(join(root, 'wrangler.toml'), 'utf8')
  const date = /compatibility_date = "([^"]+)"/.exec(toml)?.[1]
  const flags = /compatibility_flags = (\[[^\]]*\])/.exec(toml)?.[1]
  const services = workers.map(({ name }) => `(name = "${name}", worker = .${name}),`)
  const sockets = workers.map(
    ({ name, port }) => `(name = "${name}", address = "127.0.0.1:${port}", http = (), service = "${name}"),`,
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
