/**
 * `npm run oracle:freeze`: builds the working sources into `frozen.mjs`, which stands for them from
 * then on.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, type Rolldown } from 'vite'

const folder = import.meta.dirname
const { version } = JSON.parse(readFileSync(join(folder, '../../package.json'), 'utf8')) as {
  version: string
}

const [built] = (await build({
  configFile: false,
  logLevel: 'warn',
  build: {
    write: false,
    minify: true,
    target: 'es2023',
    lib: { entry: join(folder, 'library.ts'), formats: ['es'], fileName: 'frozen' },
    rolldownOptions: { external: ['dexie', /^node:/], output: { codeSplitting: false, minify: true } },
  },
})) as Rolldown.RolldownOutput[]
const [chunk, ...others] = built?.output ?? []
if (!chunk || others.length > 0)
  throw new Error(`one file was to be built, and there are ${others.length + 1}`)
const file = join(folder, 'frozen.mjs')
const caption = `// The library of ${version} in one file, which newer builds are compared with. Made by \`npm run oracle:freeze\`; not to be edited.`
writeFileSync(file, `${caption}\n${chunk.code.trim()}\n`)
console.log(`${file}: ${Math.round(chunk.code.length / 1024)} KiB`)
