import type { AnswerHead } from './frames.ts'

/** Statuses whose answers have no body. */
const WITHOUT_BODY = [101, 204, 205, 304]
/** They are of the bytes as they came to the Worker, which reads them decoded. */
const OF_CODING = ['content-encoding', 'content-length', 'transfer-encoding']

/** A request that the Worker makes, and what came of its answer. */
export class RelayedRequest {
  /** Settles once the answer has begun. */
  readonly answer: Promise<Response>
  readonly #body: ReadableStream<Uint8Array>
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  #resolve: (answer: Response | Promise<Response>) => void = () => {}
  #reject: (error: unknown) => void = () => {}
  /** Whether the answer has. */
  hasBegun = false

  /** @param onLeft told where nobody reads the rest of the body */
  constructor(onLeft: () => void) {
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.#body = new ReadableStream({
      start: (controller) => {
        this.#controller = controller
      },
      cancel: onLeft,
    })
  }

  begin({ status, headers: given }: AnswerHead): this {
    this.hasBegun = true
    const headers = given.filter(([name]) => !OF_CODING.includes(name)) as [string, string][]
    const body = WITHOUT_BODY.includes(status) ? null : this.#body
    try {
      this.#resolve(new Response(body, { status, headers }))
    } catch (error) {
      // Not every number that a server sends is a status.
      this.#reject(error)
    }
    return this
  }

  write(bytes: Uint8Array): void {
    if (bytes.length > 0) this.#controller?.enqueue(bytes)
  }

  /** @returns false: it has not begun */
  end(): boolean {
    if (this.hasBegun) this.#controller?.close()
    return this.hasBegun
  }

  fail(error: unknown): void {
    if (this.hasBegun) this.#controller?.error(error)
    else this.#reject(error)
  }

  /** Takes it from the Worker, unless its answer has begun. */
  move(fetchHere: () => Promise<Response>, error: unknown): void {
    if (this.hasBegun) this.fail(error)
    else this.#resolve(fetchHere())
  }
}
