import { ownTime } from '@scoregw/server-kit'
import { Redis } from 'ioredis'
import { Redis as Redis5 } from 'ioredis5'
import { describe, expect, it, vi } from 'vitest'
import { useCleanups } from './support/cleanups.ts'
import { type EngineOptions, engineOn, usedBy } from './support/engines.ts'
import { redisTests } from './support/redis-server.ts'

const { later, server, proxy: startProxy } = useCleanups()

const write = { subject: 'u', operation: 'write' } as const
/** For work that a timer starts and that is done a few turns later. */
const SLACK_MS = 50
const unavailable = { code: 'quota_unavailable', cause: { code: 'store_error' } }

describe.runIf(redisTests).each([
  ['ioredis 6', Redis],
  ['ioredis 5', Redis5 as unknown as typeof Redis],
])('lost replies, %s', (_, Client) => {
  /** An engine behind a proxy, and what the server counted. The script is known to the server already. */
  async function behindProxy(options: EngineOptions = {}) {
    const redis = await server()
    const proxy = await startProxy(redis.port)
    const engine = engineOn(proxy.port, later, { Client, deadlineMs: 1_000, ...options })
    const witness = engineOn(redis.port, later, { Client, deadlineMs: 1_000 }).quota
    await engine.store.ready()
    await engine.quota.consume({ ...write, subject: 'another' })
    return { ...engine, redis, proxy, used: () => usedBy(witness, 'u') }
  }

  it('a request whose reply is lost is charged once, and the failure policy decides', async () => {
    const { quota, proxy, used } = await behindProxy({ failurePolicy: { reads: 'open' } })
    const cut = proxy.cutAfterNextRequest()
    await expect(quota.consume(write)).rejects.toMatchObject(unavailable)
    await cut
    await quota.consume({ ...write, operation: 'read' })
    expect(await used()).toBe(1)

    const again = proxy.cutAfterNextRequest()
    expect(await quota.consume({ ...write, operation: 'read' })).toMatchObject({ allowed: true, source: 'fallback' })
    await again
  })

  it('the client’s own retry of a lost command doesn’t charge twice', async () => {
    const { client, quota, redis, proxy, used } = await behindProxy()
    // The trap itself: this client sends a command whose reply was lost again.
    await client.ping()
    const trap = proxy.cutAfterNextRequest()
    await client.incr('trapped')
    await trap
    expect(await redis.cli('GET', 'trapped')).toBe('2')

    await quota.peek(write)
    const cut = proxy.cutAfterNextRequest()
    await expect(quota.consume(write)).rejects.toMatchObject(unavailable)
    await cut
    await quota.peek(write)
    expect(await used()).toBe(1)
  })

  it('a request under an id is sent again after a lost reply and charged once', async () => {
    const { quota, proxy, used } = await behindProxy()
    const cut = proxy.cutAfterNextRequest()
    const reservation = await quota.reserve({ ...write, cost: 5, id: 'order 7' })
    await cut
    expect(reservation).toMatchObject({ status: 'reserved', decision: { source: 'store' } })
    expect(await used()).toBe(5)
    if (reservation.status !== 'reserved') return
    const cutCancel = proxy.cutAfterNextRequest()
    await reservation.cancel()
    await cutCancel
    expect(await used()).toBe(0)
  })

  it('only repeatable operations of a lost batch are sent again', async () => {
    const { quota, proxy, used } = await behindProxy()
    const cut = proxy.cutAfterNextRequest()
    const results = await Promise.allSettled([
      quota.consume(write),
      quota.reserve({ ...write, cost: 10, id: 'a' }),
      quota.consume(write),
      quota.peek(write),
      quota.reserve({ ...write, cost: 100, id: 'b' }),
    ])
    await cut
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
    expect(await used()).toBe(112)
  })

  it('a refund without an id is sent once when its reply is lost', async () => {
    const { quota, proxy, used } = await behindProxy()
    const first = await quota.reserve({ ...write, cost: 5 })
    await quota.reserve({ ...write, cost: 7 })
    if (first.status !== 'reserved') throw new Error('expected a reservation')
    const cut = proxy.cutAfterNextRequest()
    await expect(first.cancel()).rejects.toMatchObject(unavailable)
    await cut
    await quota.peek(write)
    expect(await used()).toBe(7)
  })

  it('a call waits for a lost reply until its deadline and sends nothing twice', async () => {
    const { quota, proxy, used } = await behindProxy({ deadlineMs: 150 })
    proxy.dropReplies(true)
    const began = ownTime()
    const results = await Promise.allSettled([quota.consume(write), quota.reserve({ ...write, cost: 10, id: 'a' })])
    expect(ownTime() - began).toBeLessThan(150 + SLACK_MS)
    expect(results).toMatchObject([
      { status: 'rejected', reason: unavailable },
      { status: 'rejected', reason: unavailable },
    ])
    proxy.dropReplies(false)
    // A repeat under the id reports that it was admitted once.
    const again = () => quota.reserve({ ...write, cost: 10, id: 'a' })
    await vi.waitFor(async () => expect(await again()).toMatchObject({ status: 'duplicate' }), { timeout: 15_000 })
    expect(await used()).toBe(11)
  })

  it('a request that is admitted after its caller was rejected is given back', async () => {
    const { quota, proxy, used } = await behindProxy({ deadlineMs: 500 })
    // What is known of the server's clock gets old, so that late answers would replace it.
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    proxy.replyLatency(800)
    const late = await Promise.allSettled([quota.consume(write), quota.reserve({ ...write, cost: 10, id: 'a' })])
    expect(late.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await vi.waitFor(async () => expect(await used()).toBe(11), { timeout: 15_000, interval: 10 })
    await vi.waitFor(async () => expect(await used()).toBe(0), { timeout: 15_000, interval: 20 })
    await new Promise((resolve) => setTimeout(resolve, 850))
    proxy.replyLatency(0)
    const again = () => quota.reserve({ ...write, cost: 10, id: 'a' })
    await vi.waitFor(async () => expect(await again()).toMatchObject({ status: 'cancelled' }), { timeout: 15_000 })
  })
})
