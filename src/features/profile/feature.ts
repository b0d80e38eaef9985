import type { Feature, Hash, HeadPart, RegisterKind } from '../../kernel/feature.ts'
import { provide } from '../../kernel/slot.ts'
import { cutText, marker } from '../../text/cap.ts'
import { checkShape } from '../../text/fields.ts'
import { checkId, checkOptions } from '../../text/json.ts'
import { cached } from '../cached.ts'
import { NAMED } from '../filling.ts'
import { PLACES } from '../places.ts'
import { laneOf } from '../sizes.ts'
import { Documents } from '../slots.ts'
import {
  checkDocument,
  DOCUMENTS,
  documentsOf,
  MODEL_FILES,
  MOST_DOCUMENTS,
  PROFILE,
  type Profile,
  placesOf,
  profileKey,
  profileOf,
  type ShownDocument,
} from './profile.ts'

export interface ProfileOptions {
  /**
   * Most tokens of all documents in a context. Default: a third of the cap, and an eighth where the
   * least context has no room beside that.
   */
  readonly tokens?: number
}

export interface ProfileShape {
  readonly user: Profile
}

/** What documents take at most of the cap; and where the least context needs the room. */
const SHARE = 1 / 3
const LEAST_SHARE = 1 / 8
/** What shows first, in this order; all others follow by name. */
const FIRST = ['TASKS', 'MEMORY', 'SOUL']

/**
 * Documents that are in every context of a user: SOUL.md, MEMORY.md, TASKS.md, which show in that
 * order, and any that the app names, by name; at most 64, of 32 KiB each. Adds
 * `memory.user(…).profile`. They stand in the system text, so a change of one begins an epoch.
 * Where they take more than their room, the largest are shown shortened, and the receipt says so.
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
      const sizeAt = (share: number): number => tokens ?? Math.floor(policy.cap * share)
      const documents = profileOf(user)
      const latest = cached<readonly ShownDocument[]>()
      return {
        provides: [provide(Documents, async (name) => (await documents.get(name))?.text)],
        show: {
          read: async (ask) => {
            const { seq, rebased, indexed } = await ask.user()
            // Mostly nothing is remembered, and then nothing is looked for.
            return latest([seq, rebased], async () =>
              (indexed ? await documentsOf(user.store) : []).filter(
                ({ document: { name } }) => !name.startsWith(MODEL_FILES),
              ),
            )
          },
          holds: (frozen, state, hash) =>
            (frozen?.record ?? recordOf([], hash)) === recordOf(state as readonly ShownDocument[], hash),
          head: (state, { count, hash, rung }) =>
            headOf(state as readonly ShownDocument[], sizeAt(rung < 2 ? SHARE : LEAST_SHARE), count, hash),
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
    return checkShape(operation, 'value', value, { text: checkDocument, since: checkId })
  },
  index: placesOf,
  room: { group: DOCUMENTS, most: MOST_DOCUMENTS },
}

/** Each document whole, or the largest cut down to one size. */
function headOf(
  documents: readonly ShownDocument[],
  size: number,
  count: (text: string) => number,
  hash: Hash,
): HeadPart | undefined {
  if (documents.length === 0) return undefined
  const place = ({ name }: { readonly name: string }): number => FIRST.indexOf(name.replace(/\.md$/, ''))
  const ordered = documents
    .map(({ document }) => document)
    .toSorted((one, other) => place(other) - place(one))
  const costOf = (part: string): number => count(`${part}\n\n`)
  const costs = ordered.map(({ name, text }) => costOf(partOf(name, text)))
  const level = levelOf(costs, size)
  const lines: string[] = []
  const short: string[] = []
  let tokens = 0
  let missing = 0
  ordered.forEach(({ name, text }, index) => {
    const cost = costs[index] as number
    const shown = cost <= level ? text : shortened(name, text, level, (one) => costOf(partOf(name, one)))
    const part = partOf(name, shown)
    const taken = costOf(part)
    // Where there are so many that not even their markers fit, the last ones do not show.
    const fits = tokens + taken <= size
    if (fits) {
      lines.push(part)
      tokens += taken
    }
    if (fits && shown === text) return
    short.push(name)
    missing += Math.max(0, cost - (fits ? taken : 0))
  })
  const overflow = { count: short.length, tokens: missing, first: short.slice(0, NAMED) }
  const use = { name: 'profile', cap: size, tokens, items: lines.length, overflow }
  const message = `context: ${overflow.first.join(', ')} shown shortened, documents have ${size} tokens`
  const text = lines.join('\n\n')
  return {
    sections: [{ in: 'system', at: PLACES.profile, name: 'profile', text, trust: 'user', use }],
    record: recordOf(documents, hash),
    sources: documents.map(({ source }) => source),
    ...(short.length > 0 && { failures: [{ part: 'profile', code: 'ERR_LIMIT', message }] }),
  }
}

function partOf(name: string, text: string): string {
  return `## ${name}\n\n${text}`
}

/** Beginning and end of a document in `most` tokens, and between them how the rest is read. */
function shortened(name: string, text: string, most: number, cost: (shown: string) => number): string {
  const whole = cost(text)
  const note = marker(whole, PROFILE + name)
  const noted = cost(note)
  if (whole <= noted) return text
  // Pieces may count for more together than apart, by a token or two; then a little less is shown.
  for (let room = most - noted; ; room -= Math.ceil(most / 50)) {
    const [head, tail] = cutText(text, room, whole, cost)
    const shown = [head, note, tail].filter((piece) => piece !== '').join('\n')
    if (room <= 0 || cost(shown) <= most) return shown
  }
}

/** The most that each may take, so that all of them take at most `size`: the largest give way. */
function levelOf(costs: readonly number[], size: number): number {
  let left = size
  let others = costs.length
  for (const cost of costs.toSorted((one, other) => one - other)) {
    if (cost * others > left) return Math.floor(left / others)
    left -= cost
    others--
  }
  return Infinity
}

function recordOf(documents: readonly ShownDocument[], hash: Hash): string {
  return hash(JSON.stringify(documents.map(({ document: { name, text } }) => [name, text])))
}
