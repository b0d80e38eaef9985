import { type MemoryToolName, memoryToolSpecs, runMemoryTool } from '../../agent/memory-tools.ts'
import { asText } from '../../kernel/count.ts'
import { isPlimsollError, PlimsollError } from '../../ports/errors.ts'
import { isRecord } from '../../ports/is-record.ts'
import type { Json } from '../../ports/message.ts'
import { checkOptions, checkText, invalid } from '../../text/json.ts'
import { guide, guidePrompt, instructions } from './guide-prompt.ts'
import {
  ERRORS,
  isRequest,
  McpError,
  type McpInfo,
  type McpRequest,
  type McpResponse,
  type McpTransport,
  VERSIONS,
} from './protocol.ts'
import type { McpSession } from './start-resource.ts'
import { readStart, startResource, startTemplate } from './start-resource.ts'
import { toolList } from './tool-list.ts'

export interface MemoryMcpOptions {
  /** Names of the tools that there are. Default: all that the memory has. */
  readonly only?: readonly MemoryToolName[]
  /**
   * Instructions for a client's model when it connects. Default: `sessionStartGuide`, and where the
   * session's start is.
   */
  readonly instructions?: string
  /** As what the server introduces itself. Default: this library. */
  readonly info?: McpInfo
  /** Names a call; never the same twice. Default: a random UUID. */
  readonly newId?: () => string
}

export const MCP_OPTIONS = ['only', 'instructions', 'info', 'newId'] as const
/** Without lists that change, subscriptions, logging, completions or tasks. */
const CAPABILITIES = { tools: {}, resources: {}, prompts: {} }
const INFO: McpInfo = { name: 'plimsoll', title: 'Plimsoll memory', version: '0.1.0' }
/** Characters of a name that an answer repeats. */
const LONGEST_NAME = 64

/**
 * An MCP server that offers one session's memory. Made by {@link memoryMcpServer}.
 */
export class MemoryMcpServer {
  readonly #session: McpSession
  readonly #options: MemoryMcpOptions
  readonly #newId: () => string
  readonly #tools: object[]
  #transport: McpTransport | undefined

  constructor(session: McpSession, options: MemoryMcpOptions = {}) {
    checkOptions('memoryMcpServer', 'options', options, MCP_OPTIONS)
    const { only, info, instructions: text, newId } = options
    if (newId !== undefined && typeof newId !== 'function')
      throw invalid('memoryMcpServer', 'newId', 'must be a function')
    if (text !== undefined) checkText('memoryMcpServer', 'instructions', text)
    if (info !== undefined) {
      checkText('memoryMcpServer', 'info.name', info?.name)
      checkText('memoryMcpServer', 'info.version', info?.version)
    }
    this.#session = session
    this.#options = options
    this.#newId = newId ?? (() => crypto.randomUUID())
    this.#tools = toolList(memoryToolSpecs(session, only))
  }

  /** What it is connected to; undefined: nothing. */
  get transport(): McpTransport | undefined {
    return this.#transport
  }

