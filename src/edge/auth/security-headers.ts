import type { Context, MiddlewareHandler } from 'hono'
import { secureHeaders } from 'hono/secure-headers'
import { ownHeaders } from './own-headers.ts'

type Policy = NonNullable<NonNullable<Parameters<typeof secureHeaders>[0]>['contentSecurityPolicy']>

export interface SecurityHeadersOptions {
  /** What a page that is served may load. Default: nothing, since answers are data. */
  readonly contentSecurityPolicy?: Policy
}

const NOTHING: Policy = { defaultSrc: ["'none'"], baseUri: ["'none'"], formAction: ["'none'"] }

/**
 * Headers for answers that hold somebody's memory: they are not sniffed, framed, embedded or
 * stored, and name no referrer. A header that the handler, or the same middleware nearer to it, has
 * set stays; `Cache-Control` only where it says `no-store`.
 */
export function securityHeaders({
  contentSecurityPolicy = NOTHING,
}: SecurityHeadersOptions = {}): MiddlewareHandler {
  const apply = secureHeaders({
    contentSecurityPolicy: { ...contentSecurityPolicy, frameAncestors: ["'none'"] },
    xFrameOptions: 'DENY',
    // Not for subdomains: they are somebody else's to decide.
    strictTransportSecurity: 'max-age=15552000',
    // For browsers that are no more, or for what a document is and data is not.
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
    originAgentCluster: false,
  })
  // The middleware sets the same each time, and costs more than that.
  let all: readonly (readonly [string, string])[] | undefined

  return async function securityHeaders(c, next) {
    await next()
    // The headers of an answer that switches protocols cannot be changed.
    if (c.res.status === 101) return
    const headers = ownHeaders(c)
    if (!headers.get('Cache-Control')?.includes('no-store')) headers.set('Cache-Control', 'no-store')
    all ??= await headersOf(apply)
    for (const [name, value] of all) if (!headers.has(name)) headers.set(name, value)
  }
}

/** What a middleware sets that looks at no request. */
async function headersOf(apply: MiddlewareHandler): Promise<readonly (readonly [string, string])[]> {
  const res = new Response()
  await apply({ res } as Context, async () => undefined)
  return [...res.headers]
}
