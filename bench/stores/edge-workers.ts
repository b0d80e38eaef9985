import { type AddressInfo, createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { BareWorker } from '../../test/kill/bare-workerd.ts'
import { fillByOrder, type TurnSubject } from './turns.ts'

export const OURS = 'plimsoll'
export const RAW = 'raw'
export const AGENTS = 'agents/sessions'
export const COMPACTING = 'agents/sessions, compactAfter'
/** Ours once more, where rows and transactions are counted. */
export const COUNTED = 'plimsoll, counted'

/**
 * Such that ours shows about as many messages as the peers read: a window is between half full and
 * full, and an estimate of tokens holds back a margin.
 */
export const BUDGET = 4_600

/** Armed, and never due. */
const COMPACT_AFTER = '1000000000000'

/** Theirs takes what it takes: 100 000 messages show it. */
const MOST_FOR_AGENTS = 100_000
/** A call of theirs takes a tenth of a second there, so that more connections would only wait. */
const ONE_CONNECTION = 1

export interface EdgeSubject extends TurnSubject {
  readonly worker: BareWorker
  /** What one call does. */
  readonly call: string
}

/** Bundles the workers into a folder: all subjects, for one process. */
export async function edgeSubjects(folder: string): Promise<EdgeSubject[]> {
  await bundleWorkers(
    folder,
    ['plimsoll', 'raw', 'agents'].map((name) => new URL(`workers/${name}.ts`, import.meta.url)),
  )
  const ports = await freePorts(5)
  const worker = (name: string, module: string, more: Partial<BareWorker>) => ({
    name,
    port: ports.pop() ?? 0,
    module: `${module}.js`,
    binding: 'LOGS',
    className: 'AgentsLog',
    uniqueKey: name,
    ...more,
  })
  const ours = { binding: 'SESSIONS', variables: { BUDGET: `${BUDGET}` } }
  // Node's modules, which the agents need, are there unless a flag takes them away.
  const node = { compatibilityFlags: [] }
  const subject = (
    name: string,
    call: string,
    worker: BareWorker & { readonly port: number },
    more: Partial<TurnSubject> = {},
  ): EdgeSubject => ({
    name,
    call,
    worker,
    port: worker.port,
    fill: (session, messages) => fillByOrder(worker.port, session, messages),
    ...more,
  })
  const theirs = { mostMessages: MOST_FOR_AGENTS }
  return [
    subject(
      OURS,
      `POST /v1/sessions/:id/context with two messages, budget ${BUDGET} tokens`,
      worker('plimsoll', 'plimsoll', { className: 'BenchSession', ...ours }),
    ),
    subject(RAW, 'INSERT two rows, SELECT the last 40', worker('raw', 'raw', { className: 'RawLog' })),
    subject(
      AGENTS,
      'appendMessage twice, history({ newestFirst: true }) for 40',
      worker('agents', 'agents', node),
      theirs,
    ),
    subject(
      COMPACTING,
      'the same with onCompaction() and compactAfter(1e12)',
      worker('compacting', 'agents', { ...node, variables: { COMPACT_AFTER } }),
      { ...theirs, mostConnections: ONE_CONNECTION },
    ),
    subject(COUNTED, `as ${OURS}`, worker('counted', 'plimsoll', { className: 'CountedSession', ...ours })),
  ]
}

/** Bundles workers into a folder, each under the name of its file. */
export async function bundleWorkers(folder: string, workers: readonly URL[]): Promise<void> {
  await build({
    entryPoints: workers.map((url) => fileURLToPath(url)),
    outdir: folder,
    entryNames: '[name]',
    bundle: true,
    format: 'esm',
    platform: 'browser',
    conditions: ['workerd', 'worker', 'browser'],
    target: 'es2022',
    external: ['cloudflare:workers', 'node:*'],
    logLevel: 'error',
  })
}

export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((done) =>
          server.once('listening', () => done((server.address() as AddressInfo).port)),
        ),
    ),
  )
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))))
  return ports
}
