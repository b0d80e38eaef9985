/** Hands values on to one reader, who may come late, be slow, or go: whoever writes never waits. */
export class Relay<Value> implements AsyncIterable<Value> {
  #values: Value[] = []
  #end: { readonly error?: unknown } | undefined
  #isLeft = false
  #wake: () => void = () => {}

  push(value: Value): void {
    if (this.#isLeft) return
    this.#values.push(value)
    this.#wake()
  }

  /** Ends the values; with an error, the reader is given it after them. */
  end(end: { readonly error?: unknown } = {}): void {
    this.#end ??= end
    this.#wake()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Value, void, undefined> {
    try {
      for (;;) {
        for (let next = this.#values.shift(); next !== undefined; next = this.#values.shift()) yield next
        if (this.#end) {
          if ('error' in this.#end) throw this.#end.error
          return
        }
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    } finally {
      this.#isLeft = true
      this.#values = []
    }
  }
}
