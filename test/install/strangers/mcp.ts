import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { createMemory, facts } from 'plimsoll'
import { memoryMcpServer } from 'plimsoll/mcp'
import { sqliteStore } from 'plimsoll/sqlite'

const [, program = '', text] = process.argv
if (text === undefined) {
  const memory = createMemory({ store: sqliteStore({ path: 'memory.db' }), budget: 16_000, use: [facts()] })
  await memoryMcpServer(memory.session({ userId: 'ada' })).connect(new StdioServerTransport())
} else {
  const client = new Client({ name: 'stranger', version: '1' })
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [program] }))
  await client.callTool({ name: 'memory_finding', arguments: { text } })
  const { contents } = await client.readResource({ uri: 'plimsoll://session/start' })
  console.log(JSON.stringify(contents))
  await client.close()
}
