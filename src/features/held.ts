import { Judge, type Judged } from '../kernel/context/epoch.ts'
import { readHead } from '../kernel/context/head.ts'
import type { Lane } from '../kernel/context/lane.ts'
import type { Call } from '../kernel/context/measure.ts'

/** What the epoch that holds shows by the log alone, if there is one that can be read. */
export async function heldBy(
  lane: Lane,
): Promise<{ readonly call: Call; readonly judged: Judged } | undefined> {
  const { view, calls, cover, store } = lane
  await view.refresh()
  const { epoch } = view
  const texts = epoch && (await readHead(store, epoch.mark.head))
  if (!texts) return undefined
  const call = calls.measureBy(epoch.mark.calibration ?? 1).call(texts, epoch.place)
  return { call, judged: new Judge(lane).current(call, cover?.shown(epoch)) }
}
