import type { Feature, Hash, HeadPart, RegisterKind } from '../../kernel/feature.ts'
import { checkId, checkOptions } from '../../kernel/text/json.ts'
import { cached } from '../cached.ts'
import { Filling } from '../filling.ts'
import { PLACES } from '../places.ts'
import { laneOf } from '../sizes.ts'
import {
  checkDocument,
  DOCUMENTS,
  documentsOf,
  MOST_DOCUMENTS,
  PROFILE,
  type Profile,
  placesOf,
  profileKey,
  profileOf,
  type ShownDocument,
} from './profile.ts'

export interface ProfileOptions {
  /** Most tokens of all documents in a context. Default: an eighth of the cap. */
  readonly tokens?: number
}

export interface ProfileShape {
  readonly user: Profile
}

/** The share of the cap that documents take at most. */
const SHARE = 1 / 8

/**
 * Documents that are in every context of a user: SOUL.md, MEMORY.md, TASKS.md, or any that the app
 * names; at most 64, of 32 KiB each. Adds `memory.user(…).profile`. They stand in the system text,
 * so a change of one begins an epoch.
 *
 * @throws ERR_INVALID_ARGUMENT, an unknown option included
 */
export function profile(options: ProfileOptions = {}): Feature<'profile', ProfileShape> {
  checkOptions('profile', 'options', options, ['tokens'])
  const { tokens } = options
  return {
    name: 'profile',
    registers: [DOCUMENT],
    ...laneOf('profile', { tokens }),
    user: profileOf,
    open: ({ user, policy }) => {
      const size = tokens ?? Math.floor(policy.cap * SHARE)
      const latest = cached<readonly ShownDocument[]>()
      return {
        show: {
          read: async (ask) => {
            const { seq, indexed } = await ask.user()
            // Mostly nothing is remembered, and then nothing is looked for.
            return latest([seq], async () => (indexed ? documentsOf(user.store) : []))
          },
          holds: (frozen, state, hash) =>
            (frozen?.record ?? recordOf([], hash)) === recordOf(state as readonly ShownDocument[], hash),
          head: (state, { count, hash }) => headOf(state as readonly ShownDocument[], size, count, hash),
        },
      }
    },
  }
}

const DOCUMENT: RegisterKind = {
  prefix: PROFILE,
  part: 'profile',
  owners: ['user'],
  isUnlabelled: true,
  check: (operation, name, value) => {
    profileKey(operation, name)
    checkOptions(operation, 'value', value, ['text', 'since'])
    const { text, since }: { readonly text?: unknown; readonly since?: unknown } = value
    return { text: checkDocument(operation, text), since: checkId(operation, 'value.since', since) }
  },
  index: placesOf,
  room: { group: DOCUMENTS, most: MOST_DOCUMENTS },
}

function headOf(
  documents: readonly ShownDocument[],
  size: number,
  count: (text: string) => number,
  hash: Hash,
): HeadPart | undefined {
  if (documents.length === 0) return undefined
  const filling = new Filling('profile', size, count)
  for (const {
    document: { name, text },
  } of documents)
    filling.takePart(name, `## ${name}\n\n`, text)
  const text = filling.lines.join('\n\n')
  return {
    sections: filling.section({ in: 'system', at: PLACES.profile, text, trust: 'user' }),
    record: recordOf(documents, hash),
    sources: documents.map(({ source }) => source),
  }
}

function recordOf(documents: readonly ShownDocument[], hash: Hash): string {
  return hash(JSON.stringify(documents.map(({ document: { name, text } }) => [name, text])))
}
