import type { Feature } from '../kernel/feature.ts'
import { checkCount } from '../text/json.ts'

/** What sizes in tokens add to the lane: those that the app gave. @throws ERR_INVALID_ARGUMENT */
export function laneOf(
  feature: string,
  sizes: { readonly [option: string]: number | undefined },
): Pick<Feature, 'lane'> {
  const given: Record<string, number> = {}
  for (const [option, size] of Object.entries(sizes))
    if (size !== undefined) given[option] = checkCount(feature, option, size, 0)
  return Object.keys(given).length > 0 ? { lane: () => given } : {}
}
