/** What every store must do, as tests for Vitest: `plimsoll/testing`. */
import { describe } from 'vitest'
import { checkOptions } from '../../src/ports/options.ts'
import { type DescribeStoreOptions, describeAbilities } from './abilities.ts'
import { describeAttachments } from './attachments.ts'
import { describeCommits } from './commits.ts'
import { describeContexts } from './contexts.ts'
import { describeDerived } from './derived.ts'
import { describeForgetting } from './forgetting.ts'
import { describeIndexes } from './indexes.ts'
import { describeIsolation } from './isolation.ts'
import { describeNames } from './names.ts'
import { describeReads } from './reads.ts'
import { describeRegisters } from './registers.ts'
import { describeReplicas } from './replicas.ts'
import type { Open } from './samples.ts'
import { describeScopes } from './scopes.ts'

export type { DescribeStoreOptions } from './abilities.ts'
export { describeSync, type SyncHome } from './sync.ts'

/**
 * The contract suite of the port `Store`. `open` gives a fresh, empty store each time. Optional
 * abilities that the store lacks are skipped, with the reason.
 *
 * @example
 * ```ts
 * import { mapStore } from 'plimsoll'
 * import { describeStore } from 'plimsoll/testing'
 *
 * describeStore('map', () => mapStore())
 * ```
 */
export function describeStore(name: string, open: Open, options: DescribeStoreOptions = {}): void {
  checkOptions('describeStore', 'options', options, ['reopen', 'kept'])
  describe(`the ${name} store`, () => {
    describeCommits(open)
    describeReads(open, options)
    describeRegisters(open)
    describeIndexes(open, options)
    describeForgetting(open)
    describeNames(open)
    describeContexts(open, options)
    describeIsolation(open)
    describeScopes(open, options)
    describeAttachments(open, options)
    describeDerived(open, options)
    describeReplicas(open, options)
    describeAbilities(open, options)
  })
}
