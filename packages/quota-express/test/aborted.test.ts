import { once } from 'node:events'
import { createQuota, memoryStore } from '@scoregw/quota'
import { quotaMiddleware } from '@scoregw/quota-express'
import express, { type Response } from 'express'
import { describe, expect, test } from 'vitest'
import { listening, policy } from './support/engine.ts'
import { MATRIX } from './support/matrix.ts'
import { latch, readAll, serve } from './support/server.ts'

/** A client hangs up; the handler then does what it does, and commits 2 of 5 tokens. */
async function hungUp(express: (typeof MATRIX)[number]['express'], doFirst: (res: Response) => unknown) {
  const quota = createQuota({ policy: policy(), store: memoryStore() })
  const logger = listening()
  const metered = quotaMiddleware({ quota, subject: () => 'u1', settle: 'end', abortGraceMs: 50_000, logger })
  const committed = latch<unknown>()
  const app = express()
  app.get('/x', metered.operation('save'), async (req, res) => {
    res.write('half')
    await once(res, 'close')
    await doFirst(res)
    // What has nothing to wait for is done before a later timer.
    await new Promise((resolve) => setTimeout(resolve, 30))
    committed.open(await req.quota?.commit(2).catch((error: unknown) => String(error)))
  })
  const { dial } = await serve(app)
  const socket = await dial()
  socket.write('GET /x HTTP/1.1\r\nHost: a\r\n\r\n')
  await once(socket, 'data')
  socket.destroy()
  const result = await committed.promise
  const used = (await quota.status('u1')).limits['personal-write-1h']?.used
  return { result, used, held: (await quota.holds.list('u1')).length, errors: logger.errors }
}

describe.each([MATRIX[0]!, MATRIX[2]!])('handlers after a disconnect: $title', ({ express }) => {
  test.each<[string, (res: Response) => unknown]>([
    ['commits immediately', () => undefined],
    ['ends its response before committing', (res) => res.end('the rest')],
    ['keeps writing and then ends', (res) => res.write('more') && res.end()],
    ['destroys its response', (res) => res.destroy()],
  ])('a handler that %s can still commit after a disconnect', async (_, doFirst) => {
    expect(await hungUp(express, doFirst)).toEqual({
      result: { charged: 2, uncharged: 0 },
      used: 2,
      held: 0,
      errors: [],
    })
  })
})

test('pipelined requests of one connection share a listener, so Node warns of no leak', async () => {
  const quota = createQuota({ policy: policy(1_000), store: memoryStore() })
  const metered = quotaMiddleware({ quota, subject: () => 'u1', settle: 'end', logger: listening() })
  const listeners: number[] = []
  const all = latch()
  const app = express()
  app.get('/x', metered.operation('save'), async (req, res) => {
    if (listeners.push(req.socket.listenerCount('close')) === 12) all.open()
    await all.promise
    res.end()
  })
  const { dial } = await serve(app)
  const socket = await dial()
  const lines = (fields = '') => `GET /x HTTP/1.1\r\nHost: a\r\n${fields}\r\n`
  socket.write(lines().repeat(11) + lines('Connection: close\r\n'))
  expect((await readAll(socket)).match(/^HTTP\/1.1 200/gm)).toHaveLength(12)
  // The first has its turn, and needs none.
  expect(listeners.slice(1)).toEqual(Array.from({ length: 11 }, () => listeners[0]! + 1))
  expect((await quota.holds.list('u1')).length).toBe(0)
})
