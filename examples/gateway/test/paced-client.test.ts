import { pacedFetch } from '@scoregw/quota-client'
import { expect, it } from 'vitest'
import { ENTRY, HOUR_MS, testGateway, USER_TOKEN } from './support/gateway.ts'

it('a self-pacing client is never refused over windows of an hour, five hours and a day', async () => {
  const { gateway, clock } = await testGateway()
  const start = clock.now()
  const statuses: number[] = []
  const send: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    statuses.push(response.status)
    return response
  }
  // A wait is over at once, and the gateway's clock has gone on by it.
  const timer = (call: () => void, ms: number) => {
    clock.advance(Math.ceil(ms))
    const soon = setImmediate(call)
    return () => clearImmediate(soon)
  }
  const paced = pacedFetch(send, { maxWaitMs: 48 * HOUR_MS, clock: { now: clock.now, timer } })
  for (let dxScore = 1; dxScore <= 60; dxScore++) {
    const body = JSON.stringify({ musicList: [{ ...ENTRY, dxScore }] })
    const headers = { authorization: `Bearer ${USER_TOKEN}`, 'content-type': 'application/json' }
    await paced(`http://127.0.0.1:${gateway.ports.gateway}/v1/music/upsert`, { method: 'POST', headers, body })
  }
  expect(new Set(statuses)).toEqual(new Set([200]))
  expect(statuses).toHaveLength(60)
  // Four an hour, thirteen in five hours, forty a day: it waited for each.
  expect(clock.now() - start).toBeGreaterThan(24 * HOUR_MS)
})
