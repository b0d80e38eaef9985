/** As much of a dedicated worker's global scope as is used here. */
declare const self: {
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void
  postMessage(message: unknown, transfer: readonly ArrayBuffer[]): void
}

/**
 * Answers each message `ask` to this worker with what `answer` gives; `buffers` are moved, not
 * copied.
 */
export function answerWith(
  ask: string,
  answer: () => Promise<{ readonly message: unknown; readonly buffers: readonly ArrayBuffer[] }>,
): void {
  self.addEventListener('message', ({ data }) => {
    if (data !== ask) return
    answer().then(
      ({ message, buffers }) => self.postMessage(message, buffers),
      (error: unknown) => self.postMessage({ reason: String(error) }, []),
    )
  })
}
