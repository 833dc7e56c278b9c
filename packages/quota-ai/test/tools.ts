import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { createQuota, definePolicy, type SyncQuota } from '@scoregw/quota'
import { z } from 'zod'
import { holdOf, quotaMcp } from '../src/mcp.ts'

export function toolQuota(): SyncQuota<'search' | 'slow'> {
  const policy = definePolicy({
    limits: {
      user: { by: 'user', limit: 20, per: '1h' },
      session: { by: 'session', limit: 10, per: '1h' },
      running: { by: 'session', concurrency: 1, for: 'slow' },
    },
    operations: { search: { cost: 5 }, slow: {} },
  })
  return createQuota({ policy })
}

/** Registers the tools; `slow` works until `work` settles. */
export function guarded(
  server: McpServer,
  quota: SyncQuota<'search' | 'slow'> = toolQuota(),
  work: (signal: AbortSignal) => Promise<unknown> = async () => undefined,
): void {
  const metered = quotaMcp({
    quota,
    subject: ({ authInfo, sessionId = 'stdio' }) => ({ user: authInfo?.clientId ?? 'me', session: sessionId }),
  })
  server.registerTool(
    'search',
    { inputSchema: { text: z.string() } },
    metered('search', async ({ text }) => {
      if (text === 'break') throw new Error('the index is away')
      return { content: [{ type: 'text', text: text.toUpperCase() }], ...(text === 'none' ? { isError: true } : {}) }
    }),
  )
  server.registerTool(
    'slow',
    {},
    metered('slow', async (extra) => {
      await work(extra.signal)
      await holdOf(extra)?.commit(0)
      return { content: [{ type: 'text', text: 'done' }] }
    }),
  )
}
