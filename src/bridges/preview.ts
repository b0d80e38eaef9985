import type { Context } from '../ports/context.ts'
import type { ContextOptionsOf, NoFeatures, SessionBase } from '../ports/memory.ts'

/**
 * What the next model call would be given, or why there is no such thing. Both undefined until it
 * was built.
 */
export interface Preview {
  readonly context: Context | undefined
  /** For example ERR_BUDGET_TOO_SMALL or ERR_TOOL_PENDING. */
  readonly error: unknown
}

/** Options of a preview, which never writes. */
export type PreviewOptions<F extends object = NoFeatures> = Omit<ContextOptionsOf<F>, 'preview' | 'newEpoch'>

export const NO_PREVIEW: Preview = { context: undefined, error: undefined }

/** Never rejects. */
export async function previewOf<F extends object>(
  session: SessionBase<F>,
  options: PreviewOptions<F> | undefined,
): Promise<Preview> {
  try {
    const asked = { ...options, preview: true } as ContextOptionsOf<F>
    return { context: await session.context(asked), error: undefined }
  } catch (error) {
    return { context: undefined, error }
  }
}
