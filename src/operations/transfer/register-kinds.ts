import { UNTOLD } from '../../features/facts/kept.ts'
import { NOTE } from '../../forgetting/note-keys.ts'
import { OWED } from '../../forgetting/owed.ts'
import { isKey, SECRET } from '../../kernel/context/secret.ts'
import type { Feature, RegisterKind } from '../../kernel/feature.ts'
import { checkTime } from '../../kernel/log/check-message.ts'
import { HEAD_KEY } from '../../kernel/log/message.ts'
import { SESSION } from '../../ports/session.ts'
import { checkJson } from '../../text/check-json.ts'
import { checkCount, checkId, checkOptions, invalid } from '../../text/json.ts'
import { checkTitle } from '../sessions.ts'
import { checkSettings, SETTINGS } from '../settings.ts'
import { checkHead } from './check-head.ts'

/** What a key is of: its kind, and what the register is called in it. */
export interface KeyKind {
  readonly kind: RegisterKind
  readonly name: string
}

/**
 * Registers that belong to no part of an export: records of what was done, and places where work
 * goes on.
 */
const INTERNAL = ['audit/', OWED, NOTE, UNTOLD, 'retention']

/** What no feature owns. */
const OWN: readonly RegisterKind[] = [
  {
    prefix: SETTINGS,
    part: 'profile',
    owners: ['user'],
    isUnlabelled: true,
    check: (operation, _, value) => {
      checkCount(operation, 'value.v', (value as { readonly v?: unknown } | null)?.v)
      return { ...checkSettings(operation, value) } as never
    },
  },
  {
    prefix: HEAD_KEY,
    part: 'log',
    owners: ['session'],
    isUnlabelled: true,
    check: (operation, _, value) => {
      const json = checkJson(operation, 'value', value)
      checkHead(operation, value)
      return json
    },
  },
  {
    prefix: SECRET,
    part: 'log',
    owners: ['session'],
    // Anybody who knows it can try what hashes were made from.
    isUnlabelled: true,
    check: (operation, _, value) => {
      if (isKey(value)) return value
      throw invalid(operation, 'value', 'must be 64 hexadecimal digits')
    },
  },
  {
    prefix: SESSION,
    part: 'log',
    owners: ['user'],
    check: (operation, name, value) => {
      checkOptions(operation, 'value', value, ['sessionId', 'title', 'createdAt', 'project'])
      const { sessionId, title, createdAt, project } = value as { readonly [field: string]: unknown }
      checkId(operation, 'value.sessionId', sessionId)
      if (sessionId !== name) throw invalid(operation, 'value.sessionId', 'differs from that of its key')
      return {
        sessionId: name,
        title: checkTitle(operation, 'value.title', title),
        createdAt: checkTime(operation, 'value.createdAt', createdAt),
        ...(project !== undefined && { project: checkId(operation, 'value.project', project) }),
      }
    },
  },
]

/** Says what kind of register a key names. Undefined: none that is in use. */
export function kindsOf(use: readonly Feature[]): (key: string) => KeyKind | undefined {
  const all = [...OWN, ...use.flatMap(({ registers = [] }) => registers)]
  const kinds = new Map(all.map((kind) => [kind.prefix, kind]))
  return (key) => {
    const whole = kinds.get(key)
    if (whole) return key.endsWith('/') ? undefined : { kind: whole, name: key }
    const prefix = key.slice(0, key.indexOf('/') + 1)
    const kind = kinds.get(prefix)
    return kind && { kind, name: key.slice(prefix.length) }
  }
}

/** Features of this library, by what their keys begin with. */
const FEATURES = { fact: 'facts', checkpoint: 'checkpoint', profile: 'profile', skill: 'skills' }

/** What to do about a key of no feature in use. */
export function adding(key: string): string {
  const name = Object.entries(FEATURES).find(([prefix]) => key.startsWith(prefix))?.[1]
  return name ? `add ${name}() to what the memory has in use` : 'add the one that it belongs to'
}

/** Whether a register is left out of exports on purpose. */
export function isInternal(key: string): boolean {
  return INTERNAL.some((prefix) => (prefix.endsWith('/') ? key.startsWith(prefix) : key === prefix))
}
