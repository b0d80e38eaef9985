import axe from 'axe-core'

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** What axe-core finds in a part of a page, WCAG 2.2 AA and its own advice, in a line each. */
export async function violations(element: Element): Promise<readonly string[]> {
  const { violations } = await axe.run(element, {
    runOnly: { type: 'tag', values: TAGS },
    resultTypes: ['violations'],
    // Rules for whole pages, and this is a part of one.
    rules: {
      region: { enabled: false },
      'heading-order': { enabled: false },
      'page-has-heading-one': { enabled: false },
    },
  })
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`),
  )
}
