/**
 * `npm run docs`: the site as static files, in `site/dist/`. The reference is made from docstrings
 * and from the OpenAPI document of the edge; all other pages are those of the repository. Then the
 * search of the site is asked for every public name.
 */
import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import manifest from '../package.json' with { type: 'json' }
import { createApp } from '../src/edge/hono.ts'
import { type Description, httpPage } from './http.ts'
import { llms } from './llms.ts'
import { notFound } from './search.ts'

const site = import.meta.dirname
const root = resolve(site, '..')
const run = (program: string, ...args: readonly string[]): void => {
  const file = join(site, 'node_modules', program)
  execFileSync(process.execPath, [file, ...args], { cwd: site, stdio: ['ignore', 'inherit', 'inherit'] })
}

/** Sources of the entries of the package, by the names under which they are imported. */
const entries = Object.entries(manifest.exports).flatMap(([path, target]) =>
  typeof target === 'string'
    ? []
    : [
        {
          name: path.replace('.', manifest.name),
          source: target.default.replace('./dist/', '../').replace(/\.js$/, '.ts'),
        },
      ],
)

for (const folder of ['reference', 'dist', 'public'])
  rmSync(join(site, folder), { recursive: true, force: true })
run('typedoc/bin/typedoc', ...entries.flatMap(({ source }) => ['--entryPoints', source]))
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
console.log(`${names.size} names, ${missing.length} of which the search does not find`)
for (const name of missing) console.error(`not found: ${name}`)
process.exitCode = missing.length === 0 && names.size > 500 ? 0 : 1
