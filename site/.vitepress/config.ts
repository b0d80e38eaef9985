/** The site: the pages of the repository, in place. See CONTRIBUTING.md, Documentation. */
import { existsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { defineConfig } from 'vitepress'
import manifest from '../../package.json' with { type: 'json' }
import { ranking } from '../ranking.ts'

const root = resolve(import.meta.dirname, '../..')
const repository = manifest.repository.url.replace(/^git\+|\.git$/g, '')

const page = (text: string, link: string) => ({ text, link })
const docs = (text: string, name: string) => page(text, `/docs/${name}`)

export default defineConfig({
  title: 'Plimsoll',
  description: manifest.description,
  lang: 'en',
  srcDir: '..',
  outDir: './dist',
  cacheDir: './.vitepress/cache',
  srcExclude: ['**/node_modules/**', '**/dist/**', '.github/**', '{src,test,bench,web,worker,release}/**'],
  // Addresses of a server that is to be started.
  ignoreDeadLinks: [/^https?:\/\/(localhost|127\.0\.0\.1)/],
  // Its names of languages in blocks of code are too pale to be read (WCAG 2.2, 1.4.3).
  head: [['style', {}, 'html:root { --vp-code-lang-color: var(--vp-c-text-2) }']],
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config(md) {
      // What is no page is in the repository.
      md.core.ruler.push('repository-links', ({ tokens, env }) => {
        const folder = dirname(env.relativePath as string)
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          const href = token.type === 'link_open' ? token.attrGet('href') : null
          if (href === null || /^(\w+:|#|\/)/.test(href) || /\.(md|html)(#|$)/.test(href)) continue
          const path = join(folder, href)
          if (!existsSync(join(root, path))) continue
          const kind = statSync(join(root, path)).isDirectory() ? 'tree' : 'blob'
          token.attrSet('href', `${repository}/${kind}/main/${path}`)
        }
      })
    },
  },
  vite: { publicDir: join(import.meta.dirname, '../public'), server: { fs: { allow: [root] } } },
  themeConfig: {
    search: { provider: 'local', options: { miniSearch: { searchOptions: ranking } } },
    outline: { level: [2, 3] },
    nav: [docs('Start', 'index'), docs('Library', 'library'), page('Reference', '/site/reference/index')],
    sidebar: [
      {
        text: 'Start',
        items: [
          docs('All pages', 'index'),
          page('What it is', '/README'),
          docs('Five minutes: Node', 'start-node'),
          docs('Five minutes: the browser', 'start-browser'),
          docs('Five minutes: the edge', 'start-edge'),
          docs('The ready-made edge', 'quickstart'),
          docs('Stores', 'stores'),
          docs('The command', 'cli'),
        ],
      },
      {
        text: 'Concepts',
        items: [
          docs('A context', 'context'),
          docs('What is stored', 'log'),
          docs('Memory', 'memory'),
          docs('Compaction', 'compaction'),
          docs('Provider caches', 'caches'),
          docs('Sync', 'sync'),
          docs('The home of sync', 'sync-server'),
          docs('Decisions', 'decisions'),
          page('Architecture', '/ARCHITECTURE'),
        ],
      },
      {
        text: 'Guides',
        items: [
          docs('Choosing', 'choosing'),
          docs('A budget for each model', 'models'),
          docs('Streaming', 'streaming'),
          docs('Testing', 'testing'),
          docs('Agents', 'agent'),
          docs('Inside the AI SDK', 'ai-sdk'),
          docs('Bridges', 'bridges'),
          docs('Hooks', 'hooks'),
          docs('The chat widget', 'chat'),
          docs('The assistant', 'app'),
          docs('The client', 'client'),
          docs('Deploying the edge', 'deploy'),
          docs('Operating the edge', 'operate'),
          docs('Several tenants', 'multi-tenant'),
          docs('Encryption', 'encryption'),
          docs('Privacy', 'privacy'),
          docs('A request for erasure', 'erasure'),
          docs('Export', 'export'),
          docs('Features of your own', 'features'),
          docs('The inspector', 'inspector'),
        ],
      },
      {
        text: 'Coming from',
        items: [
          docs('What you have', 'coming-from'),
          page('Five patterns', '/examples/from/README'),
          docs('Other widgets', 'comparison'),
          page('Examples', '/examples/README'),
        ],
      },
      {
        text: 'Reference',
        items: [
          docs('At a glance', 'library'),
          page('Names, by entry', '/site/reference/index'),
          page('HTTP API', '/site/reference/http'),
          docs('Routes of the edge', 'edge'),
          docs('Errors', 'errors'),
          docs('Peers', 'peers'),
        ],
      },
      {
        text: 'Guarantees',
        items: [
          docs('Laws, kills, twins', 'guarantees'),
          docs('Versions and formats', 'stability'),
          page('Security', '/SECURITY'),
        ],
      },
      {
        text: 'Figures',
        items: [docs('Benchmarks', 'benchmarks'), docs('Limits', 'limits')],
      },
      {
        text: 'More',
        items: [docs('Glossary', 'glossary'), page('Changelog', '/CHANGELOG')],
      },
    ],
  },
})
