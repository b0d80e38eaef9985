import type { OpenAPIHono } from '@hono/zod-openapi'
import { html } from 'hono/html'
import { PlimsollError } from '../../../ports/errors.ts'
import { securityHeaders } from '../../auth/security-headers.ts'
import { answer } from '../../objects/answer.ts'
import type { AppEnv } from '../app-env.ts'
import { endpoint } from '../endpoint.ts'
import { schemas } from '../schemas.ts'

const INFO = {
  title: 'Plimsoll',
  version: '1',
  description: 'Agent memory that never loads past the line: sessions, contexts, facts and chat over HTTP.',
}

/** RapiDoc styles its parts by style attributes; nothing comes from elsewhere. */
const DOCS_POLICY = {
  defaultSrc: ["'none'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'", "'unsafe-inline'"],
  imgSrc: ["'self'", 'data:'],
  connectSrc: ["'self'"],
  baseUri: ["'none'"],
  formAction: ["'none'"],
}

/** What needs no account: whether the edge runs, and how it is used. */
export function publicRoutes(app: OpenAPIHono<AppEnv>): void {
  endpoint(
    app,
    { method: 'get', path: '/health', summary: 'Whether the edge runs', answer: schemas.any },
    async ({ context }) => answer({ status: 'ok', ...context.var.settings.health }),
  )
  app.get('/openapi.json', (context) =>
    context.json(
      app.getOpenAPI31Document({
        openapi: '3.1.0',
        info: INFO,
        servers: [{ url: new URL(context.req.url).origin }],
      }),
    ),
  )
  app.get('/docs', securityHeaders({ contentSecurityPolicy: DOCS_POLICY }), (context) => {
    const { docsScript } = context.var.settings
    if (docsScript === undefined)
      throw new PlimsollError('ERR_NOT_FOUND', 'docs: no page of the API is served here')
    return context.html(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Plimsoll API</title>
<script type="module" src="${docsScript}"></script>
</head>
<body>
<rapi-doc spec-url="/openapi.json" render-style="read" theme="light" show-header="false" load-fonts="false"
  regular-font="system-ui, sans-serif" mono-font="ui-monospace, monospace" primary-color="#0b6e99"
  persist-auth="false" allow-server-selection="false" sort-tags="true"></rapi-doc>
</body>
</html>`)
  })
}
