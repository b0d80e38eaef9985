import type { EpochCause } from '../ports/op.ts'
import type { DiffCause } from '../render/diff.ts'
import type { Epoch } from './policy.ts'
import { shorten } from './words.ts'

/** Why an epoch began. */
const EPOCHS: { readonly [Cause in EpochCause]: string } = {
  start: 'the first one, filled from the newest message back',
  head: 'system text or tools changed',
  window: 'the window passed its room, or a limit, and was cut back',
  budget: 'the window would have fitted, but not with the tail of that call',
  late: 'something was added to an older round or step',
  sync: 'what another device wrote came before what it began with',
  rewind: 'a rewind hid something that was shown, or was taken back',
  forget: 'something that was shown was forgotten',
  manual: 'the app asked for it',
}

/** Why two requests part, where only the requests are known. */
export type RequestCause = 'none' | 'tools' | 'system' | 'message' | EpochCause

/** Why the second of two requests does not begin with the first. */
export const PARTING: { readonly [Cause in DiffCause | RequestCause]: string } = {
  ...(Object.fromEntries(
    Object.entries(EPOCHS).map(([cause, reason]) => [cause, `a new epoch: ${reason}`]),
  ) as { [Cause in EpochCause]: string }),
  none: 'the second begins with all of the first and only goes on',
  tail: 'the last block changed, as it may at every call; all in front of it is the same',
  lane: 'they were built under different settings, or by different counters',
  preview: 'the second was only a preview of an epoch',
  unsaved: 'the epoch of the second could not be saved',
  unexplained: 'the same epoch, and yet the prefix differs: something in it depends on more than the log',
  tools: 'the tools changed',
  system: 'the system text changed',
  message: 'a message changed; a tail does so at every call',
}

export function epochText({ id, cause, place }: Epoch): string {
  return `epoch ${place} (${shortIds([id])}), ${cause}: ${EPOCHS[cause]}`
}

export function isEpochCause(value: unknown): value is EpochCause {
  return typeof value === 'string' && Object.hasOwn(EPOCHS, value)
}

const LONGEST_IDS = 20

/** Ids in few columns: of those that end in a hash only its beginning. */
export function shortIds(ids: readonly string[]): string {
  return shorten(ids.map((id) => id.replace(/(\/[0-9a-f]{8})[0-9a-f]+$/, '$1')).join(' '), LONGEST_IDS)
}
