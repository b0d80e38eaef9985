import { onTestFinished } from 'vitest'
import { decide } from '../../../src/kernel/log/decide.ts'
import { PlimsollError } from '../../../src/ports/errors.ts'
import type { OpResult, Scope, SealedOp } from '../../../src/ports/op.ts'
import type { LogRow, ScopeStore, Store } from '../../../src/ports/store.ts'
import type {
  Poke,
  PullAnswer,
  PullRequest,
  PushAnswer,
  PushRequest,
  SyncFailure,
  SyncScope,
  Transport,
} from '../../../src/ports/sync.ts'
import { mapStore } from '../../../src/stores/map.ts'
import { answerPull } from '../../../src/sync/answer-pull.ts'
import { answerPush, homeStore, type PushOptions } from '../../../src/sync/home.ts'
import { giveAttachment, takeAttachment } from '../../../src/sync/home-attachments.ts'
import { type SyncOptions, sync } from '../../../src/sync/sync.ts'
import { readLog } from '../../contract/samples.ts'

export const TRIP: Scope = { userId: 'ada', sessionId: 'trip' }
export const ADA: Scope = { userId: 'ada' }

type Pushes = readonly (PushRequest & SyncScope)[]
type Pulls = readonly (PullRequest & SyncScope)[]

/** A home in this process, and what reaches it. */
export class TestHome {
  /** Homes of all of a user's scopes. */
  store: Store = mapStore()
  /** What was asked, in order. */
  readonly calls: ({ readonly push: Pushes } | { readonly pull: Pulls })[] = []
  /** Ids of attachments that it was sent, and was asked for. */
  readonly attached: string[] = []
  readonly given: string[] = []
  /** As in `answerPush`. */
  refuse: NonNullable<PushOptions['refuse']> = () => undefined
  readonly #listeners = new Set<(poke: Poke | undefined) => void>()
  #toks = 0

  readonly newTok = (): string => `tok${++this.#toks}`

  /** Of a scope, as the home writes to it itself. */
  open(scope: Scope = TRIP): ScopeStore {
    return homeStore(this.store, { newTok: this.newTok }).open(scope)
  }

  async push(requests: Pushes): Promise<readonly (PushAnswer | SyncFailure)[]> {
    this.calls.push({ push: requests })
    return Promise.all(
      requests.map(({ sessionId, ...request }) =>
        answerPush(this.store.open(scopeOf(sessionId)), request, {
          newTok: this.newTok,
          refuse: this.refuse,
        }),
      ),
    )
  }

  async pull(requests: Pulls): Promise<readonly (PullAnswer | SyncFailure)[]> {
    this.calls.push({ pull: requests })
    return Promise.all(
      requests.map(({ sessionId, ...request }) =>
        answerPull(this.store.open(scopeOf(sessionId)), request, { newTok: this.newTok }),
      ),
    )
  }

  attach: Transport['attach'] = async ({ sessionId, ...request }, attachment) => {
    this.attached.push(request.id)
    return takeAttachment(this.store.open(scopeOf(sessionId)), request, attachment, 1)
  }

  attachment: Transport['attachment'] = async ({ sessionId, ...request }) => {
    this.given.push(request.id)
    return giveAttachment(this.store.open(scopeOf(sessionId)), request)
  }

  poke(scope?: SyncScope): void {
    for (const listener of this.#listeners) listener(scope && { scope })
  }

  /** A way to the home, whose calls can be changed. */
  link(): Link {
    return {
      push: (requests) => this.push(requests),
      pull: (requests) => this.pull(requests),
      attach: (...all) => this.attach(...all),
      attachment: (...all) => this.attachment(...all),
      pokes: (_, listener) => {
        this.#listeners.add(listener)
        return () => this.#listeners.delete(listener)
      },
    }
  }
}

export interface Link {
  push: Transport['push']
  pull: Transport['pull']
  attach: Transport['attach']
  attachment: Transport['attachment']
  pokes?: NonNullable<Transport['pokes']>
}

function scopeOf(sessionId: string | undefined): Scope {
  return { ...ADA, ...(sessionId !== undefined && { sessionId }) }
}

export function refusing(code: PlimsollError['code'], details = {}): () => Promise<never> {
  return async () => {
    throw new PlimsollError(code, 'the test says so', details)
  }
}

export const offline = refusing('ERR_OFFLINE')

/** One device, which talks to no other tab, and is closed with its test. */
export function device(home: TestHome, options: Partial<SyncOptions> = {}) {
  const link = home.link()
  const base = options.store ?? mapStore()
  const store = sync({
    transport: link,
    lock: false,
    channel: false,
    random: () => 0.5,
    baseMs: 10,
    ...options,
    store: base,
  })
  onTestFinished(() => store.close())
  return { link, base, store }
}

export async function write(
  store: Store,
  ops: readonly SealedOp[],
  scope: Scope = TRIP,
): Promise<readonly OpResult[]> {
  const opened = store.open(scope)
  try {
    return await opened.commit(ops, decide)
  } finally {
    await opened.close()
  }
}

/** The log without what differs between a home and its replicas. */
export async function logOf(store: Pick<Store, 'open'>, scope: Scope = TRIP) {
  const opened = store.open(scope)
  const rows = await readLog(opened)
  await opened.close()
  return rows.map(({ tok: _, derived: __, ...row }: LogRow) => row)
}

export async function idsOf(store: Pick<Store, 'open'>, scope: Scope = TRIP): Promise<readonly string[]> {
  return (await logOf(store, scope)).map(({ id }) => id)
}

export async function outboxOf(store: Store, scope: Scope = TRIP): Promise<number> {
  return (await store.open(scope).outbox?.(0))?.length ?? 0
}
