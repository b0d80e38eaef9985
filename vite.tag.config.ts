import { resolve } from 'node:path'
import { defineConfig, type Plugin } from 'vite'

/** Leaves out the space of the style sheets, which no minifier looks into. */
const denseStyles: Plugin = {
  name: 'dense-styles',
  transform(code, id) {
    if (!/chat\/(?:element|launcher|markdown)\/(?:panel-)?style\.ts$/.test(id)) return null
    return {
      code: code
        .replace(/\s*\n\s*/g, ' ')
        .replace(/\s*([{};,])\s*/g, '$1')
        .replace(/: /g, ':'),
      map: null,
    }
  },
}

/** No file here has styles or siblings that its browser should fetch ahead: what Vite puts around each import is dead weight. */
const plainImports: Plugin = {
  name: 'plain-imports',
  enforce: 'pre',
  load: (id) => (id === '\0vite/preload-helper.js' ? 'export const __vitePreload = (load) => load()' : null),
}

/** The widget for pages without a bundler: a launcher, and beside it what it loads when it is opened. */
export default defineConfig({
  // Wherever the files are put, they find each other.
  base: './',
  publicDir: false,
  plugins: [denseStyles, plainImports],
  resolve: {
    // The package's own entry shares one Dexie among all on a page, and throws where two versions meet: this copy keeps to itself.
    alias: { dexie: resolve(import.meta.dirname, 'node_modules/dexie/dist/modern/dexie.mjs') },
  },
  build: {
    outDir: 'dist/tag',
    emptyOutDir: true,
    target: 'es2023',
    modulePreload: false,
    rolldownOptions: {
      input: { 'plimsoll-chat': resolve(import.meta.dirname, 'src/chat/tag.ts') },
      output: {
        entryFileNames: '[name].js',
        chunkFileNames: 'plimsoll-[name]-[hash].js',
      },
    },
  },
})
