import type { Host, Timeout } from '../../ports/host.ts'
import type { TapeSource } from './tape.ts'

/**
 * Milliseconds without a chunk after which a comment is sent, so that nobody on the way takes the
 * connection for dead.
 */
const KEEP_ALIVE_MS = 15_000
/** A comment of server-sent events: clients skip it. */
export const KEEP_ALIVE = ': keep-alive\n\n'

/**
 * A byte stream of what is on a tape from its beginning, and of what comes. It reads when it is
 * asked and holds nothing: a slow reader reads later, from storage. To cancel it changes nothing
 * for the run.
 *
 * @param host whose timers tell when a comment is due. Default: none is sent
 */
export function tapeStream(source: TapeSource, host?: Pick<Host, 'timeout'>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let at = 0
  let timeout: Timeout | undefined
  const next = (): Uint8Array | undefined => {
    const bytes = source.read(at)
    at += bytes?.length ?? 0
    return bytes
  }
  return new ReadableStream({
    // Only byte streams cross from an object to its callers.
    type: 'bytes',
    async pull(controller) {
      let bytes = next()
      while (!bytes && !source.hasEnded) {
        timeout = host?.timeout(KEEP_ALIVE_MS)
        const isLate = await Promise.race([
          source.more().then(() => false),
          new Promise<true>((resolve) => timeout?.signal.addEventListener('abort', () => resolve(true))),
        ])
        timeout?.clear()
        bytes = next() ?? (isLate ? encoder.encode(KEEP_ALIVE) : undefined)
      }
      if (bytes) controller.enqueue(bytes)
      else {
        controller.close()
        controller.byobRequest?.respond(0)
      }
    },
    cancel() {
      timeout?.clear()
    },
  })
}

export interface TapePiecesOptions {
  /** Byte of the tape with which they begin. Default 0. */
  readonly from?: number
  /** What comes before that. Default: nothing. */
  readonly first?: string
}

/**
 * The same piece by piece and without comments, for who hands them on from the object: to make a
 * stream of it would take part of the time until the first word.
 */
export async function* tapePieces(
  source: TapeSource,
  { from = 0, first = '' }: TapePiecesOptions = {},
): AsyncGenerator<Uint8Array, void, undefined> {
  if (first !== '') yield new TextEncoder().encode(first)
  for (let at = from; ; ) {
    const bytes = source.read(at)
    if (bytes) {
      at += bytes.length
      yield bytes
    } else if (source.hasEnded) return
    else await source.more()
  }
}
