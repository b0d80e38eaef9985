import { existsSync, readFileSync } from 'node:fs'
import { arch, availableParallelism, cpus, platform, totalmem } from 'node:os'

export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memoryGiB: number
  readonly system: string
  readonly node: string
  /** Versions of what was compared, by package. */
  readonly versions: Readonly<Record<string, string>>
}

export function machine(packages: readonly string[]): Machine {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${arch()}`,
    node: process.versions.node,
    versions: {
      plimsoll: versionIn('../package.json'),
      ...Object.fromEntries(packages.map((name) => [name, versionOf(name)])),
    },
  }
}

export function machineLine({ cpu, cores, memoryGiB, system, node, versions }: Machine): string {
  const compared = Object.entries(versions).map(([name, version]) => `${name} ${version}`)
  return `${cpu}, ${cores} cores, ${memoryGiB} GiB, ${system}, Node ${node}\n${compared.join(', ')}\n`
}

/** From the bench's own packages, else from the root's. */
function versionOf(name: string): string {
  const file = `node_modules/${name}/package.json`
  return versionIn(existsSync(new URL(file, import.meta.url)) ? file : `../${file}`)
}

function versionIn(file: string): string {
  return JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8')).version
}
