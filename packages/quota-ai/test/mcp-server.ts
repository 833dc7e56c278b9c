// A server of two tools over stdio, for a client that starts it.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { guarded } from './tools.ts'

const server = new McpServer({ name: 'tools', version: '1.0.0' })
guarded(server)
await server.connect(new StdioServerTransport())
