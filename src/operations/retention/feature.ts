import { Dated } from '../../features/slots.ts'
import type { Feature } from '../../kernel/feature.ts'
import { provide } from '../../kernel/slot.ts'
import { Retention } from './retention.ts'
import { checkRetention, type RetentionOptions } from './retention-options.ts'

/**
 * For how long log, facts and checkpoints are kept; what is older is removed by {@link runDueWork},
 * so call that. It goes by the host's clock and by the times that messages and facts say: a clock
 * that is ahead by so much removes them that much early.
 *
 * Limits: what was added to a round more than 512 messages after its end counts by itself; and a
 * round whose messages say a later time than those after it holds up what stands more than 512
 * messages after it.
 *
 * @throws ERR_INVALID_ARGUMENT, an unknown option included
 */
export function retention(options: RetentionOptions): Feature<'retention', Record<never, never>> {
  const checked = checkRetention('retention', options)
  return {
    name: 'retention',
    provides: checked.checkpoint ? [provide(Dated, true)] : [],
    memory: ({ store, host }) => {
      const passes = new Retention({ store, host, options: checked })
      return { nextWorkAt: async () => passes.nextAt(), runDueWork: () => passes.run() }
    },
  }
}
