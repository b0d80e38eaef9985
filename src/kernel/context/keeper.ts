/** Gives what was made of the same things, if that is among the last few results; else makes it. */
export type Keeper<Result> = (by: readonly unknown[], make: () => Result) => Result

/** @param count results that are kept; the one that was asked for longest ago goes first */
export function keeper<Result>(count: number): Keeper<Result> {
  let kept: readonly { readonly by: readonly unknown[]; readonly result: Result }[] = []
  return (by, make) => {
    const newest = kept.find((one) => isSame(one.by, by)) ?? { by, result: make() }
    if (newest !== kept[0]) kept = [newest, ...kept.filter((one) => one !== newest)].slice(0, count)
    return newest.result
  }
}

export function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && beginsWith(one, other)
}

export function beginsWith(list: readonly unknown[], start: readonly unknown[]): boolean {
  for (let index = 0; index < start.length; index++) if (list[index] !== start[index]) return false
  return true
}
