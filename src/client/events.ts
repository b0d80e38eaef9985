/**
 * The data of server-sent events (WHATWG HTML, section 9.2.6), as they come: lines end with LF,
 * CRLF or CR, wherever the network cuts them; lines of data are joined by newlines; an event that
 * no blank line ended is none. Ends when the signal aborts.
 */
export async function* eventsIn(
  body: ReadableStream<Uint8Array> | null,
  signal?: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  let data: string[] = []
  // A carriage return at the end may be the first half of a line's end.
  for await (const line of linesIn(body, /\r\n|\n|\r(?!$)/, signal)) {
    if (line === '') {
      if (data.length > 0) yield data.join('\n')
      data = []
    } else if (/^data(?::|$)/.test(line)) data.push(line.slice(5).replace(/^ /, ''))
  }
}

/**
 * The lines that have ended, as they come; of no body none. Aborting ends it as if there were no
 * more.
 */
export async function* linesIn(
  body: ReadableStream<Uint8Array> | null,
  end: RegExp,
  signal: AbortSignal | undefined,
): AsyncGenerator<string, void, undefined> {
  if (!body) return
  const reader = body.getReader()
  const decoder = new TextDecoder()
  const stop = (): void => void reader.cancel().catch(() => {})
  signal?.addEventListener('abort', stop)
  if (signal?.aborted) stop()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const lines = (rest + decoder.decode(value, { stream: true })).split(end)
      rest = lines.pop() ?? ''
      yield* lines
    }
  } finally {
    signal?.removeEventListener('abort', stop)
    stop()
  }
}
