import { problemOf as homeProblemOf } from '../homes/problem.ts'
import type { ConversationState, Problem } from '../ports.ts'
import type { TextKey } from '../strings/catalogue.ts'

const WORDS: { readonly [Code in Problem['code']]?: TextKey } = {
  ERR_OFFLINE: 'problemOffline',
  ERR_MODEL: 'problemModel',
  ERR_RATE_LIMIT: 'problemRate',
  ERR_OVERLOADED: 'problemRate',
  ERR_LIMIT: 'problemRate',
  ERR_UNAUTHENTICATED: 'problemAuth',
  ERR_FORBIDDEN: 'problemAuth',
  ERR_TIMEOUT: 'problemTimeout',
  ERR_INTERRUPTED: 'problemInterrupted',
  ERR_ENTRY_TOO_LARGE: 'problemTooLarge',
  ERR_CONTEXT_TOO_LARGE: 'problemTooLarge',
  ERR_BUDGET_TOO_SMALL: 'problemTooLarge',
  ERR_STORAGE_FULL: 'storageFull',
  ERR_STORAGE_LOST: 'storageLost',
  ERR_CONFLICT: 'problemConflict',
  ERR_NOT_FOUND: 'problemGone',
  ERR_UPGRADE_REQUIRED: 'problemUpgrade',
  ERR_NOT_CONFIGURED: 'problemConfigured',
  ERR_NOT_LOADED: 'problemPart',
  ERR_UNSUPPORTED_MEDIA_TYPE: 'problemPicture',
}

const FILES: typeof WORDS = { ERR_ENTRY_TOO_LARGE: 'problemFile', ERR_INTERNAL: 'problemUnread' }

/** What a problem is called in the user's words. */
export function wordsFor({ code, id }: Problem, isOnline = false): TextKey {
  // There is a network: it is the service that does not answer.
  if (isOnline && code === 'ERR_OFFLINE') return 'serviceAway'
  // Of a text there is no name.
  return (id && FILES[code]) || (WORDS[code] ?? 'problemOther')
}

/** Whether what the conversation needs the service for cannot be done. */
export function isCutOff({ online, session }: ConversationState): boolean {
  return !online && session?.home !== 'local'
}

/** A rejection as a problem: of what the view asked for, which no model answers. */
export function problemOf(error: unknown): Problem {
  return { ...homeProblemOf(error, 'ERR_INTERNAL'), retryable: false }
}
