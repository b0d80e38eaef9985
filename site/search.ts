/** The search of the site, asked as its page asks it. */
import { pathToFileURL } from 'node:url'
import MiniSearch from 'minisearch'
import { ranking } from './ranking.ts'

/** What people ask in their own words, and pages one of which must be among the first three. */
export const QUESTIONS: readonly (readonly [question: string, page: RegExp])[] = [
  ['how do I delete a user', /erasure|privacy/],
  ['which model window', /models|context/],
  ['encrypt', /encryption/],
  ['what does it cost', /choosing|README/],
  ['offline', /docs\/(app|sync|start-browser)/],
  ['how do I test my agent', /testing/],
  ['GDPR', /erasure/],
  ['ERR_BUDGET_TOO_SMALL', /errors/],
]

/** Names that the search finds nowhere, and questions that it does not answer. */
export async function notFound(index: string, names: Iterable<string>): Promise<readonly string[]> {
  const { default: json } = (await import(pathToFileURL(index).href)) as { readonly default: string }
  const search = MiniSearch.loadJSON(json, {
    fields: ['title', 'titles', 'text'],
    storeFields: ['title', 'titles'],
    searchOptions: ranking,
  })
  const unknown = [...names].filter(
    (name) =>
      !search.search(name).some(({ title }) => (title as string).toLowerCase().includes(name.toLowerCase())),
  )
  const unanswered = QUESTIONS.filter(
    ([question, page]) =>
      !search
        .search(question)
        .slice(0, 3)
        .some(({ id }) => page.test(id as string)),
  )
  return [...unknown, ...unanswered.map(([question]) => question)]
}
