/** What a release writes, and what a registry shows. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { released } from '../../release/changelog.ts'
import { absolute, relative } from '../../release/links.ts'
import { builtTag } from '../tag.ts'

const root = new URL('../../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')

describe('the changelog of a release', () => {
  const changelog =
    '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A line.\n\n## [0.1.0] - 2026-11-20\n\n- First.\n'

  it('has what was unreleased under the version, and nothing unreleased', () => {
    expect(released(changelog, '0.2.0', '2026-12-01')).toBe(
      changelog.replace('## [Unreleased]\n', '## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n'),
    )
  })

  it('is refused where nothing is new, and where the version was released', () => {
    const done = released(changelog, '0.2.0', '2026-12-01')
    expect(() => released(done, '0.3.0', '2026-12-02')).toThrow('nothing that is new')
    expect(() => released(changelog, '0.1.0', '2026-12-01')).toThrow('has 0.1.0 already')
    expect(() => released('# Changelog\n', '0.2.0', '2026-12-01')).toThrow('has no ## [Unreleased]')
  })
})

describe('links of README', () => {
  it('are absolute in the package, pictures by their bytes, and relative again behind it', () => {
    const shown = absolute(read('README.md'))
    expect(shown).toMatch(/!\[[^\]]+\]\(https:[^)]+\/raw\/v[\d.]+\/docs\/inspector\.png\)/)
    expect(shown).toMatch(/\[errors\]\(https:[^)]+\/blob\/v[\d.]+\/docs\/errors\.md\)/)
    expect([...shown.matchAll(/\]\((?!https:)[^)]*\)/g)]).toEqual([])
    expect(relative(shown)).toBe(read('README.md'))
  })
})

describe('NOTICE', () => {
  it('names the packages of which the tag holds something, with their licences, and no other', {
    timeout: 60_000,
  }, () => {
    const licenses = readFileSync(join(builtTag(), 'LICENSES.txt'), 'utf8')
    const bundled = [...licenses.matchAll(/^(\S+) [\d.]+: (.+)\n=+$/gm)].map(([, name, license = '']) => [
      name,
      license.replace(/^\((.*)\)$/, '$1'),
    ])
    const named = [...read('NOTICE').matchAll(/^ {2}(\S+) +(.+)$/gm)].map(([, name, license]) => [
      name,
      license,
    ])
    expect(named).toEqual(bundled.filter(([name]) => name !== 'plimsoll'))
    expect(named.length).toBeGreaterThan(5)
  })
})
