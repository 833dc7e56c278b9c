import { getEventListeners, once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { quotaMcp } from '../src/mcp.ts'
import { guarded, toolQuota } from './tools.ts'

const opened: (() => unknown)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

function client(): Client {
  const made = new Client({ name: 'test', version: '1.0.0' })
  opened.push(() => made.close())
  return made
}

const search = (caller: Client, text: string) => caller.callTool({ name: 'search', arguments: { text } })

/** A session for each client, as user `ann`. */
async function served(work?: (signal: AbortSignal) => Promise<unknown>) {
  const quota = toolQuota()
  let sessions = 0
  const transports = new Map<string, StreamableHTTPServerTransport>()
  const http: Server = createServer(async (req, res) => {
    let transport = transports.get(String(req.headers['mcp-session-id']))
    if (transport === undefined) {
      const sessionId = `s${++sessions}`
      const made: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => sessionId,
      })
      transports.set(sessionId, made)
      transport = made
      const server = new McpServer({ name: 'tools', version: '1.0.0' })
      guarded(server, quota, work)
      // biome-ignore lint/suspicious/noExplicitAny: the SDK's own types disagree under exactOptionalPropertyTypes
      await server.connect(made as any)
    }
    const auth = { token: '', clientId: 'ann', scopes: [] }
    await transport.handleRequest(Object.assign(req, { auth }), res)
  })
  opened.push(() => {
    http.closeAllConnections()
    http.close()
  })
  await once(http.listen(0, '127.0.0.1'), 'listening')
  const url = new URL(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`)
  async function connected() {
    const made = client()
    const transport = new StreamableHTTPClientTransport(url)
    // biome-ignore lint/suspicious/noExplicitAny: as above
    await made.connect(transport as any)
    return { caller: made, end: () => transport.terminateSession() }
  }
  const used = async (session: string) =>
    Object.values((await quota.status({ user: 'ann', session })).limits).map((limit) => limit?.used)
  return { quota, connected, used }
}

test('a refused MCP tool call over stdio returns an error that the model can read', async () => {
  const caller = client()
  const args = ['--conditions=@scoregw/source', '--import=tsx', new URL('mcp-server.ts', import.meta.url).pathname]
  await caller.connect(new StdioClientTransport({ command: process.execPath, args, cwd: import.meta.dirname }))
  expect(await search(caller, 'one')).toEqual({ content: [{ type: 'text', text: 'ONE' }] })
  await search(caller, 'two')
  const refused = await search(caller, 'three')
  expect(refused).toMatchObject({
    isError: true,
    content: [
      {
        type: 'text',
        text: expect.stringMatching(
          /^Your session's limit is reached: 10 requests per hour\. Try again in 1 hour\. Do not call this tool again before \d{4}-/,
        ),
      },
    ],
    _meta: { 'scoregw/quota': { retryable: true, retryAfterSeconds: expect.any(Number), resetAt: expect.any(String) } },
  })
})

describe('MCP tools over HTTP', () => {
  test('each session has limits of its own, and the user has one limit for all sessions', async () => {
    const { connected, used } = await served()
    const first = await connected()
    await search(first.caller, 'a')
    await search(first.caller, 'b')
    expect((await search(first.caller, 'c')).isError).toBe(true)
    const second = await connected()
    expect((await search(second.caller, 'd')).isError).toBeUndefined()
    expect([await used('s1'), await used('s2')]).toEqual([
      [15, 10, 0],
      [15, 5, 0],
    ])
  })

  test('a tool that throws or returns an error gets its tokens back', async () => {
    const { connected, used } = await served()
    const { caller } = await connected()
    expect(await search(caller, 'break')).toMatchObject({ isError: true, content: [{ text: 'the index is away' }] })
    expect((await search(caller, 'none')).isError).toBe(true)
    expect(await used('s1')).toEqual([0, 0, 0])
  })

  test('a tool call takes a slot, and what the tool commits is its price', async () => {
    const { promise: finished, resolve: finish } = deferred()
    const { connected, used } = await served(() => finished)
    const { caller } = await connected()
    const slow = () => caller.callTool({ name: 'slow' })
    const running = slow()
    await vi.waitFor(async () => expect(await used('s1')).toEqual([1, 1, 1]), { timeout: 30_000 })
    const refused = await slow()
    expect(refused).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('at most 1 can run at the same time') }],
    })
    finish()
    expect(await running).toEqual({ content: [{ type: 'text', text: 'done' }] })
    expect(await used('s1')).toEqual([0, 0, 0])
  })

  test('a session that ends gives back what its tools hold', async () => {
    const { connected, used } = await served(
      (signal) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('the session ended')))),
    )
    const { caller, end } = await connected()
    const running = caller.callTool({ name: 'slow' }).catch(() => undefined)
    await vi.waitFor(async () => expect(await used('s1')).toEqual([1, 1, 1]), { timeout: 30_000 })
    await end()
    await vi.waitFor(async () => expect(await used('s1')).toEqual([0, 0, 0]), { timeout: 30_000 })
    await caller.close()
    await running
  })
})

test('a tool that ignores its abort signal keeps its hold until the hold expires', async () => {
  vi.useFakeTimers()
  opened.push(() => vi.useRealTimers())
  const quota = toolQuota()
  const metered = quotaMcp({ quota, subject: { user: 'ann', session: 's' }, ttlMs: 9_000 })
  const gone = new AbortController()
  const tool = metered('slow', (_extra: { signal: AbortSignal }) => new Promise<object>(() => undefined))
  void tool({ signal: gone.signal })
  const held = async () => (await quota.holds.list({ user: 'ann', session: 's' })).length
  await vi.advanceTimersByTimeAsync(60_000)
  expect(await held()).toBe(1)
  gone.abort()
  await vi.advanceTimersByTimeAsync(9_000)
  expect(await held()).toBe(0)
})

test('quotaMcp() throws without a subject, before any call', () => {
  const nobody = { quota: toolQuota() } as unknown as Parameters<typeof quotaMcp>[0]
  expect(() => quotaMcp(nobody)).toThrow('subject: missing; expected the caller')
})

test('tool calls with one signal share a listener of it', async () => {
  const metered = quotaMcp({ quota: toolQuota(), subject: { user: 'ann', session: 's' } })
  const { signal } = new AbortController()
  const listeners = () => getEventListeners(signal, 'abort').length
  let resolve = (): void => undefined
  const both = new Promise<void>((done) => {
    resolve = done
  })
  let running = 0
  const tool = metered('search', async (_extra: { signal: AbortSignal }) => {
    if (++running === 2) resolve()
    await both
    return { listeners: listeners() }
  })
  expect(await Promise.all([tool({ signal }), tool({ signal })])).toEqual([{ listeners: 1 }, { listeners: 1 }])
  expect(listeners()).toBe(0)
})

test('failed tool calls are charged if the option says so', async () => {
  const quota = toolQuota()
  const metered = quotaMcp({ quota, subject: { user: 'ann', session: 's' }, failedAs: 'commit' })
  const { signal } = new AbortController()
  const tool = metered('search', (_extra: { signal: AbortSignal }) => Promise.reject(new Error('away')))
  await expect(tool({ signal })).rejects.toThrow('away')
  expect((await quota.status({ user: 'ann', session: 's' })).limits.user?.used).toBe(5)
})

test('wrapping a tool with an unknown operation throws', () => {
  const metered = quotaMcp({ quota: toolQuota(), subject: { user: 'ann', session: 's' } })
  expect(() => metered('serch' as 'search', async () => ({}))).toThrow(
    'unknown operation "serch"; did you mean "search"?',
  )
})

function deferred() {
  let resolve: () => void = () => undefined
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
