import type { SourceContext } from '../model/source.ts'
import type { Strings } from './strings.ts'

type Checked = { readonly [Name in 'verified' | 'reason' | 'tail']?: SourceContext[Name] | undefined }

/** What came of checking a request that was made; undefined: nobody checked it. */
export function checkedWords(
  strings: Pick<Strings, 'verified' | 'verifiedWhole' | 'unverified'>,
  { verified, reason = 'unrecorded', tail }: Checked,
): string | undefined {
  if (verified === undefined) return undefined
  if (!verified) return strings.unverified[reason]
  return tail === 'whole' ? strings.verifiedWhole : strings.verified
}
