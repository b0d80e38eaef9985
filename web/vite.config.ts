import { defineConfig } from 'vite'
import { VitePWA } from 'vite-plugin-pwa'
import { bundledLicenses } from '../vite.licenses.ts'

/** `--mode static`: for any host, under any path, with the memory of the browser alone. */
export default defineConfig(({ mode }) => ({
  root: import.meta.dirname,
  base: mode === 'static' ? './' : '/',
  plugins: [
    bundledLicenses(),
    VitePWA({
      registerType: 'prompt',
      injectRegister: false,
      includeAssets: ['icon.svg', 'apple-touch-icon.png'],
      manifest: {
        id: '.',
        name: 'Plimsoll',
        short_name: 'Plimsoll',
        description: 'An assistant whose memory never loads past the line. It works offline.',
        start_url: '.',
        scope: '.',
        display: 'standalone',
        background_color: '#0b1216',
        theme_color: '#0a3f57',
        categories: ['productivity'],
        icons: [
          { src: 'icon-192.png', sizes: '192x192', type: 'image/png' },
          { src: 'icon-512.png', sizes: '512x512', type: 'image/png' },
          { src: 'icon-512.png', sizes: '512x512', type: 'image/png', purpose: 'maskable' },
          { src: 'icon.svg', sizes: 'any', type: 'image/svg+xml' },
        ],
      },
      workbox: {
        globPatterns: ['**/*.{html,js,css,svg,png,webmanifest}'],
        // Of the edge's own page, which needs the edge anyway.
        globIgnores: ['rapidoc-min.js*'],
        navigateFallback: 'index.html',
        navigateFallbackDenylist: [/^\/(?:v1|mcp|health|docs|openapi\.json)(?:\/|$)/],
        maximumFileSizeToCacheInBytes: 4_000_000,
        inlineWorkboxRuntime: true,
        sourcemap: false,
      },
    }),
  ],
}))
