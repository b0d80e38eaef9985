import lighthouse, { type RunnerResult } from 'lighthouse'

export interface Verdict {
  readonly title: string
  /** 0 to 100. */
  readonly score: number
  /** What it is less than 100 for. */
  readonly problems: readonly string[]
}

/** What Lighthouse says of a page, by the browser that listens on a port. */
export async function audit(url: string, port: number): Promise<Verdict[]> {
  const result = await lighthouse(url, {
    port,
    logLevel: 'error',
    onlyCategories: ['accessibility', 'best-practices'],
  })
  return verdictsOf(result)
}

export function verdictsOf(result: RunnerResult | undefined): Verdict[] {
  if (!result) throw new Error('Lighthouse gave no result')
  const { categories, audits, runtimeError } = result.lhr
  if (runtimeError) throw new Error(`Lighthouse: ${runtimeError.message}`)
  return Object.values(categories).map(({ title, score, auditRefs }) => {
    const problems = auditRefs.flatMap(({ id, weight }) => {
      const found = audits[id]
      if (!found || weight === 0 || found.score === null || found.score === 1) return []
      return [`${found.title} (${id})`, ...itemsOf(found.details).map((item) => `  ${item}`)]
    })
    if (score === null) problems.push('Lighthouse could not judge it')
    return { title, score: Math.round((score ?? 0) * 100), problems }
  })
}

/** Where it was found, in a line each. */
function itemsOf(details: unknown): string[] {
  const { items = [] } = (details ?? {}) as { items?: readonly Record<string, unknown>[] }
  return items.map((item) => {
    const { node } = item as { node?: { selector?: string; explanation?: string } }
    return node ? `${node.selector}: ${node.explanation?.replaceAll(/\s+/g, ' ')}` : JSON.stringify(item)
  })
}
