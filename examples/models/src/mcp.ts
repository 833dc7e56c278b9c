/** An MCP server of one tool, and a client that calls it too often. Both are in this process. */

import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { createQuota } from '@scoregw/quota'
import { quotaMcp } from '@scoregw/quota-ai/mcp'
import { z } from 'zod'

const quota = createQuota({ limits: { calls: { by: 'user', limit: 2, per: '1h' } } })
const metered = quotaMcp({ quota, subject: ({ sessionId }) => sessionId ?? 'stdio' })

const server = new McpServer({ name: 'weather', version: '1.0.0' })
server.registerTool(
  'weather',
  { description: 'The weather of a city', inputSchema: { city: z.string() } },
  metered('request', async ({ city }) => ({ content: [{ type: 'text', text: `It rains in ${city}.` }] })),
)

const [near, far] = InMemoryTransport.createLinkedPair()
await server.connect(far)
const client = new Client({ name: 'example', version: '1.0.0' })
await client.connect(near)
for (const city of ['Oslo', 'Rome', 'Lima']) {
  const { content } = await client.callTool({ name: 'weather', arguments: { city } })
  const [{ text }] = content as [{ text: string }]
  console.log(text)
}
await client.close()
await quota.close()
