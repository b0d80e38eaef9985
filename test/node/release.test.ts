/** What a release writes, and what a registry shows. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { released } from '../../release/changelog.ts'
import { shake } from '../../release/declarations.ts'
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

describe('the declarations of the package', () => {
  function shaken(files: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    const folder = mkdtempSync(join(tmpdir(), 'plimsoll-declarations-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    mkdirSync(join(folder, 'inner'))
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    const texts = shake([join(folder, 'index.d.ts')])
    return Object.fromEntries([...texts].map(([file, text]) => [file.slice(folder.length + 1), text]))
  }

  it('have what an entry exports and what that is made of, with its comments, and nothing else', () => {
    const needed = `/** What to open. */
export interface Options extends Base {
    readonly host: Host;
}
interface Base {
    readonly made: import('./inner/made.ts').Made;
    readonly elsewhere: typeof elsewhere;
}
/** Opens. */
export declare function open(options: Options): void;
`
    const whole = {
      'index.d.ts': `export { open, type Options as Opened } from './open.ts';
export * from './all.ts';
`,
      'inner/own.d.ts': `export declare class Own {
    #private;
}
`,
      'inner/made.d.ts': 'export type Made = string;\n',
      'inner/left.d.ts': 'export type Left = string;\n',
      'all.d.ts': `export * from './inner/left.ts';
export type All = number;
`,
    }
    const texts = shaken({
      ...whole,
      'open.d.ts': `import type { Host, Unused } from './inner/host.ts';
import { elsewhere, other } from 'elsewhere';
/** Nobody's. */
export declare function inside(unused: Unused, other: typeof other): void;
${needed}`,
      'inner/host.d.ts': `export { type Own as Host } from './own.ts';
export interface Unused {
}
`,
      'inner/nobodys.d.ts': 'export type Nobodys = string;\n',
    })
    expect(texts).toEqual({
      ...whole,
      'open.d.ts': `import type { Host } from './inner/host.ts';
import { elsewhere } from 'elsewhere';
${needed}`,
      'inner/host.d.ts': "export { type Own as Host } from './own.ts';\n",
    })
  })

  it('have all of a file of which all may be taken', () => {
    const texts = shaken({
      'index.d.ts': "import * as own from './inner/own.ts';\nexport declare const all: typeof own;\n",
      'inner/own.d.ts': 'export type A = B;\ntype B = 1;\nexport type C = 2;\n',
    })
    expect(texts['inner/own.d.ts']).toBe('export type A = B;\ntype B = 1;\nexport type C = 2;\n')
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
