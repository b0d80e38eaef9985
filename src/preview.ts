import type { ContextOptions } from './ports/session.ts'
import type { Session } from './kernel/types.ts'
import type { Context } from './ports/context.ts'

/** What the next model call would be given, or why there is no such thing. Both undefined until it was built. */
export interface Preview {
  readonly context: Context | undefined
  /** For example ERR_BUDGET_TOO_SMALL or ERR_TOOL_PENDING. */
  readonly error: unknown
}

/** Options of a preview, which never writes. */
export type PreviewOptions = Omit<ContextOptions, 'preview' | 'newEpoch'>

export const NO_PREVIEW: Preview = { context: undefined, error: undefined }

/** Never rejects. */
export async function previewOf(session: Session, options: PreviewOptions | undefined): Promise<Preview> {
  try {
    return { context: await session.context({ ...options, preview: true }), error: undefined }
  } catch (error) {
    return { context: undefined, error }
  }
}
