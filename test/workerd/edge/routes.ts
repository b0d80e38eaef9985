import { createApp } from '../../../src/edge/app/create-app.ts'
import { documentOf } from '../../../src/edge/app/document.ts'

/** One route, as OpenAPI writes it. */
export interface Route {
  /** In capitals. */
  readonly method: string
  /** For example `/v1/sessions/{session}`. */
  readonly path: string
}

export const app = createApp(() => {
  throw new Error('only its routes are read')
})

export const document = documentOf(app, '')

export const described: readonly Route[] = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.keys(item as object).map((method) => ({ method: method.toUpperCase(), path })),
)

/** What the router answers, without its middleware and what refuses other methods. */
export const routed: readonly Route[] = app.routes
  .filter(({ method, path, handler }) => handler.length < 2 && (method !== 'ALL' || path.endsWith('/mcp')))
  // What is no POST is refused there by the protocol itself.
  .map(({ method, path }) => ({
    method: method === 'ALL' ? 'POST' : method,
    path: path.replace(/:(\w+)/g, '{$1}'),
  }))

export const nameOf = ({ method, path }: Route): string => `${method} ${path}`

/** Every route and verb that needs to know who calls. */
export const owned: readonly Route[] = described
  .filter(({ path }) => /^\/(v1|mcp)\b/.test(path) && path !== '/v1/guests')
  .filter(({ path }) => !path.startsWith('/v1/operator/'))
  .flatMap(({ method, path }) =>
    path.endsWith('/mcp')
      ? ['GET', 'POST', 'DELETE'].map((verb) => ({ method: verb, path }))
      : [{ method, path }],
  )
