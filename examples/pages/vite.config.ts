import { resolve } from 'node:path'
import vue from '@vitejs/plugin-vue'
import { defineConfig } from 'vite'
import { source } from '../../test/source.ts'

// An app of yours needs no aliases: there `plimsoll` is in node_modules.
export default defineConfig({
  root: import.meta.dirname,
  // The one tag, where its files are served from.
  publicDir: resolve(import.meta.dirname, '../../dist/tag'),
  // The offline page has a configuration of its own.
  optimizeDeps: { entries: ['react/index.html', 'vue/index.html'] },
  plugins: [vue()],
  resolve: source,
})
