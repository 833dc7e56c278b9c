import { createQuota } from '@scoregw/quota'
import { waitingQueue } from '@scoregw/quota/waiting'
import { quotaFetch } from '@scoregw/quota-fetch'
import { quotaMiddleware } from '@scoregw/quota-fetch/hono'
import { Hono } from 'hono'
import { expect, test, vi } from 'vitest'

/** The requests that wait, and how to let one go. */
function limited() {
  const quota = createQuota({ limits: { api: { by: 'user', limit: 1, per: '1h' } } })
  const queue = waitingQueue(quota, { maxWaiting: 1 })
  const waiting = (count: number): Promise<void> =>
    vi.waitFor(() => expect(queue.size).toBe(count), { timeout: 15_000, interval: 5 })
  return { quota, waiting }
}

type Handler = (request: Request) => Promise<Response> | Response

const served = (): Response => new Response('served')
const options = { subject: () => 'u1', maxWaitMs: 60_000_000, logger: false } as const

test.each<[string, (quota: ReturnType<typeof limited>['quota']) => Handler]>([
  ['fetch', (quota) => quotaFetch({ quota, ...options })(served) as Handler],
  ['Hono', (quota) => new Hono().use(quotaMiddleware({ quota, ...options })).get('/', served).fetch as Handler],
])('waiting requests leave the queue when their client disconnects: %s', async (_, handlerOf) => {
  const { quota, waiting } = limited()
  const handler = handlerOf(quota)
  const call = async (signal?: AbortSignal): Promise<Response> =>
    handler(new Request('http://localhost/', signal === undefined ? {} : { signal }))
  expect((await call()).status).toBe(200)
  const abort = new AbortController()
  const leaves = call(abort.signal)
  await waiting(1)
  abort.abort()
  await waiting(0)
  expect((await leaves).status).toBe(503)
  const stays = call()
  await waiting(1)
  await quota.reset('u1')
  expect(await (await stays).text()).toBe('served')
  await quota.close()
})
