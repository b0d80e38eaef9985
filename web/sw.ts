/**
 * The service worker: keeps this version of the page, and opens it without a network. A newer one
 * waits for the signal to take over.
 */
import { cleanupOutdatedCaches, createHandlerBoundToURL, precacheAndRoute } from 'workbox-precaching'
import { NavigationRoute, registerRoute } from 'workbox-routing'

/** What is seen of the place where it runs: it has no page. */
declare const self: {
  addEventListener(
    type: 'message',
    listener: (event: { readonly data?: { readonly type?: string } }) => void,
  ): void
  skipWaiting(): Promise<void>
}
/** Put here by `service-worker.ts`. */
declare const FILES: { url: string; revision: string | null }[]

/** What the edge answers itself. */
const EDGE = /^\/(?:v1|mcp|health|docs|openapi\.json)(?:\/|$)/

self.addEventListener('message', ({ data }) => {
  if (data?.type === 'SKIP_WAITING') void self.skipWaiting()
})
precacheAndRoute(FILES)
cleanupOutdatedCaches()
registerRoute(new NavigationRoute(createHandlerBoundToURL('index.html'), { denylist: [EDGE] }))
