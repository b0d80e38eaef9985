/**
 * `npm run docs`: the site as static files, in `site/dist/`. The reference is made from docstrings
 * and from the OpenAPI document of the edge; all other pages are those of the repository. Then the
 * search of the site is asked for every public name, and plain questions.
 */
import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Application } from 'typedoc'
import manifest from '../package.json' with { type: 'json' }
import { createApp } from '../src/edge/hono.ts'
import { type Description, httpPage } from './http.ts'
import { llms } from './llms.ts'
import { notFound, QUESTIONS } from './search.ts'

const site = import.meta.dirname
const root = resolve(site, '..')
const run = (program: string, ...args: readonly string[]): void => {
  const file = join(site, 'node_modules', program)
  execFileSync(process.execPath, [file, ...args], { cwd: site, stdio: ['ignore', 'inherit', 'inherit'] })
}

/** Sources of the entries of the package, with the names under which they are imported. */
const entries = new Map(
  Object.entries(manifest.exports).flatMap(([path, target]) =>
    typeof target === 'string'
      ? []
      : [[target.default.replace(/^\.\/dist\/|\.js$/g, ''), path.replace('.', manifest.name)] as const],
  ),
)

/** The reference: a page for each entry, under the name that one imports. */
async function reference(): Promise<void> {
  process.chdir(site)
  const app = await Application.bootstrapWithPlugins({
    entryPoints: [...entries.keys()].map((source) => join(root, `${source}.ts`)),
  })
  const project = await app.convert()
  if (!project) throw new Error('typedoc could not read the sources')
  for (const module of project.children ?? []) {
    const name = entries.get(module.name) ?? entries.get(`${module.name}/index`)
    if (!name) throw new Error(`the package has no entry of the source ${module.name}`)
    module.name = name
  }
  for (const { children } of project.groups ?? []) children.sort((a, b) => (a.name < b.name ? -1 : 1))
  await app.generateOutputs(project)
}

for (const folder of ['reference', 'dist', 'public'])
  rmSync(join(site, folder), { recursive: true, force: true })
await reference()
const app = createApp(() => ({ objects: {} as never, authenticate: async () => undefined }))
const description = (await (await app.request('/openapi.json', {}, {})).json()) as Description
writeFileSync(join(site, 'reference/http.md'), httpPage(description))
mkdirSync(join(site, 'public'))
writeFileSync(join(site, 'public/llms.txt'), llms(root))
writeFileSync(join(site, 'public/openapi.json'), JSON.stringify(description))
run('vitepress/bin/vitepress.js', 'build', '.')
writeFileSync(
  join(site, 'dist/index.html'),
  '<!doctype html><html lang="en"><title>Plimsoll</title><meta http-equiv="refresh" content="0; url=docs/index.html"><a href="docs/index.html">Plimsoll</a></html>',
)
const [index = ''] = globSync(join(site, 'dist/assets/chunks/@localSearchIndexroot.*.js'))
const names = new Set<string>()
for (const file of globSync(join(site, 'reference/**/*.md')))
  for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(/^### ~*([A-Za-z_$][\w$]*)/gm))
    names.add(name)
const missing = await notFound(index, names)
console.log(
  `${names.size} names and ${QUESTIONS.length} questions, ${missing.length} of which the search does not find`,
)
for (const name of missing) console.error(`not found: ${name}`)
process.exitCode = missing.length === 0 && names.size > 500 ? 0 : 1
