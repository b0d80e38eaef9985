export { handleMcpRequest, type McpRequestOptions } from './handle-request.ts'
export { type MemoryMcpOptions, type MemoryMcpServer, memoryMcpServer } from './memory-mcp-server.ts'
export type { McpInfo, McpTransport } from './protocol.ts'
export { type McpSession, START_URI, START_URI_TEMPLATE } from './start-resource.ts'
