import { createApp } from '../../../src/edge/app/create-app.ts'

/** One route, as OpenAPI writes it. */
export interface Route {
  /** In capitals. */
  readonly method: string
  /** For example `/v1/sessions/{session}`. */
  readonly path: string
}

/** Routes that OpenAPI has no words for, or whose words are another document's. */
export const UNDESCRIBED: readonly Route[] = [
  { method: 'GET', path: '/openapi.json' },
  { method: 'GET', path: '/docs' },
  // A WebSocket.
  { method: 'GET', path: '/v1/sessions/{session}/live' },
  // OpenAI's own, and that of the Model Context Protocol.
  { method: 'POST', path: '/v1/openai/chat/completions' },
  { method: 'POST', path: '/v1/sessions/{session}/openai/chat/completions' },
  { method: 'ALL', path: '/mcp' },
  { method: 'ALL', path: '/v1/sessions/{session}/mcp' },
]

export const app = createApp(() => {
  throw new Error('only its routes are read')
})

export const document = app.getOpenAPI31Document({ openapi: '3.1.0', info: { title: 'x', version: '1' } })

export const described: readonly Route[] = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
  Object.keys(item as object).map((method) => ({ method: method.toUpperCase(), path })),
)

/** What the router answers, without its middleware. */
export const routed: readonly Route[] = app.routes
  .filter(
    ({ method, path }) =>
      !(method === 'ALL' && (path.endsWith('*') || path === '/v1/guests' || path === '/health/ready')),
  )
  .map(({ method, path }) => ({ method, path: path.replace(/:(\w+)/g, '{$1}') }))

export const nameOf = ({ method, path }: Route): string => `${method} ${path}`

/** Every route and verb that needs to know who calls. */
export const owned: readonly Route[] = [...described, ...UNDESCRIBED]
  .filter(
    ({ path }) => /^\/(v1|mcp)\b/.test(path) && path !== '/v1/guests' && !path.startsWith('/v1/operator/'),
  )
  .flatMap(({ method, path }) =>
    method === 'ALL' ? ['GET', 'POST', 'DELETE'].map((verb) => ({ method: verb, path })) : [{ method, path }],
  )
