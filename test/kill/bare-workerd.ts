import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

const root = resolve(import.meta.dirname, '../..')

/** The edge in bare workerd, with its objects on disk in `folder`: what `wrangler dev` runs, without wrangler. */
export class BareWorkerd {
  readonly url: string
  readonly #folder: string
  readonly #port: number
  #process: ChildProcess | undefined

  /** Bundles the worker into `folder`. */
  constructor(folder: string, port: number) {
    this.#folder = folder
    this.#port = port
    this.url = `http://127.0.0.1:${port}`
    mkdirSync(this.objects, { recursive: true })
    const built = spawnSync(
      process.execPath,
      [join(root, 'node_modules/wrangler/bin/wrangler.js'), 'deploy', '--dry-run', '--outdir', folder],
      { cwd: root, encoding: 'utf8' },
    )
    if (built.status !== 0) throw new Error(`wrangler could not bundle the worker:\n${built.stderr}`)
    renameSync(join(folder, 'index.js'), join(folder, 'worker.js'))
    writeFileSync(join(folder, 'config.capnp'), config(port))
  }

  /** Folder with the SQLite files of the objects. */
  get objects(): string {
    return join(this.#folder, 'objects/plimsoll-session')
  }

  /** Resolves when it takes connections. */
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
      if (await accepts(this.#port)) return
      await pause(10)
    }
    throw new Error(`workerd took no connection on port ${this.#port}:\n${said}`)
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
function config(port: number): string {
  const toml = readFileSync(join(root, 'wrangler.toml'), 'utf8')
  const date = /compatibility_date = "([^"]+)"/.exec(toml)?.[1]
  const flags = /compatibility_flags = (\[[^\]]*\])/.exec(toml)?.[1]
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "disk", disk = (path = "objects", writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "${date}",
  compatibilityFlags = ${flags},
  durableObjectNamespaces = [(className = "SessionObject", uniqueKey = "plimsoll-session", enableSql = true)],
  durableObjectStorage = (localDisk = "disk"),
  bindings = [(name = "SESSIONS", durableObjectNamespace = "SessionObject")],
);
`
}
