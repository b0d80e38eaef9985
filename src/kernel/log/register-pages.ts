import type { RegisterRow, ScopeStore } from '../../ports/store.ts'

/** Live registers whose key starts with `prefix`, by key, page by page. */
export async function* registerPages(
  store: Pick<ScopeStore, 'registers'>,
  prefix: string,
): AsyncGenerator<readonly RegisterRow[]> {
  let page = await store.registers(prefix)
  for (; page.length > 0; page = await store.registers(prefix, page.at(-1)?.key)) yield page
}
