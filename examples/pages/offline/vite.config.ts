import { resolve } from 'node:path'
import { defineConfig } from 'vite'
import { VitePWA } from 'vite-plugin-pwa'
import { source } from '../../../test/source.ts'

// An app of yours needs no aliases: there `plimsoll` is in node_modules.
export default defineConfig({
  root: import.meta.dirname,
  resolve: source,
  build: { outDir: resolve(import.meta.dirname, '../../../dist/offline-assistant'), emptyOutDir: true },
  plugins: [
    VitePWA({
      registerType: 'autoUpdate',
      manifest: false,
      workbox: { globPatterns: ['**/*.{html,js}'], maximumFileSizeToCacheInBytes: 4_000_000 },
    }),
  ],
})
