/**
 * `npm run test:docs`: packs the library, installs it in a fresh project, and checks the types of
 * every block of code in the README and in `docs/` there, each as a module of its own
 * (`blocks.ts`), and of every entry of the package: under three versions of TypeScript and two ways
 * of finding modules, with `skipLibCheck` off. Errors in declarations of other packages are theirs.
 * Needs a registry; about two minutes. `-- memory` checks the pages with that in their name alone.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { type Block, blocksOf, moduleOf, type Platform } from './blocks.ts'
import { packed, project, root, run } from './library.ts'

const COMPILERS = ['5.9', '6.0', '7.0']
const RESOLUTIONS = [
  { module: 'preserve', moduleResolution: 'bundler' },
  { module: 'nodenext', moduleResolution: 'nodenext' },
]
const PLATFORMS: Readonly<Record<Platform, object>> = {
  web: { lib: ['ES2023', 'DOM', 'DOM.Iterable', 'DOM.AsyncIterable'], types: ['node'] },
  workers: { lib: ['ES2023'], types: ['@cloudflare/workers-types'] },
}
/** Entries whose declarations name types of the Workers runtime. */
const IN_WORKERS = ['./durable-object', './cloudflare', './hono', './models', './mcp']
/** What the pages import beside the library and its peers. */
const BESIDE = [
  '@ai-sdk/react',
  '@anthropic-ai/sdk',
  '@langchain/langgraph',
  '@cloudflare/workers-types',
  '@types/node',
  '@types/react',
  'openai',
  'ts-fsrs',
]

interface Lock {
  readonly packages: { readonly [path: string]: { readonly version?: string } }
}

/** A compiler's complaint. */
const COMPLAINT = /^(?:(.+?)\((\d+),\d+\): )?error (TS\d+: .*)$/

function pages(): readonly string[] {
  return ['README.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)].filter((name) =>
    name.endsWith('.md'),
  )
}

/** The folder of a page's modules. */
function folderOf(page: string): string {
  return page.replace(/^docs\//, '').replace(/\.md$/, '')
}

/**
 * Every entry of the package, so that its declarations are checked whether a page imports it or
 * not.
 */
function entries(platform: Platform): string {
  const names = Object.keys(manifest.exports).filter((name) => name !== './package.json')
  const own = names.filter((name) => (platform === 'workers') === IN_WORKERS.includes(name))
  return own.map((name) => `import '${name.replace('.', manifest.name)}'\n`).join('')
}

/** Writes blocks and entries of a platform. @returns the files */
function write(folder: string, platform: Platform, blocks: readonly Block[]): readonly string[] {
  const files = blocks.map((block) => {
    const file = join(folderOf(block.page), block.file)
    mkdirSync(join(folder, folderOf(block.page)), { recursive: true })
    writeFileSync(join(folder, file), moduleOf(block))
    return file
  })
  const every = `every-entry-${platform}.ts`
  writeFileSync(join(folder, every), entries(platform))
  return [...files, every]
}

/**
 * What a compiler says of a project's files, with the place in the page where it is about a block.
 */
function complaints(
  folder: string,
  compiler: string,
  config: string,
  blocks: readonly Block[],
): readonly string[] {
  const tsc = join(folder, 'node_modules', `typescript-${compiler}`, 'bin/tsc')
  let output = ''
  try {
    execFileSync(process.execPath, [tsc, '-p', config, '--pretty', 'false'], {
      cwd: folder,
      encoding: 'utf8',
    })
  } catch (error) {
    output = (error as { stdout: string }).stdout
  }
  return output.split('\n').flatMap((text) => {
    const [, file, line, message = text] = COMPLAINT.exec(text) ?? []
    if (file === undefined) return COMPLAINT.test(text) ? [message] : []
    if (/node_modules\/(?!plimsoll\/)/.test(file)) return []
    const block = blocks.find((one) => file === join(folderOf(one.page), one.file))
    if (!block) return [`${file}:${line}: ${message}`]
    const place = Number(line) - block.prelude.length
    return place > 0
      ? [`${block.page}:${block.line + place - 1}: ${message}`]
      : [`${block.page}:${block.line}: in its prelude, ${block.prelude[Number(line) - 1]}: ${message}`]
  })
}

const asked = process.argv[2] ?? ''
const workplace = mkdtempSync(join(tmpdir(), 'plimsoll-docs-'))
let failures = 0
try {
  // What only tests need is a package of its own.
  const locks = ['test/peers', 'test', ''].map(
    (folder) => JSON.parse(readFileSync(join(root, folder, 'package-lock.json'), 'utf8')) as Lock,
  )
  const packages = Object.assign({}, ...locks.map(({ packages }) => packages)) as Lock['packages']
  const others = [...Object.keys(manifest.peerDependencies), ...BESIDE]
  const beside = others.map((name) => `${name}@${packages[`node_modules/${name}`]?.version}`)
  const compilers = COMPILERS.map((version) => `typescript-${version}@npm:typescript@~${version}.0`)
  run(root, 'npm', 'run', 'build')
  const tarball = packed(workplace, '--ignore-scripts')
  const folder = project(join(workplace, 'project'), tarball, [...beside, ...compilers, '--ignore-scripts'])
  for (const name of ['prelude', 'probes'])
    cpSync(join(import.meta.dirname, name), join(folder, name), { recursive: true })
  const all = pages()
    .filter((page) => page.includes(asked))
    .flatMap((page) => blocksOf(page, readFileSync(join(root, page), 'utf8')))
  for (const { page, line, reason } of all)
    if (reason !== undefined) console.log(`left out  ${page}:${line}: ${reason}`)
  for (const platform of Object.keys(PLATFORMS) as Platform[]) {
    const blocks = all.filter((block) => block.platform === platform && block.reason === undefined)
    const probes =
      asked === '' ? readdirSync(join(folder, 'probes')).filter((file) => file.startsWith(platform)) : []
    const files = [...write(folder, platform, blocks), ...probes.map((file) => `probes/${file}`)]
    for (const resolution of RESOLUTIONS)
      for (const compiler of COMPILERS) {
        const config = `tsconfig.${platform}.json`
        const compilerOptions = {
          target: 'ES2022',
          ...PLATFORMS[platform],
          ...resolution,
          jsx: 'react-jsx',
          strict: true,
          exactOptionalPropertyTypes: true,
          skipLibCheck: false,
          allowImportingTsExtensions: true,
          noEmit: true,
        }
        writeFileSync(join(folder, config), JSON.stringify({ compilerOptions, files }))
        const started = Date.now()
        const found = complaints(folder, compiler, config, blocks)
        const title = `${platform}, ${resolution.moduleResolution}, TypeScript ${compiler}`
        const seconds = ((Date.now() - started) / 1000).toFixed(0)
        console.log(
          `${found.length === 0 ? 'ok      ' : 'FAILED  '}  ${title}: ${blocks.length} blocks, ${seconds} s`,
        )
        for (const one of found) console.log(`  ${one}`)
        failures += found.length
      }
  }
} finally {
  rmSync(workplace, { recursive: true, force: true })
}
process.exitCode = failures === 0 ? 0 : 1
