import { resolve } from 'node:path'
import { minify } from 'terser'
import { defineConfig, type Plugin } from 'vite'
import manifest from './package.json' with { type: 'json' }
import { absolute } from './release/links.ts'
import { bundledLicenses } from './vite.licenses.ts'
import { leanMarkdown } from './vite.markdown.ts'

/** Leaves out the space of the style sheets, which no minifier looks into. */
const denseStyles: Plugin = {
  name: 'dense-styles',
  transform(code, id) {
    if (!/chat\/(?:element|launcher|markdown)\/(?:panel-|seen-)?style\.ts$/.test(id)) return null
    return {
      code: code
        .replace(/\s*\n\s*/g, ' ')
        .replace(/\s*([{};,])\s*/g, '$1')
        .replace(/: /g, ':')
        .replace(/(?<![\w.#])0(\.\d)/g, '$1'),
      map: null,
    }
  },
}

/** Leaves out what indents the templates of the view: HTML needs no more than a line break. */
const denseTemplates: Plugin = {
  name: 'dense-templates',
  transform: (code, id) =>
    /src\/chat\/(?:element|launcher)\//.test(id) ? { code: code.replace(/\n\s+/g, '\n'), map: null } : null,
}

/** What Vite puts around an import on demand, with the import in it. */
const WRAPPED =
  /[\w$]+\((?:\(\)=>|async\(\)=>\{let(\{[\w$:,]+\})=await )(import\(`[^`]+`\)(?:\.then\([^()]*\))?)(?:;return\1\})?,\[\],import\.meta\.url\)/g

/**
 * No file here has styles or siblings that its browser should fetch ahead: what Vite puts around
 * each import is dead weight.
 */
const plainImports: Plugin = {
  name: 'plain-imports',
  enforce: 'pre',
  load: (id) => (id === '\0vite/preload-helper.js' ? 'export const __vitePreload = (load) => load()' : null),
  generateBundle: {
    order: 'post',
    handler(_, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type === 'chunk') file.code = file.code.replace(WRAPPED, '$2')
      }
    },
  },
}

/** How the bundler's runtime makes what an import on demand gives of a file that holds more. */
const NAMESPACE = /(\w+)=\(\w+,\w+\)=>\{let \w+=\{\};for\(var \w+ in/

/**
 * Of the bundler's runtime, what nearly all files need is in the one that they all import, and
 * not one more to wait for.
 */
const ownRuntime: Plugin = {
  name: 'own-runtime',
  generateBundle: {
    order: 'post',
    handler(_, bundle) {
      const chunks = Object.values(bundle).filter((file) => file.type === 'chunk')
      const runtime = chunks.find(({ name }) => name.endsWith('rolldown-runtime'))
      const opened = chunks.find(({ name }) => name === 'opened')
      const local = runtime && NAMESPACE.exec(runtime.code)?.[1]
      const exported = runtime && new RegExp(`\\b${local} as (\\w+)`).exec(runtime.code)?.[1]
      if (!opened || !exported) this.error('the runtime is another one')
      const imported = new RegExp(`import\\{${exported} as (\\w+)\\}from"./${runtime.fileName}";`)
      for (const file of chunks)
        file.code = file.code.replace(imported, (_, name) =>
          file === opened
            ? `var ${name}=a=>{let b={};for(let c in a)Object.defineProperty(b,c,{get:a[c]});return b};export{${name} as $n};`
            : `import{$n as ${name}}from"./${opened.fileName}";`,
        )
    },
  },
}

/** Vite's own minifier looks once. Shapes that come again and again are what gzip likes. */
const dense: Plugin = {
  name: 'dense',
  generateBundle: {
    order: 'post',
    async handler(_, bundle) {
      for (const file of Object.values(bundle)) {
        // Of small ones it makes nothing smaller that anybody waits for.
        if (file.type !== 'chunk' || ![...Object.keys(TOGETHER), 'edge'].includes(file.name)) continue
        const compress = {
          passes: 4,
          inline: 1,
          sequences: false,
          // Comparisons stay as they are written, which is always the same way round.
          comparisons: false,
          lhs_constants: false,
          join_vars: false,
          keep_fargs: false,
          unsafe_arrows: true,
          // No statement here reads a property for what that does.
          pure_getters: true,
        } as const
        const { code } = await minify(file.code, { module: true, ecma: 2020, compress })
        file.code = code ?? file.code
      }
    },
  },
}

/** Every library is here as it was installed for this build: there is no older one to refuse. */
const ownPeers: Plugin = {
  name: 'own-peers',
  enforce: 'pre',
  transform(code, id) {
    if (!/src\/.*\.ts$/.test(id) || !code.includes('needPeer(')) return null
    return { code: code.replace(/^ *needPeer\(.*\)$/gm, ''), map: null }
  },
}

/** What makes a package of the files: who imports the library does not download them too. */
const ownPackage: Plugin = {
  name: 'own-package',
  generateBundle() {
    const { version, license, author, homepage, repository, bugs } = manifest
    const made = {
      name: 'plimsoll-tag',
      version,
      description: 'The Plimsoll chat widget for pages without a bundler: one script tag',
      keywords: ['chat', 'web-component', 'agent', 'memory'],
      ...{ license, author, homepage, repository, bugs },
      type: 'module',
      exports: { '.': './plimsoll-chat.js', './*': './*' },
    }
    const readme = `# plimsoll-tag

The files of Plimsoll's chat widget for pages without a bundler. Put them into one folder of your server, \`LICENSES.txt\` too, and add:

\`\`\`html
<script type="module" src="/plimsoll/plimsoll-chat.js"></script>
\`\`\`

With a bundler, \`import 'plimsoll-tag'\` registers \`<plimsoll-chat>\`, and the page puts it where it wants it.

[How it works](docs/chat.md)
`
    this.emitFile({ type: 'asset', fileName: 'package.json', source: `${JSON.stringify(made, null, 2)}\n` })
    this.emitFile({ type: 'asset', fileName: 'README.md', source: absolute(readme) })
  },
}

type ModuleInfoOf = (id: string) => { readonly importedIds: readonly string[] } | null

/**
 * What is always loaded together is one file: each file is compressed by itself, and waits for an
 * answer of its own.
 */
const TOGETHER: Readonly<Record<string, readonly string[]>> = {
  launcher: ['tag.ts'],
  // With what sessions need wherever they are kept.
  opened: ['element/opened.ts', 'homes/listed.ts', '../ports/host.ts', '../ports/options.ts'],
  local: ['homes/local.ts'],
  memory: ['homes/local-memory.ts', 'homes/local-reply.ts', 'models/function-model.ts'],
  // Of what an edge needs, all that forgetting here does, too.
  certificate: ['../operations/forget/certificate.ts'],
  // With what is kept of a draft, there as here.
  rows: ['homes/idb-rows.ts'],
  edge: ['homes/edge.ts'],
}

let files: readonly (readonly [string, ReadonlySet<string>])[] | undefined

/** Of the files, the first that needs a module before it runs; null: it falls where it is used. */
function fileOf(id: string, info: ModuleInfoOf): string | null {
  files ??= Object.entries(TOGETHER).map(([name, modules]) => [name, closure(info, modules)])
  const [name = 'launcher'] = files.find(([, modules]) => modules.has(id)) ?? []
  // That is the entry itself.
  return name === 'launcher' ? null : name
}

/** The modules that one of these needs before it runs, itself included. */
function closure(info: ModuleInfoOf, names: readonly string[]): ReadonlySet<string> {
  const found = new Set(names.map((name) => resolve(import.meta.dirname, 'src/chat', name)))
  for (const id of found) for (const imported of info(id)?.importedIds ?? []) found.add(imported)
  return found
}

/**
 * The widget for pages without a bundler: a launcher, and beside it what it loads when it is
 * opened.
 */
export default defineConfig({
  // Wherever the files are put, they find each other.
  base: './',
  publicDir: false,
  plugins: [
    denseStyles,
    denseTemplates,
    leanMarkdown,
    plainImports,
    ownRuntime,
    dense,
    ownPeers,
    ownPackage,
    bundledLicenses(),
  ],
  build: {
    outDir: 'dist/tag',
    emptyOutDir: true,
    target: 'es2023',
    modulePreload: false,
    rolldownOptions: {
      input: { 'plimsoll-chat': resolve(import.meta.dirname, 'src/chat/tag.ts') },
      output: {
        entryFileNames: '[name].js',
        // A language has a file for the view, and one for its panels.
        chunkFileNames: ({ facadeModuleId }) =>
          `plimsoll-${facadeModuleId?.includes('/strings/panels/') ? 'panels-' : ''}[name]-[hash].js`,
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [
            { debugName: 'together', name: (id, context) => fileOf(id, (one) => context.getModuleInfo(one)) },
          ],
        },
      },
    },
  },
})
