/**
 * `npm run release -- 0.2.0 [--dry]`: the version in `package.json` and its lock, the changelog,
 * a commit and a tag; `--dry` says what it would write. Pushing the tag publishes
 * (`.github/workflows/release.yml`). `npm run release -- check` is what that runs first.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import manifest from '../package.json' with { type: 'json' }
import { released } from './changelog.ts'

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { dry: { type: 'boolean', default: false } },
})
const [wanted = '', ...more] = positionals
if (more.length > 0) throw new Error(`Unknown: ${more.join(' ')}`)
if (wanted === 'check') check()
else prepare(wanted)

/** Why this checkout may not be published. */
function faults(): readonly string[] {
  const tag = process.env.RELEASE_TAG ?? ''
  const changelog = readFileSync('CHANGELOG.md', 'utf8')
  return [
    JSON.stringify(manifest).includes('OWNER') && 'package.json names no owner yet: replace OWNER there',
    tag !== '' && tag !== `v${manifest.version}` && `the tag is ${tag}, the version ${manifest.version}`,
    tag !== '' &&
      !changelog.includes(`## [${manifest.version}]`) &&
      `CHANGELOG.md has no ${manifest.version}`,
  ].filter((fault) => fault !== false)
}

function check(): void {
  for (const fault of faults()) console.error(fault)
  if (faults().length > 0) process.exitCode = 1
}

function prepare(version: string): void {
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) throw new Error(`No version: ${version || '(none)'}`)
  const git = (...args: readonly string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim()
  if (git('tag', '--list', `v${version}`) !== '') throw new Error(`There is a tag v${version}`)
  const changelog = released(
    readFileSync('CHANGELOG.md', 'utf8'),
    version,
    new Date().toISOString().slice(0, 10),
  )
  if (values.dry) {
    const [, entries = ''] = changelog.split(`## [${version}]`)
    console.log(`package.json, package-lock.json: ${manifest.version} -> ${version}`)
    console.log(`CHANGELOG.md: ## [${version}]${entries.split(/^## /m)[0]?.split('\n')[0]}`)
    console.log(`README.md, docs/: plimsoll-${manifest.version}.tgz -> plimsoll-${version}.tgz`)
    console.log(`commit: Release ${version}\ntag: v${version}`)
    for (const fault of faults()) console.log(`would not be published: ${fault}`)
    return
  }
  if (git('status', '--porcelain') !== '') throw new Error('Commit first')
  execFileSync('npm', ['version', version, '--no-git-tag-version', '--ignore-scripts'], { stdio: 'inherit' })
  writeFileSync('CHANGELOG.md', changelog)
  for (const page of git('grep', '-l', `plimsoll-${manifest.version}.tgz`, '--', '*.md').split('\n'))
    writeFileSync(
      page,
      readFileSync(page, 'utf8').replaceAll(`plimsoll-${manifest.version}.tgz`, `plimsoll-${version}.tgz`),
    )
  git('commit', '--all', '--message', `Release ${version}`)
  git('tag', '--annotate', `v${version}`, '--message', `Version ${version}`)
  console.log(`Push it: git push origin HEAD v${version}`)
}
