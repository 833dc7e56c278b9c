import { connect, constants } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { createQuota } from '@scoregw/quota'
import { waitingQueue } from '@scoregw/quota/waiting'
import { quotaFastify } from '@scoregw/quota-fastify'
import fastify from 'fastify'
import { expect, onTestFinished, test, vi } from 'vitest'

/** The requests that wait, and how to let one go. */
function limited() {
  const quota = createQuota({ limits: { api: { by: 'user', limit: 1, per: '1h' } } })
  const queue = waitingQueue(quota, { maxWaiting: 1 })
  const waiting = (count: number): Promise<void> =>
    vi.waitFor(() => expect(queue.size).toBe(count), { timeout: 15_000, interval: 5 })
  return { quota, waiting }
}

test.each([{ http2: false }, { http2: true }])(
  'waiting requests leave the queue when their client disconnects: %j',
  async ({ http2 }) => {
    const { quota, waiting } = limited()
    const served = fastify(http2 ? ({ http2: true } as never) : {})
    await served.register(quotaFastify, { quota, subject: () => 'u1', maxWaitMs: 60_000_000, logger: false })
    served.get('/', async () => 'served')
    await served.listen({ port: 0, host: '127.0.0.1' })
    const { port } = served.server.address() as AddressInfo
    const client = http2 ? overHttp2(port) : overHttp1(port)
    onTestFinished(async () => {
      client.close()
      await served.close()
      await quota.close()
    })
    expect(await client.get().text).toBe('served')
    const leaves = client.get()
    await waiting(1)
    leaves.leave()
    await waiting(0)
    const stays = client.get()
    await waiting(1)
    await quota.reset('u1')
    expect(await stays.text).toBe('served')
  },
)

interface Call {
  readonly text: Promise<string>
  leave(): void
}

function overHttp1(port: number): { get(): Call; close(): void } {
  return {
    get() {
      const abort = new AbortController()
      const text = fetch(`http://127.0.0.1:${port}/`, { signal: abort.signal }).then((response) => response.text())
      text.catch(() => undefined)
      return { text, leave: () => abort.abort() }
    },
    close: () => undefined,
  }
}

/** Calls share a connection, so that only its own stream says that a client left. */
function overHttp2(port: number): { get(): Call; close(): void } {
  const session = connect(`http://127.0.0.1:${port}`)
  return {
    get() {
      const stream = session.request({ ':path': '/' })
      stream.on('error', () => undefined)
      const text = new Promise<string>((resolve) => {
        let all = ''
        stream.setEncoding('utf8')
        stream.on('data', (chunk: string) => {
          all += chunk
        })
        stream.on('end', () => resolve(all))
      })
      stream.end()
      return { text, leave: () => stream.close(constants.NGHTTP2_CANCEL) }
    },
    close: () => session.close(),
  }
}
