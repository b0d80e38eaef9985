import { Protocol } from '@modelcontextprotocol/sdk/shared/protocol.js'
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  GetPromptRequestSchema,
  type GetPromptResult,
  type Implementation,
  InitializeRequestSchema,
  type InitializeResult,
  type JSONRPCRequest,
  LATEST_PROTOCOL_VERSION,
  McpError,
  ReadResourceRequestSchema,
  type ReadResourceResult,
  type ServerCapabilities,
  type ServerNotification,
  type ServerRequest,
  type ServerResult,
  SUPPORTED_PROTOCOL_VERSIONS,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js'
import { type MemoryToolName, memoryToolSpecs, runMemoryTool } from '../../agent/memory-tools.ts'
import { asText } from '../../kernel/count.ts'
import { checkOptions } from '../../kernel/text/json.ts'
import { isPlimsollError } from '../../ports/errors.ts'
import type { Json } from '../../ports/message.ts'
import { guide, guidePrompt, instructions } from './guide-prompt.ts'
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
  readonly info?: Implementation
  /** Names a call; never the same twice. Default: a random UUID. */
  readonly newId?: () => string
}

export const MCP_OPTIONS = ['only', 'instructions', 'info', 'newId'] as const
/** Without lists that change, subscriptions, logging, completions or tasks. */
const CAPABILITIES: ServerCapabilities = { tools: {}, resources: {}, prompts: {} }
const INFO: Implementation = { name: 'plimsoll', title: 'Plimsoll memory', version: '0.1.0' }
/** Characters of a name that an answer repeats. */
const LONGEST_NAME = 64

/** What parses the parameters of a request. */
interface Schema<Value> {
  safeParse(request: unknown): { readonly success: true; readonly data: Value } | { readonly success: false }
}

/**
 * An MCP server that offers one session's memory. Made by {@link memoryMcpServer}; has
 * `connect(transport)` and `close()`.
 *
 * It stands on the SDK's protocol rather than on its `Server`: that one brings a validator which
 * generates code, which Workers do not allow, and which would make all of this four times as large
 * in a bundle.
 */
export class MemoryMcpServer extends Protocol<ServerRequest, ServerNotification, ServerResult> {
  readonly #session: McpSession
  readonly #options: MemoryMcpOptions
  readonly #newId: () => string
  readonly #tools: Tool[]

  constructor(session: McpSession, options: MemoryMcpOptions = {}) {
    checkOptions('memoryMcpServer', 'options', options, MCP_OPTIONS)
    const { only } = options
    super()
    this.#session = session
    this.#options = options
    this.#newId = options.newId ?? (() => crypto.randomUUID())
    this.#tools = toolList(memoryToolSpecs(session, only))
    this.fallbackRequestHandler = async (request) => {
      try {
        return await this.#answer(request)
      } catch (error) {
        throw protocolError(error)
      }
    }
  }

  async #answer(request: JSONRPCRequest): Promise<ServerResult> {
    switch (request.method) {
      case 'initialize':
        return this.#initialize(parsed(InitializeRequestSchema, request).params.protocolVersion)
      case 'tools/list':
        return { tools: onePage(request, this.#tools) }
      case 'tools/call':
        return this.#call(parsed(CallToolRequestSchema, request).params)
      case 'resources/list':
        return { resources: onePage(request, [startResource]) }
      case 'resources/templates/list':
        return { resourceTemplates: onePage(request, [startTemplate]) }
      case 'resources/read':
        return this.#read(parsed(ReadResourceRequestSchema, request).params.uri)
      case 'prompts/list':
        return { prompts: onePage(request, [guidePrompt]) }
      case 'prompts/get':
        return this.#prompt(parsed(GetPromptRequestSchema, request).params.name)
      default:
        throw new McpError(ErrorCode.MethodNotFound, 'Method not found')
    }
  }

  #initialize(asked: string): InitializeResult {
    return {
      protocolVersion: SUPPORTED_PROTOCOL_VERSIONS.includes(asked) ? asked : LATEST_PROTOCOL_VERSION,
      capabilities: CAPABILITIES,
      serverInfo: this.#options.info ?? INFO,
      instructions: this.#options.instructions ?? instructions,
    }
  }

  /** Whatever goes wrong in a tool is for the model to read. */
  async #call(given: {
    readonly name: string
    readonly arguments?: { readonly [name: string]: unknown } | undefined
  }): Promise<CallToolResult> {
    // Not the request's id: clients count from 1 whenever they connect, and what was forgotten
    // would be taken for remembered.
    const call = {
      id: this.#newId(),
      name: given.name.slice(0, LONGEST_NAME),
      input: (given.arguments ?? {}) as Json,
    }
    const { output, isError = false } = await runMemoryTool(this.#session, call, this.#options.only)
    return { content: [{ type: 'text', text: asText(output) }], isError }
  }

  #read(uri: string): Promise<ReadResourceResult> {
    return readStart(this.#session, uri)
  }

  #prompt(name: string): GetPromptResult {
    if (name !== guidePrompt.name) throw new McpError(ErrorCode.InvalidParams, 'Prompt not found')
    return guide
  }

  /**
   * It asks clients for nothing, so that there is nothing that they would have to be able to do.
   */
  protected override assertCapabilityForMethod(): void {}
  protected override assertNotificationCapability(): void {}
  protected override assertRequestHandlerCapability(): void {}
  protected override assertTaskCapability(): void {}
  /**
   * Who has no tasks answers a request that asks for one as any other: so the protocol wants it.
   */
  protected override assertTaskHandlerCapability(): void {}
}

/**
 * A server of the Model Context Protocol over a session's memory: the memory's tools, the session's
 * start as a resource, and how to use them as instructions and as a prompt. `connect` it to any
 * transport of the SDK; over HTTP use {@link handleMcpRequest}.
 *
 * What a client's model remembers is a model's word: trust `assistant` at most, and less where the
 * session's newest round holds less. It is never pinned, shared, promoted or in the system section.
 * What that model read elsewhere is not seen here, so it lowers nothing.
 *
 * @throws ERR_INVALID_ARGUMENT (`only` names no tool)
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

function parsed<Value>(schema: Schema<Value>, request: JSONRPCRequest): Value {
  const result = schema.safeParse(request)
  if (!result.success) throw new McpError(ErrorCode.InvalidParams, 'Invalid params')
  return result.data
}

/** All of a list, which has one page: a cursor was never given to anyone. */
function onePage<Item>({ params }: JSONRPCRequest, items: Item[]): Item[] {
  if (params?.cursor !== undefined) throw new McpError(ErrorCode.InvalidParams, 'Invalid cursor')
  return items
}

/** What went wrong, with a code but without what an error may hold of a memory's content. */
function protocolError(error: unknown): McpError {
  if (error instanceof McpError) return error
  if (!isPlimsollError(error)) return new McpError(ErrorCode.InternalError, 'Internal error')
  const { code } = error
  const number = code === 'ERR_INVALID_ARGUMENT' ? ErrorCode.InvalidParams : ErrorCode.InternalError
  return new McpError(number, code, { code })
}
