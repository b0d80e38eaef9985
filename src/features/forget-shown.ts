import { commitDeletes } from '../forgetting/deletes.ts'
import { type AllOwed, emptyOwed, OWED, type Owed, type OwedIn, owedIn, putOwed } from '../forgetting/owed.ts'
import { headsShowing, type Renewable, shownKey } from '../forgetting/shown.ts'
import type { KernelUser } from '../kernel/feature.ts'
import { valueIn } from '../kernel/log/bodies.ts'
import { allOrNone, areAccepted, changedByOthers, TRIES } from '../kernel/log/once.ts'
import { registerPages } from '../kernel/log/register-pages.ts'
import { partId } from '../kernel/log/rounds.ts'
import { sealOp } from '../kernel/log/seal.ts'
import { isPlimsollError } from '../ports/errors.ts'
import type { Host } from '../ports/host.ts'
import type { Name, Op } from '../ports/op.ts'
import { SESSION } from '../ports/session.ts'
import type { ScopeStore } from '../ports/store.ts'
import { type AuditInput, auditOp } from './audit.ts'
import { type RegisterChange, readRegister, removeRegister, type WriteOptions } from './register.ts'

/** What one call forgets of a user, with what its record and its certificate say. */
export interface Begun extends Owed {
  readonly messages: readonly string[]
  readonly attachments: readonly string[]
  readonly kept: readonly string[]
  readonly record: AuditInput
}

/**
 * Takes a register of the user off, and empties the heads of all sessions that showed it, whatever
 * it said then. What an end of the process left, the same call finishes, as whatever forgets does.
 * Idempotent.
 *
 * @throws as {@link removeRegister}
 */
export async function removeShown(
  user: KernelUser,
  key: string,
  options: WriteOptions,
  beside?: RegisterChange<never>['beside'],
): Promise<void> {
  const { store, memory } = user
  const { host } = memory
  await removeRegister(store, host, key, options, async (_, opId) => {
    const others = (await beside?.(null, opId)) ?? []
    const { value } = await readRegister<Renewable>(store, key)
    if (!value) return others
    const shown = shownKey(key, value)
    const row = await store.register(OWED)
    const begun: Begun = {
      names: [],
      from: [],
      shared: [shown],
      messages: [],
      attachments: [],
      kept: [],
      record: { action: 'forget', target: key },
    }
    return [
      ...others,
      { kind: 'delete', opId: partId(opId, 'shown'), target: `register:${shown}` },
      putOwed(host, row, { ...owedIn(row), [opId]: begun }),
    ]
  })
  for (const [id, { record, shared = [] }] of Object.entries(owedIn<Begun>(await store.register(OWED)))) {
    if (record.target !== key) continue
    const { length } = await emptyElsewhere(user, id, shared)
    await changeOwed(
      store,
      host,
      (all) => {
        const { [id]: one, ...others } = all
        return one ? others : all
      },
      () => auditOp(store, host, { ...record, ...(length > 0 && { counts: { heads: length } }) }),
    )
  }
}

/**
 * Makes what is forgotten of the user inert in all of the user's sessions but one, and so empties
 * heads that show it, those that a call under way writes later included.
 *
 * @param before Contract: called of each session before anything of it is emptied
 * @returns keys of the heads
 */
export async function emptyElsewhere(
  {
    store: user,
    session: open,
    memory: { host },
  }: Pick<KernelUser, 'store' | 'session'> & {
    readonly memory: { readonly host: Host }
  },
  id: string,
  shared: readonly string[],
  but?: string,
  before: (own: OwedIn) => Promise<void> = async () => {},
): Promise<readonly string[]> {
  const heads: string[] = []
  for await (const page of registerPages(user, SESSION))
    for (const row of page) {
      const sessionId = row.key.slice(SESSION.length)
      if (sessionId === but || valueIn(row) === null) continue
      const store = open(sessionId)
      try {
        const own = { store, user, sessionId, host }
        await before(own)
        heads.push(...(await emptyShown(own, id, shared)))
      } catch (error) {
        // It is gone, or lives elsewhere.
        if (!isPlimsollError(error, 'ERR_NOT_FOUND')) throw error
      } finally {
        await store.close()
      }
    }
  return heads
}

/** The same in one session. */
async function emptyShown(own: OwedIn, id: string, shared: readonly string[]): Promise<readonly string[]> {
  const { store, host } = own
  const { heads, others } = await headsShowing(store, shared)
  const names = others.map(({ key }): Name => `register:${key}`)
  if (names.length > 0) await commitDeletes(store, host, names)
  await emptyOwed(own, id)
  return heads
}

/**
 * Writes what is owed.
 *
 * @param change Contract: gives the same object where nothing is to be written
 * @param beside a record in the same commit; where somebody else finished it, there is none
 * @throws ERR_CONFLICT: others wrote eight times in a row
 */
export async function changeOwed<One extends Begun>(
  userStore: ScopeStore,
  host: Host,
  change: (all: AllOwed<One>) => AllOwed<One>,
  beside?: () => Promise<Op>,
): Promise<void> {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const row = await userStore.register(OWED)
    const before = owedIn<One>(row)
    const after = change(before)
    if (after === before) return
    const ops = [putOwed(host, row, after), ...(beside ? [await beside()] : [])]
    const results = await userStore.commit(
      ops.map((op) => sealOp(op)),
      allOrNone,
    )
    if (areAccepted(results)) return
  }
  throw changedByOthers('forget', OWED)
}
