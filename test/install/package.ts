/**
 * `npm run test:package`: packs the library, and looks at the file as those who install it do: its
 * size, publint, and attw for modules (there is no CommonJS). Needs a registry; about a minute.
 */
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packed, project, run } from './library.ts'

/** Most bytes of a packed file: the library's, and that of its chat for pages without a bundler. */
const MOST = { library: 900_000, tag: 350_000 }

const workplace = mkdtempSync(join(tmpdir(), 'plimsoll-package-'))
let failures = 0
function report(name: string, check: () => string): void {
  try {
    console.log(`ok      ${name}: ${check()}`)
  } catch (error) {
    failures++
    const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string }
    console.log(`FAILED  ${name}: ${[message, stdout, stderr].filter(Boolean).join('\n')}`)
  }
}
try {
  const tarball = packed(workplace)
  const sizeOf = (file: string, most: number): string => {
    const { size } = statSync(file)
    if (size > most) throw new Error(`${size} bytes, at most ${most}`)
    return `${size} bytes`
  }
  report('size', () => sizeOf(tarball, MOST.library))
  report('size of the tag', () => sizeOf(packed(workplace, './dist/tag'), MOST.tag))
  const folder = project(join(workplace, 'project'), tarball, ['publint@0.3', '@arethetypeswrong/cli@0.18'])
  report('links of README', () => {
    const readme = readFileSync(join(folder, 'node_modules/plimsoll/README.md'), 'utf8')
    const links = [...readme.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => link)
    const relative = links.filter((link) => !link.startsWith('https://'))
    if (links.length === 0 || relative.length > 0) throw new Error(`relative: ${relative.join(' ')}`)
    return `${links.length} absolute`
  })
  report('scripts of the installation', () => {
    const { scripts } = JSON.parse(readFileSync(join(folder, 'node_modules/plimsoll/package.json'), 'utf8'))
    const run = Object.keys(scripts).filter((name) => /^(?:pre|post)?install$|^prepare$/.test(name))
    if (run.length > 0) throw new Error(`npm would warn of ${run.join(', ')}`)
    return 'none'
  })
  const bin = join(folder, 'node_modules/.bin')
  report('publint --strict', () => {
    run(folder, join(bin, 'publint'), 'run', tarball, '--strict')
    return 'nothing to say'
  })
  report('attw --profile esm-only', () => {
    run(folder, join(bin, 'attw'), tarball, '--profile', 'esm-only')
    return 'nothing to say'
  })
} finally {
  rmSync(workplace, { recursive: true, force: true })
}
process.exitCode = failures === 0 ? 0 : 1
