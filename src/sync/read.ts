import { registerPages } from '../kernel/log/register-pages.ts'
import type { Scope } from '../ports/op.ts'
import type { LogRow, RegisterRow, ScopeStore, Store } from '../ports/store.ts'

/** Rows of a log after a seq, up to another. */
export async function readRows(
  scope: Pick<ScopeStore, 'changesSince'>,
  after: number,
  to = Number.POSITIVE_INFINITY,
): Promise<readonly LogRow[]> {
  const rows: LogRow[] = []
  for (let seq = after; seq < to; ) {
    const page = await scope.changesSince(seq)
    rows.push(...page.rows.filter((row) => row.seq <= to))
    if (!page.more || page.rows.length === 0) break
    seq = page.rows.at(-1)?.seq ?? to
  }
  return rows
}

/** All registers that have a value, of keys that begin so. */
export async function readRegisters(
  scope: Pick<ScopeStore, 'registers'>,
  prefix = '',
): Promise<Map<string, RegisterRow>> {
  const registers = new Map<string, RegisterRow>()
  for await (const page of registerPages(scope, prefix)) for (const row of page) registers.set(row.key, row)
  return registers
}

/** All scopes of a store to which anything was ever written. */
export async function readScopes(store: Pick<Store, 'scopes'>): Promise<readonly Scope[]> {
  const scopes: Scope[] = []
  for (let page: readonly Scope[] = []; ; scopes.push(...page)) {
    page = await store.scopes(page.at(-1))
    if (page.length === 0) return scopes
  }
}
