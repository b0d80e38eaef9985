import type { Block, Context } from '../../ports/context.ts'
import type { ToolSpec } from '../../ports/message.ts'

/** Blocks that no memory chose, in the shape that models and renderers take. */
export function plainContext(
  blocks: readonly Block[],
  {
    tools,
    cap,
    used,
  }: { readonly tools?: readonly ToolSpec[] | undefined; readonly cap: number; readonly used: number },
): Context {
  return {
    lane: '',
    epoch: '',
    head: '',
    fence: 'reference',
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
