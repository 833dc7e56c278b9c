import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createQuota } from '@scoregw/quota'
import { waitingQueue } from '@scoregw/quota/waiting'
import type * as adapter from '@scoregw/quota-express'
import { build } from 'esbuild'
import express from 'express'
import { expect, onTestFinished, test, vi } from 'vitest'

/** The adapter as CommonJS, with a copy of the core of its own. */
async function commonJs(): Promise<typeof adapter> {
  const folder = await mkdtemp(join(tmpdir(), 'quota-two-builds-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const outfile = join(folder, 'adapter.cjs')
  await build({
    stdin: { contents: `export * from '@scoregw/quota-express'`, resolveDir: import.meta.dirname },
    bundle: true,
    outfile,
    format: 'cjs',
    platform: 'node',
    conditions: ['@scoregw/source'],
    external: ['express'],
  })
  return createRequire(import.meta.url)(outfile) as typeof adapter
}

test.each([
  ['made by the app', true],
  ['made by the adapter', false],
])('an engine of one build waits behind an adapter of another, in a queue %s', async (_, isMade) => {
  const { quotaMiddleware, QuotaError } = await commonJs()
  const quota = createQuota({ limits: { api: { by: 'user', limit: 1, per: '1h' } } })
  if (isMade) waitingQueue(quota, { maxWaiting: 1 })
  let waiting = 0
  quota.on('waiting', ({ size }) => {
    waiting = size
  })
  const app = express()
  app.use(quotaMiddleware({ quota, subject: () => 'u1', maxWaitMs: 60_000_000, logger: false }))
  app.get('/', (_req, res) => void res.send('served'))
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await quota.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  expect((await fetch(url)).status).toBe(200)
  const second = fetch(url)
  await vi.waitFor(() => expect(waiting).toBe(1), { timeout: 15_000, interval: 5 })
  // The adapter's copy found the queue that the other copy made, which has one place.
  if (isMade) expect((await fetch(url)).status).toBe(503)
  await quota.reset('u1')
  expect(await (await second).text()).toBe('served')
  const error = await quota.consume({ subject: '', operation: 'request' }).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(QuotaError)
})
