import { type AddressInfo, createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { BareWorker } from '../../test/kill/bare-workerd.ts'

export const OURS = 'plimsoll'
export const RAW = 'raw'
export const AGENTS = 'agents/sessions'
export const COMPACTING = 'agents/sessions, compactAfter'
/** Ours once more, where rows and transactions are counted. */
export const COUNTED = 'plimsoll, counted'

/**
 * Such that ours shows about as many messages as the peers read: a window is between half full and full, and an estimate of
 * tokens holds back a margin.
 */
export const BUDGET = 4_600

/** Armed, and never due. */
const COMPACT_AFTER = '1000000000000'

export interface EdgeSubject {
  readonly name: string
  readonly worker: BareWorker
  /** What one call does. */
  readonly call: string
}

/** Bundles the workers into a folder: all subjects, for one process. */
export async function edgeSubjects(folder: string): Promise<EdgeSubject[]> {
  await build({
    entryPoints: ['plimsoll', 'raw', 'agents'].map((name) =>
      fileURLToPath(new URL(`workers/${name}.ts`, import.meta.url)),
    ),
    outdir: folder,
    bundle: true,
    format: 'esm',
    platform: 'browser',
    conditions: ['workerd', 'worker', 'browser'],
    target: 'es2022',
    external: ['cloudflare:workers', 'node:*'],
    logLevel: 'error',
  })
  const ports = await freePorts(5)
  const worker = (name: string, module: string, more: Partial<BareWorker>): BareWorker => ({
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
  return [
    {
      name: OURS,
      call: `POST /v1/sessions/:id/context with two messages, budget ${BUDGET} tokens`,
      worker: worker('plimsoll', 'plimsoll', { className: 'BenchSession', ...ours }),
    },
    {
      name: RAW,
      call: 'INSERT two rows, SELECT the last 40',
      worker: worker('raw', 'raw', { className: 'RawLog' }),
    },
    {
      name: AGENTS,
      call: 'appendMessage twice, history({ newestFirst: true }) for 40',
      worker: worker('agents', 'agents', node),
    },
    {
      name: COMPACTING,
      call: 'the same with onCompaction() and compactAfter(1e12)',
      worker: worker('compacting', 'agents', { ...node, variables: { COMPACT_AFTER } }),
    },
    {
      name: COUNTED,
      call: `as ${OURS}`,
      worker: worker('counted', 'plimsoll', { className: 'CountedSession', ...ours }),
    },
  ]
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
