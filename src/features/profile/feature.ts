import type { Feature, HeadPart, KernelUser, RegisterKind } from '../../kernel/feature.ts'
import { tokens } from '../../kernel/policy.ts'
import { hashText } from '../../kernel/text/hash.ts'
import { checkOptions, invalid, isPlainObject } from '../../kernel/text/json.ts'
import type { ProfileDocument } from '../../ports/profile.ts'
import { Filling } from '../filling.ts'
import { PLACES } from '../places.ts'
import { checkDocument, DOCUMENTS, MOST_DOCUMENTS, PROFILE, Profile, profileKey } from './profile.ts'

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
 * Documents that are in every context of a user: SOUL.md, MEMORY.md, TASKS.md, or any that the app names; at most 64, of 32 KiB each. Adds
 * `memory.user(…).profile`. They stand in the system text, so a change of one begins an epoch.
 *
 * @throws ERR_INVALID_ARGUMENT, an unknown option included
 */
export function profile(options: ProfileOptions = {}): Feature<'profile', ProfileShape> {
  checkOptions('profile', 'options', options, ['tokens'])
  if (options.tokens !== undefined) tokens('profile', 'tokens', options.tokens, 0)
  const profileOf = ({ store, memory }: KernelUser): Profile => new Profile(store, memory.host)
  return {
    name: 'profile',
    registers: [DOCUMENT],
    ...(options.tokens !== undefined && { lane: () => ({ tokens: options.tokens as number }) }),
    user: profileOf,
    open: ({ user, policy }) => {
      const size = options.tokens ?? Math.floor(policy.cap * SHARE)
      const documents = profileOf(user)
      let known: { readonly seq: number; readonly documents: readonly ProfileDocument[] } | undefined
      return {
        show: {
          read: async (ask) => {
            const { seq, indexed } = await ask.user()
            // Mostly nothing is remembered, and then nothing is looked for.
            if (known?.seq !== seq) known = { seq, documents: indexed ? await documents.list() : NONE }
            return known.documents
          },
          holds: (frozen, state) => frozenHash(frozen) === hashOf(state as readonly ProfileDocument[]),
          head: (state, { count }) => headOf(state as readonly ProfileDocument[], size, count),
        },
      }
    },
  }
}

const NONE: readonly ProfileDocument[] = []

const DOCUMENT: RegisterKind = {
  prefix: PROFILE,
  part: 'profile',
  owners: ['user'],
  isUnlabelled: true,
  check: (operation, name, value) => {
    profileKey(operation, name)
    if (!isPlainObject(value)) throw invalid(operation, 'value', 'must be an object')
    checkOptions(operation, 'value', value, ['text'])
    return { ...checkDocument(operation, value.text) }
  },
  index: (order) => [{ group: DOCUMENTS, order, weight: 0 }],
  room: { group: DOCUMENTS, most: MOST_DOCUMENTS },
}

function headOf(
  documents: readonly ProfileDocument[],
  size: number,
  count: (text: string) => number,
): HeadPart | undefined {
  if (documents.length === 0) return undefined
  const filling = new Filling('profile', size, count)
  for (const { name, text } of documents) filling.takePart(name, `## ${name}\n\n`, text)
  const text = filling.lines.join('\n\n')
  return {
    sections: filling.section({ in: 'system', at: PLACES.profile, text, trust: 'user' }),
    record: hashOf(documents),
    sources: [],
  }
}

function frozenHash(frozen: HeadPart | undefined): unknown {
  return frozen?.record ?? hashOf([])
}

function hashOf(documents: readonly ProfileDocument[]): string {
  return hashText(JSON.stringify(documents.map(({ name, text }) => [name, text])))
}
