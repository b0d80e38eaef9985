import type { Block, Context } from '../../ports/context.ts'
import type { ToolSpec } from '../../ports/message.ts'

/** Blocks that no memory chose, in the shape that models and renderers take. */
export function plainContext(
  blocks: readonly Block[],
  {
    tools,
    cap,
    used,
    fence = 'reference',
    head = '',
  }: {
    readonly tools?: readonly ToolSpec[] | undefined
    readonly cap: number
    readonly used: number
    readonly fence?: string
    readonly head?: string
  },
): Context {
  return {
    lane: '',
    epoch: '',
    head,
    fence,
    blocks,
    ...(tools?.length && { tools }),
    receipt: {
      cap,
      reserved: 0,
      margin: 0,
      used,
      floor: used,
      sections: [],
      omitted: [],
      epoch: 'preview',
      failures: [],
    },
    hash: '',
  }
}
