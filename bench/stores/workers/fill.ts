import type { Fill } from '../edge-orders.ts'

/** Answers a `PUT` to any path that ends in the name of an object. */
export async function answerFill(
  request: Request,
  fill: (name: string, order: Fill) => Promise<void>,
): Promise<Response> {
  await fill(nameIn(request.url), await request.json<Fill>())
  return new Response('filled')
}

/** The last part of a path. */
export function nameIn(url: string): string {
  return url.slice(url.lastIndexOf('/') + 1)
}
