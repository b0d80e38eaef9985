import { resolve } from 'node:path'
import vue from '@vitejs/plugin-vue'
import { defineConfig, type Plugin } from 'vite'
import { mapStore } from '../../src/index.ts'
import { source } from '../../test/source.ts'

/** The home that the windows of `unplug/` follow: in memory, so that each start is a new one. */
const home: Plugin = {
  name: 'home',
  configureServer: async ({ middlewares, ssrLoadModule }) => {
    const { createHome } = await ssrLoadModule('../sync-server.ts')
    const server = createHome(mapStore(), new Map([['ada', 'ada']]))
    middlewares.use((request, response, next) => {
      if (request.url?.startsWith('/v1/sync/')) server.emit('request', request, response)
      else next()
    })
  },
}

// An app of yours needs no aliases: there `plimsoll` is in node_modules.
export default defineConfig({
  root: import.meta.dirname,
  // The one tag, where its files are served from.
  publicDir: resolve(import.meta.dirname, '../../dist/tag'),
  // The offline page has a configuration of its own.
  optimizeDeps: { entries: ['react/index.html', 'vue/index.html', 'unplug/index.html'] },
  plugins: [vue(), home],
  resolve: source,
})
