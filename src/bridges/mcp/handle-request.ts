import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { isJSONRPCRequest } from '@modelcontextprotocol/sdk/types.js'
import { checkOptions } from '../../kernel/text/json.ts'
import {
  MCP_OPTIONS,
  type MemoryMcpOptions,
  type MemoryMcpServer,
  memoryMcpServer,
} from './memory-mcp-server.ts'
import type { McpSession } from './start-resource.ts'

export interface McpRequestOptions extends MemoryMcpOptions {
  /** Bytes of a body; beyond them status 413. Default 1 MiB. */
  readonly maxBytes?: number
}

const MEBIBYTE = 1_048_576

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
 * @throws ERR_INVALID_ARGUMENT (an unknown option, `only` names no tool), what `session` throws
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
  if (request.method !== 'POST') return new Response(null, { status: 405, headers: { Allow: 'POST' } })
  const { maxBytes = MEBIBYTE, ...rest } = options
  const transport = new WebStandardStreamableHTTPServerTransport({
    enableJsonResponse: true,
    maxRequestBodySize: maxBytes,
  })
  let server: MemoryMcpServer | undefined
  const connect = async (): Promise<typeof transport.onmessage> => {
    server = memoryMcpServer(typeof session === 'function' ? await session() : session, rest)
    // It would be asked twice: the server calls the earlier listener.
    delete transport.onmessage
    const connecting = server.connect(transport)
    const answer = transport.onmessage
    // At once, since the rest of a batch follows without a wait.
    transport.onmessage = listen
    await connecting
    return answer
  }
  let connected: ReturnType<typeof connect> | undefined
  let fail: (error: unknown) => void = () => {}
  const failed = new Promise<never>((_, reject) => {
    fail = reject
  })
  // Between requests nothing goes on that a notification could be about, and a batch that cancels
  // its own request would wait for ever for the answer. This server asks nothing, so a response is
  // to nothing either.
  const listen: NonNullable<typeof transport.onmessage> = (message, extra) => {
    if (!isJSONRPCRequest(message)) return
    connected ??= connect()
    connected.then((answer) => answer?.(message, extra)).catch(fail)
  }
  transport.onmessage = listen
  try {
    return await Promise.race([transport.handleRequest(request), failed])
  } finally {
    await server?.close()
  }
}
