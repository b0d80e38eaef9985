/** What the agents of `unplug.test.ts` do, in the browser and at the edge: they say the same. */

/** Steps that call a tool, before the one that answers. */
export const CALLS = 3
/** Milliseconds that a model takes for a reply. */
export const REPLY_MS = 150

/** The step that comes after what a request holds, by the words of those before it. */
export function stepAfter(request: string): {
  readonly text: string
  readonly calls: readonly { readonly name: string; readonly input: { readonly text: string } }[]
} {
  const step = Math.max(0, ...[...request.matchAll(/\bstep-(\d+)/g)].map(([, number]) => Number(number))) + 1
  const text = `step-${step}`
  if (step > CALLS) return { text, calls: [] }
  return { text, calls: [{ name: 'memory_finding', input: { text: `Train ${step} leaves at ${step}:40.` } }] }
}
