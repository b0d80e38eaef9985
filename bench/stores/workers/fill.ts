import type { Fill } from '../edge-orders.ts'
import type { PlainMessage } from '../messages.ts'

/** Answers a `PUT` to any path that ends in the name of an object. */
export async function answerFill(
  request: Request,
  fill: (name: string, order: Fill) => Promise<void>,
): Promise<Response> {
  await fill(nameIn(request.url), await request.json<Fill>())
  return new Response('filled')
}

/** What a peer's object can be asked for. */
interface Log {
  call(messages: readonly PlainMessage[]): Promise<string>
  fill(order: Fill): Promise<void>
}

/** Answers a peer's requests: a fill, or one call at the path that ours has. */
export async function answer(request: Request, log: (name: string) => Log): Promise<Response> {
  if (request.method === 'PUT') return answerFill(request, (name, order) => log(name).fill(order))
  const { pathname } = new URL(request.url)
  const [, , , name = ''] = pathname.split('/')
  const { messages } = await request.json<{ messages: PlainMessage[] }>()
  const rows = await log(name).call(messages)
  return new Response(rows, { headers: { 'Content-Type': 'application/json' } })
}

/** The last part of a path. */
export function nameIn(url: string): string {
  return url.slice(url.lastIndexOf('/') + 1)
}
