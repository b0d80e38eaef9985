/**
 * Reads something again only when one of the things changed that it depends on; else it gives the
 * same object.
 */
export function cached<Value>(): (on: readonly unknown[], read: () => Promise<Value>) => Promise<Value> {
  let known: { readonly on: readonly unknown[]; readonly value: Value } | undefined
  return async (on, read) => {
    if (known?.on.every((one, index) => one === on[index])) return known.value
    known = { on, value: await read() }
    return known.value
  }
}
