import type { Middleware } from '../../agent/middleware.ts'

/** What the page shows, at the end of each request. A page that cannot say stops no reply. */
export function pageContextMiddleware(pageContext: () => string | Promise<string>): Middleware {
  return {
    name: 'page',
    order: 30,
    kind: 'enricher',
    start: () => ({
      async beforeModelCall() {
        const text = await pageContext()
        return text === '' ? undefined : { tail: [{ name: 'page', text }] }
      },
    }),
  }
}
