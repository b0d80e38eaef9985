import { webNetwork } from '../platform/tabs.ts'
import { webHost } from '../platform/web.ts'
import type { SyncOptions } from './sync.ts'

type Defaults = Required<
  Pick<SyncOptions, 'host' | 'network' | 'name' | 'random' | 'delayMs' | 'baseMs' | 'capMs' | 'stalledMs'>
>

const DEFAULTS: Defaults = {
  host: webHost,
  network: webNetwork,
  name: 'plimsoll-sync',
  random: Math.random,
  delayMs: 10,
  baseMs: 500,
  capMs: 60_000,
  stalledMs: 30_000,
}

export function withDefaults(options: SyncOptions): SyncOptions & Defaults {
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  return { ...options, ...DEFAULTS, ...Object.fromEntries(given) }
}
