import type { Context } from 'hono'

/** Answers whose headers are known to be changeable: to try costs more than to change one. */
const OWN = new WeakSet<Response>()

/**
 * Headers of an answer, to be changed. Those of an answer that came from elsewhere cannot be, so
 * that it is copied; `c.header()` copies every answer, which costs more than all headers together.
 */
export function ownHeaders(context: Context): Headers {
  const { res } = context
  if (!OWN.has(res) && !isOwn(res)) {
    context.res = undefined
    context.res = new Response(res.body, res)
  }
  OWN.add(context.res)
  return context.res.headers
}

function isOwn({ headers }: Response): boolean {
  try {
    // What runs here is nobody's business.
    headers.delete('X-Powered-By')
    return true
  } catch {
    return false
  }
}
