const UNRELEASED = '## [Unreleased]\n'

/**
 * A changelog whose unreleased part is a version's, under a new and empty unreleased part.
 *
 * @throws Error: nothing is unreleased, or the version is there
 */
export function released(changelog: string, version: string, date: string): string {
  const [before, rest] = changelog.split(UNRELEASED)
  if (before === undefined || rest === undefined) throw new Error(`CHANGELOG.md has no ${UNRELEASED.trim()}`)
  if (rest.includes(`## [${version}]`)) throw new Error(`CHANGELOG.md has ${version} already`)
  const [entries = ''] = rest.split(/^## /m)
  if (!/^- /m.test(entries)) throw new Error('CHANGELOG.md says of nothing that is new')
  return `${before}${UNRELEASED}\n## [${version}] - ${date}\n${rest}`
}
