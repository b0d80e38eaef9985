import type { Context } from 'hono'

/**
 * Headers of an answer, to be changed. Those of an answer that came from elsewhere cannot be, so
 * that it is copied; `c.header()` copies every answer, which costs more than all headers together.
 */
export function ownHeaders(context: Context): Headers {
  const { res } = context
  if (!isOwn(res)) {
    context.res = undefined
    context.res = new Response(res.body, res)
  }
  return context.res.headers
}

function isOwn({ headers }: Response): boolean {
  try {
    headers.set('Cache-Control', headers.get('Cache-Control') ?? 'no-store')
    return true
  } catch {
    return false
  }
}
