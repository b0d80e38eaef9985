/** A file, as a browser gives it: as much of a `Blob` as is used here. */
export interface OpenedFile {
  readonly name: string
  /** In bytes. */
  readonly size: number
  stream(): ReadableStream<Uint8Array>
}

/** A file's text, piece by piece; `read` gets the bytes of each before it. */
export async function* textOf(
  file: OpenedFile,
  read: (bytes: number) => Promise<void>,
): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  const reader = file.stream().getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      await read(value.byteLength)
      yield decoder.decode(value, { stream: true })
    }
    yield decoder.decode()
  } finally {
    // A caller that stops early wants no more of it.
    await reader.cancel()
  }
}
