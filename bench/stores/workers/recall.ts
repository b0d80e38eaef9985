/** Recall over the store of a Durable Object. */
import { DurableObject } from 'cloudflare:workers'
import { durableObjectStore } from '../../../src/stores/durable-object.ts'
import type { RecallOrder } from '../../recall/recall-orders.ts'
import { firstRecall, StoreSubject } from '../../recall/store-subject.ts'

interface Env {
  readonly RECALLS: DurableObjectNamespace<RecallLog>
}

export class RecallLog extends DurableObject<Env> {
  readonly #subject = new StoreSubject(durableObjectStore(this.ctx.storage))

  override async fetch(request: Request): Promise<Response> {
    return Response.json((await this.#answer(await request.json<RecallOrder>())) ?? null)
  }

  #answer(order: RecallOrder): Promise<unknown> {
    switch (order.ask) {
      case 'append':
        return this.#subject.append(order.sessionId, order.recalls, order.appends)
      case 'rank':
        return this.#subject.rank(order.sessionId, order.queries, order.first)
      case 'settle':
        return this.#subject.settled(order.sessionId)
      case 'first':
        return firstRecall(durableObjectStore(this.ctx.storage), order.sessionId, order.query)
    }
  }
}

export default {
  fetch: (request: Request, env: Env): Promise<Response> =>
    env.RECALLS.getByName('recall').fetch(request.url, request),
}