  /**
   * Answers what comes over a transport of an SDK, until that closes.
   *
   * @throws ERR_CONFLICT: it is connected to another one
   */
  async connect(transport: McpTransport): Promise<void> {
    if (this.#transport)
      throw new PlimsollError('ERR_CONFLICT', 'memoryMcpServer: is connected to a transport already')
    this.#transport = transport
    const { onclose } = transport
    transport.onclose = () => {
      this.#transport = undefined
      onclose?.()
    }
    transport.onmessage = (message: unknown) => {
      if (!isRequest(message)) return
      // A transport that closed meanwhile takes no answer.
      this.answer(message).then((response) => transport.send(response).catch(() => {}))
    }
    await transport.start()
  }

  async close(): Promise<void> {
    await this.#transport?.close()
  }

  /** Never rejects: what goes wrong is said in the response. */
  async answer(request: McpRequest): Promise<McpResponse> {
    const head = { jsonrpc: '2.0', id: request.id } as const
    try {
      return { ...head, result: await this.#result(request) }
    } catch (error) {
      const { code, message, data } = protocolError(error)
      return { ...head, error: { code, message, ...(data !== undefined && { data }) } }
    }
  }

  async #result(request: McpRequest): Promise<object> {
    const { method, params = {} } = request
    switch (method) {
      case 'ping':
        return {}
      case 'initialize':
        return this.#initialize(params)
      case 'tools/list':
        return { tools: onePage(request, this.#tools) }
      case 'tools/call':
        return this.#call(params)
      case 'resources/list':
        return { resources: onePage(request, [startResource]) }
      case 'resources/templates/list':
        return { resourceTemplates: onePage(request, [startTemplate]) }
      case 'resources/read':
        return readStart(this.#session, textOf(params.uri))
      case 'prompts/list':
        return { prompts: onePage(request, [guidePrompt]) }
      case 'prompts/get':
        if (textOf(params.name) === guidePrompt.name) return guide
        throw new McpError(ERRORS.params, 'Prompt not found')
      default:
        throw new McpError(ERRORS.method, 'Method not found')
    }
  }

  #initialize({ protocolVersion }: { readonly protocolVersion?: unknown }): object {
    const asked = textOf(protocolVersion)
    return {
      protocolVersion: VERSIONS.find((version) => version === asked) ?? VERSIONS[0],
      capabilities: CAPABILITIES,
      serverInfo: this.#options.info ?? INFO,
      instructions: this.#options.instructions ?? instructions,
    }
  }

  /** Whatever goes wrong in a tool is for the model to read. */
  async #call(given: { readonly name?: unknown; readonly arguments?: unknown }): Promise<object> {
    const { name, arguments: input = {} } = given
    if (!isRecord(input)) throw new McpError(ERRORS.params, 'Invalid params')
    // Not the request's id: clients count from 1 whenever they connect, and what was forgotten
    // would be taken for remembered.
    const call = { id: this.#newId(), name: textOf(name).slice(0, LONGEST_NAME), input: input as Json }
    const { output, isError = false } = await runMemoryTool(this.#session, call, this.#options.only)
    return { content: [{ type: 'text', text: asText(output) }], isError }
  }
}

/**
 * A server of the Model Context Protocol over a session's memory: the memory's tools, the session's
 * start as a resource, and how to use them as instructions and as a prompt. `connect` it to any
 * transport of an SDK (`@modelcontextprotocol/server` 2, `@modelcontextprotocol/sdk` 1); over HTTP
 * use {@link handleMcpRequest}.
 *
 * What a client's model remembers is a model's word: trust `assistant` at most, and less where the
 * session's newest round holds less. It is never pinned, shared, promoted or in the system section.
 * What that model read elsewhere is not seen here, so it lowers nothing.
 *
 * @throws ERR_INVALID_ARGUMENT (an option, `only` names no tool)
 * @example
 * ```ts
 * import { memoryMcpServer } from 'plimsoll/mcp'
 * import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
 *
 * await memoryMcpServer(memory.session({ userId: 'ada' })).connect(new StdioServerTransport())
 * ```
 */
export function memoryMcpServer(session: McpSession, options?: MemoryMcpOptions): MemoryMcpServer {
  return new MemoryMcpServer(session, options)
}

/** @throws McpError: it is none */
function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new McpError(ERRORS.params, 'Invalid params')
  return value
}

/** All of a list, which has one page: a cursor was never given to anyone. */
function onePage<Item>({ params }: McpRequest, items: Item[]): Item[] {
  if (params?.cursor !== undefined) throw new McpError(ERRORS.params, 'Invalid cursor')
  return items
}

/** What went wrong, with a code but without what an error may hold of a memory's content. */
function protocolError(error: unknown): McpError {
  if (error instanceof McpError) return error
  if (!isPlimsollError(error)) return new McpError(ERRORS.internal, 'Internal error')
  const { code } = error
  const number = code === 'ERR_INVALID_ARGUMENT' ? ERRORS.params : ERRORS.internal
  return new McpError(number, code, { code })
}
