import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from '@hono/zod-openapi'
import { html } from 'hono/html'
import { PlimsollError } from '../../../ports/errors.ts'
import { securityHeaders } from '../../auth/security-headers.ts'
import { answer } from '../../objects/answer.ts'
import type { AppEnv } from '../app-env.ts'
import { describe } from '../describe.ts'
import { documentOf } from '../document.ts'
import { endpoint } from '../endpoint.ts'

const health = z
  .looseObject({
    status: z.literal('ok'),
    encrypted: z.boolean().optional().openapi({ description: 'Whether what is stored is encrypted.' }),
    demo: z.boolean().optional().openapi({ description: 'Whether a script answers in chats, and no model.' }),
  })
  .openapi({ example: { status: 'ok', encrypted: true } })

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

/** The line on a ship's side; what a browser would otherwise ask for at `/favicon.ico`. */
const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath fill='none' stroke='%230b6e99' stroke-width='2' d='M8 3a5 5 0 1 0 0 10A5 5 0 1 0 8 3M0 8h16'/%3E%3C/svg%3E"

/** What needs no account: whether the edge runs, and how it is used. */
export function publicRoutes(app: OpenAPIHono<AppEnv>): void {
  endpoint(
    app,
    { id: 'getHealth', method: 'get', path: '/health', summary: 'Whether the edge runs', answer: health },
    async ({ context }) => answer({ status: 'ok', ...context.get('settings').health }),
  )
  app.openAPIRegistry.registerComponent('securitySchemes', 'bearer', {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'A token of your issuer’s, or of `POST /v1/guests`. In development none is needed.',
  })
  describe(app, {
    id: 'getOpenApi',
    method: 'get',
    path: '/openapi.json',
    summary: 'This description',
    answer: z.looseObject({ openapi: z.string() }),
  })
  // Where this app is mounted.
  app.get('/openapi.json', (context) =>
    context.json(documentOf(app, new URL('.', context.req.url).href.replace(/\/$/, ''))),
  )
  describe(app, {
    id: 'getDocs',
    method: 'get',
    path: '/docs',
    summary: 'This description as a page',
    media: { answer: 'text/html' },
  })
  app.get('/docs', securityHeaders({ contentSecurityPolicy: DOCS_POLICY }), (context) => {
    const { docsScript } = context.get('settings')
    if (docsScript === undefined)
      throw new PlimsollError('ERR_NOT_FOUND', 'docs: no page of the API is served here')
    return context.html(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Plimsoll API</title>
<link rel="icon" href="${ICON}">
<style>
/* On a narrow screen its text would stand at the very edge, and a button outside of it. */
@media (max-width: 767px) { rapi-doc { box-sizing: border-box; padding: 0 12px } }
rapi-doc::part(wrap-request-btn) { flex-wrap: wrap; row-gap: 8px }
</style>
<script type="module" src="${docsScript}"></script>
</head>
<body>
<rapi-doc spec-url="openapi.json" render-style="read" theme="light" show-header="false" load-fonts="false"
  regular-font="system-ui, sans-serif" mono-font="ui-monospace, monospace" primary-color="#0b6e99"
  persist-auth="false" allow-server-selection="false" sort-tags="true"></rapi-doc>
</body>
</html>`)
  })
}
