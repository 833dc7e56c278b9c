import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createQuota, definePolicy, money } from '@scoregw/quota'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { quotaListener } from '../../code/node-http.ts'

const usd = money('USD')
const policy = definePolicy({
  limits: {
    perMinute: { by: 'user', limit: 10, per: '1m' },
    tokens: { by: 'user', limit: 1_000, of: 'tokens', per: '1m' },
    budget: { by: 'user', limit: usd(2), of: usd, per: '30d' },
  },
  operations: { complete: { cost: { tokens: 100, usd: usd(0.05) } } },
})

type Listener = Parameters<ReturnType<ReturnType<typeof quotaListener>['operation']>>[0]

/** A server of Node's own whose listener is metered by the page's adapter. */
async function served(listener: Listener) {
  const quota = createQuota({ policy })
  const metered = quotaListener({
    quota,
    subject: () => 'ann',
    settle: 'end',
    abortGraceMs: 10,
    abortedAs: 'cancel',
    standardHeaders: 'draft-11',
    cost: ({ headers }) => ({ tokens: Number(headers['x-tokens'] ?? 400) }),
  })
  const server = createServer(metered.operation('complete')(listener))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const used = () => Object.values(quota.statusSync('ann').limits).map((limit) => limit.used)
  return { url: `http://127.0.0.1:${port}/`, port, used }
}

describe('several units on a node:http server', () => {
  test('requests are charged, grow and are committed by unit', async () => {
    const seen: unknown[] = []
    const { url, used } = await served(async (_, res, quota) => {
      seen.push(used())
      await quota?.add({ usd: usd(0.025) } as never)
      seen.push(used())
      await quota?.commit({ tokens: 30 } as never)
      res.end('done')
    })
    expect(await (await fetch(url)).text()).toBe('done')
    expect(seen).toEqual([
      [1, 400, 50_000],
      [1, 400, 75_000],
    ])
    expect(used()).toEqual([1, 30, 75_000])
  })

  test('a refusal names the unit and charges none', async () => {
    const { url, used } = await served((_, res) => res.end('done'))
    const refused = await fetch(url, { headers: { 'X-Tokens': '1001' } })
    expect([refused.status, refused.headers.get('ratelimit-policy')]).toEqual([
      429,
      expect.stringContaining('"tokens";q=1000;qu="tokens"'),
    ])
    expect(await refused.json()).toMatchObject({ quota: { unit: 'tokens', limit: 1_000, requested: 1_001 } })
    expect(used()).toEqual([0, 0, 0])
  })

  test('a failed response and a disconnected caller give every unit back', async () => {
    const listeners: Listener[] = [(_, res) => void res.writeHead(503).end(), (_, res) => void res.flushHeaders()]
    const { url, port, used } = await served((req, res, quota) =>
      listeners[Number(req.headers['x-case'])]!(req, res, quota),
    )
    expect((await fetch(url, { headers: { 'X-Case': '0' } })).status).toBe(503)
    expect(used()).toEqual([0, 0, 0])
    const caller = request({ host: '127.0.0.1', port, headers: { 'X-Case': '1' } })
    caller.on('error', () => undefined).end()
    await once(caller, 'response')
    expect(used()).toEqual([1, 400, 50_000])
    caller.destroy()
    await vi.waitFor(() => expect(used()).toEqual([0, 0, 0]), { timeout: 15_000 })
  })
})
