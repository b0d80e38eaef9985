import { checkCount, checkOptions } from '../../text/json.ts'
import { MCP_OPTIONS, type MemoryMcpOptions, memoryMcpServer } from './memory-mcp-server.ts'
import { ERRORS, isMessage, isRequest, VERSIONS } from './protocol.ts'
import type { McpSession } from './start-resource.ts'

export interface McpRequestOptions extends MemoryMcpOptions {
  /** Bytes of a body; beyond them status 413. Default 1 MiB. */
  readonly maxBytes?: number
}

const MEBIBYTE = 1_048_576
const MOST_AT_ONCE = 100
/** Of what is wrong with the request itself, and not with what it asks for. */
const REFUSED = -32_000

/**
 * Answers one HTTP request of the Model Context Protocol (streamable HTTP) over a session's memory.
 * Stateless: there is no session id of the protocol, each request is answered by itself, as JSON;
 * so `GET` (a stream of the server's own messages) and `DELETE` have status
 * 405. A body that is no JSON-RPC, or an unknown `MCP-Protocol-Version`, is 400. Who asks, whether
 *   the request's origin may, and whose
 * session it is, is decided before.
 *
 * Never rejects for what a client sends, and never answers it with a status of 500 or above.
 *
 * @param session where it takes work to open, a function that does so: it is called once there is
 * something to answer, and not for what is refused
 * @throws ERR_INVALID_ARGUMENT (an option, `only` names no tool), what `session` throws
 * @example In a Worker:
 * ```ts
 * import { handleMcpRequest } from 'plimsoll/mcp'
 *
 * app.all('/mcp/:session', async (c) => handleMcpRequest(await sessionOf(c), c.req.raw))
 * ```
 */
export async function handleMcpRequest(
  session: McpSession | (() => Promise<McpSession>),
  request: Request,
  options: McpRequestOptions = {},
): Promise<Response> {
  checkOptions('handleMcpRequest', 'options', options, ['maxBytes', ...MCP_OPTIONS])
  const { maxBytes = MEBIBYTE, ...rest } = options
  checkCount('handleMcpRequest', 'maxBytes', maxBytes, 1)
  if (request.method !== 'POST') return new Response(null, { status: 405, headers: { Allow: 'POST' } })
  const { headers } = request
  const accepted = headers.get('Accept') ?? ''
  if (!accepted.includes('application/json') || !accepted.includes('text/event-stream'))
    return refused(406, REFUSED, 'A client must accept application/json and text/event-stream')
  const [type = ''] = (headers.get('Content-Type') ?? '').split(';')
  if (type.trim().toLowerCase() !== 'application/json')
    return refused(415, REFUSED, 'Content-Type must be application/json')
  const text = await textWithin(request, maxBytes)
  if (text === undefined) return refused(413, REFUSED, `A body has at most ${maxBytes} bytes`)
  const body = parsed(text)
  const messages: readonly unknown[] = Array.isArray(body) ? body : [body]
  if (messages.length === 0) return refused(400, ERRORS.request, 'A batch has at least one message')
  if (messages.length > MOST_AT_ONCE)
    return refused(400, ERRORS.request, `A batch has at most ${MOST_AT_ONCE} messages`)
  if (!messages.every(isMessage)) return refused(400, ERRORS.parse, 'Not JSON-RPC')
  const requests = messages.filter(isRequest)
  const isFirst = requests.some(({ method }) => method === 'initialize')
  if (isFirst && messages.length > 1) return refused(400, ERRORS.request, 'initialize comes alone')
  const version = headers.get('MCP-Protocol-Version')
  if (!isFirst && version !== null && !VERSIONS.some((known) => known === version))
    return refused(400, REFUSED, `MCP-Protocol-Version must be one of ${VERSIONS.join(', ')}`)
  // Between requests nothing goes on that a notification could be about, and this server asks
  // nothing, so a response is to nothing either.
  if (requests.length === 0) return new Response(null, { status: 202 })
  const server = memoryMcpServer(typeof session === 'function' ? await session() : session, rest)
  const answers = await Promise.all(requests.map((one) => server.answer(one)))
  return Response.json(answers.length === 1 ? answers[0] : answers)
}

function refused(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status })
}

/** A body's text; undefined: it is longer. Nothing is read beyond that. */
async function textWithin({ body }: Request, maxBytes: number): Promise<string | undefined> {
  if (!body) return ''
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for (const reader = body.getReader(); ; ) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    bytes += value.length
    if (bytes > maxBytes) {
      await reader.cancel()
      return undefined
    }
    text += decoder.decode(value, { stream: true })
  }
}

/** Undefined: it is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
