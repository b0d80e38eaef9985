/**
 * `node release/pack.ts`, before `npm pack`: builds `dist/` from nothing, makes it smaller, and
 * writes README and `package.json` as a registry shows them: links are absolute, to the tag of the
 * version, and there is no `prepare`, which builds a checkout: npm warns those who install the file
 * of such scripts. `node release/pack.ts undo` puts both back, and ends what leaves out files of
 * `dist/`, which a file packed without this script would keep to.
 */
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { absolute, relative } from './links.ts'
import { slim } from './slim.ts'

const PREPARE = '"prepare": "'
const KEPT = '"prepare:checkout": "'

const change = (file: string, made: (text: string) => string): void =>
  writeFileSync(file, made(readFileSync(file, 'utf8')))
const restore = (): void => {
  change('README.md', relative)
  change('package.json', (text) => text.replace(KEPT, PREPARE))
  for (const file of globSync('dist/{src,test}/.npmignore')) rmSync(file)
}

const [way, ...more] = process.argv.slice(2)
if ((way !== undefined && way !== 'undo') || more.length > 0) throw new Error('Say nothing, or undo')
// What an interrupted run left would else be built upon.
restore()
if (way === undefined) {
  for (const path of globSync('dist/{*,.*}'))
    if (!path.endsWith('web')) rmSync(path, { recursive: true, force: true })
  const shell = process.platform === 'win32'
  for (const script of ['build:manifest', 'prepare'])
    execFileSync('npm', ['run', '--silent', script], { stdio: ['ignore', 'ignore', 'inherit'], shell })
  await slim()
  // The next build would take what was made smaller for its own.
  for (const file of globSync('dist/.tsbuild/*.tsbuildinfo')) rmSync(file)
  change('README.md', absolute)
  change('package.json', (text) => text.replace(PREPARE, KEPT))
}
