import type { Feature, Hash, HeadPart, KernelUser, RegisterKind } from '../../kernel/feature.ts'
import { checkOptions } from '../../kernel/text/json.ts'
import type { ProfileDocument } from '../../ports/profile.ts'
import { cached } from '../cached.ts'
import { Filling } from '../filling.ts'
import { PLACES } from '../places.ts'
import { laneOf } from '../sizes.ts'
import {
  checkDocument,
  DOCUMENTS,
  MOST_DOCUMENTS,
  PROFILE,
  type Profile,
  placesOf,
  profileKey,
  profileOf,
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
  const userProfile = ({ store, memory }: KernelUser): Profile => profileOf(store, memory.host)
  return {
    name: 'profile',
    registers: [DOCUMENT],
    ...laneOf('profile', { tokens }),
    user: userProfile,
    open: ({ user, policy }) => {
      const size = tokens ?? Math.floor(policy.cap * SHARE)
      const documents = userProfile(user)
      const latest = cached<readonly ProfileDocument[]>()
      return {
        show: {
          read: async (ask) => {
            const { seq, indexed } = await ask.user()
            // Mostly nothing is remembered, and then nothing is looked for.
            return latest([seq], async () => (indexed ? documents.list() : []))
          },
          holds: (frozen, state, hash) =>
            (frozen?.record ?? recordOf([], hash)) === recordOf(state as readonly ProfileDocument[], hash),
          head: (state, { count, hash }) => headOf(state as readonly ProfileDocument[], size, count, hash),
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
    checkOptions(operation, 'value', value, ['text'])
    return { ...checkDocument(operation, (value as { readonly text?: unknown }).text) }
  },
  index: placesOf,
  room: { group: DOCUMENTS, most: MOST_DOCUMENTS },
}

function headOf(
  documents: readonly ProfileDocument[],
  size: number,
  count: (text: string) => number,
  hash: Hash,
): HeadPart | undefined {
  if (documents.length === 0) return undefined
  const filling = new Filling('profile', size, count)
  for (const { name, text } of documents) filling.takePart(name, `## ${name}\n\n`, text)
  const text = filling.lines.join('\n\n')
  return {
    sections: filling.section({ in: 'system', at: PLACES.profile, text, trust: 'user' }),
    record: recordOf(documents, hash),
    sources: [],
  }
}

function recordOf(documents: readonly ProfileDocument[], hash: Hash): string {
  return hash(JSON.stringify(documents.map(({ name, text }) => [name, text])))
}
