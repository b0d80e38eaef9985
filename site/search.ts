/** The search of the site, asked as its page asks it. */
import { pathToFileURL } from 'node:url'
import MiniSearch from 'minisearch'

/** Names that the search finds nowhere. */
export async function notFound(index: string, names: Iterable<string>): Promise<readonly string[]> {
  const { default: json } = (await import(pathToFileURL(index).href)) as { readonly default: string }
  const search = MiniSearch.loadJSON(json, {
    fields: ['title', 'titles', 'text'],
    storeFields: ['title', 'titles'],
    searchOptions: { fuzzy: 0.2, prefix: true, boost: { title: 4, text: 2, titles: 1 } },
  })
  return [...names].filter(
    (name) =>
      !search.search(name).some(({ title }) => (title as string).toLowerCase().includes(name.toLowerCase())),
  )
}
