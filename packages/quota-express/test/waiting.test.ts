import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createQuota } from '@scoregw/quota'
import { waitingQueue } from '@scoregw/quota/waiting'
import { quotaMiddleware } from '@scoregw/quota-express'
import express from 'express'
import { expect, onTestFinished, test, vi } from 'vitest'

/** The requests that wait, and how to let one go. */
function limited() {
  const quota = createQuota({ limits: { api: { by: 'user', limit: 1, per: '1h' } } })
  const queue = waitingQueue(quota, { maxWaiting: 1 })
  const waiting = (count: number): Promise<void> =>
    vi.waitFor(() => expect(queue.size).toBe(count), { timeout: 15_000, interval: 5 })
  return { quota, waiting }
}

async function serving(maxWaitMs: number) {
  const { quota, waiting } = limited()
  const app = express()
  app.use(quotaMiddleware({ quota, subject: () => 'u1', maxWaitMs, logger: false }))
  app.get('/', (_req, res) => void res.send('served'))
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await quota.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return { quota, waiting, url }
}

test('a request with maxWaitMs waits for its limit and gets no 429', async () => {
  const { quota, waiting, url } = await serving(60_000_000)
  expect((await fetch(url)).status).toBe(200)
  const second = fetch(url)
  await waiting(1)
  // One more than may wait.
  const third = await fetch(url)
  expect([third.status, third.headers.get('retry-after')]).toEqual([503, '5'])
  await quota.reset('u1')
  expect(await (await second).text()).toBe('served')
})

test('a waiting client that disconnects leaves the queue and is charged nothing', async () => {
  const { quota, waiting, url } = await serving(60_000_000)
  await fetch(url)
  const client = new AbortController()
  const leaves = fetch(url, { signal: client.signal })
  await waiting(1)
  client.abort()
  await expect(leaves).rejects.toThrow()
  await waiting(0)
  await quota.reset('u1')
  expect(Object.values((await quota.status('u1')).limits)[0]?.used).toBe(0)
})

test('a request that waited for maxWaitMs is refused as without a queue', async () => {
  const { url } = await serving(0)
  await fetch(url)
  const refused = await fetch(url)
  expect(refused.status).toBe(429)
  expect(await refused.json()).toMatchObject({ error: 'quota_exceeded' })
})

test('waiting requests leave no listener on a kept-alive connection', async () => {
  const { quota } = limited()
  const counts: number[] = []
  const app = express()
  app.use(quotaMiddleware({ quota, subject: (req) => req.path, maxWaitMs: 1_000, logger: false }))
  app.use((req, res) => {
    counts.push(req.socket.listenerCount('close'))
    res.end()
  })
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  for (let i = 0; i < 4; i++) await (await fetch(`http://127.0.0.1:${port}/${i}`)).text()
  expect(new Set(counts).size).toBe(1)
  server.closeAllConnections()
  server.close()
  await quota.close()
})
