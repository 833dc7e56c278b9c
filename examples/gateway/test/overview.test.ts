import { Agent, request } from 'node:http'
import { manualClock } from '@scoregw/quota-testkit'
import { ownTime } from '@scoregw/server-kit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { SlidingCounts } from '../src/overview/sliding-counts.ts'
import { ADMIN_TOKEN, ENTRY, HOUR_MS, START, type TestGateway, testGateway } from './support/gateway.ts'

const upsert = { body: { musicList: [ENTRY] } }
const admin = { token: ADMIN_TOKEN }

/** The next events of a stream, one after the other. */
function eventsOf(response: Response): () => Promise<unknown> {
  const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  return async () => {
    for (;;) {
      const end = text.indexOf('\n\n')
      if (end !== -1) {
        const lines = text.slice(0, end).split('\n')
        text = text.slice(end + 2)
        const data = lines.find((line) => line.startsWith('data: '))
        if (data !== undefined) return JSON.parse(data.slice(6))
        continue
      }
      const { value, done } = await reader.read()
      if (done) return undefined
      text += value
    }
  }
}

function listen({ gateway }: TestGateway, token = ADMIN_TOKEN): Promise<Response> {
  const headers = { Authorization: `Bearer ${token}` }
  return fetch(`http://127.0.0.1:${gateway.ports.gateway}/admin/overview/events`, { headers })
}

describe('the live overview', () => {
  it('the overview shows outcomes, refusing limits, the rest of shared limits, and the users', async () => {
    const { send, clock } = await testGateway()
    for (const _ of [1, 2, 3, 4]) await send('POST', '/v1/music/upsert', upsert)
    expect((await send('POST', '/v1/music/upsert', upsert)).status).toBe(429)
    expect((await send('GET', '/nowhere')).status).toBe(404)
    clock.advance(1_000)
    const { status, body } = await send('GET', '/admin/overview', admin)
    expect(status).toBe(200)
    const ended = { succeeded: 4, refused: 1, clientError: 1, serverError: 0 }
    expect(body.requests.perSecond).toBe(0.6)
    expect(body.requests.seconds).toHaveLength(60)
    expect(body.requests.seconds.at(-1)).toEqual(ended)
    expect(body.requests.minutes).toHaveLength(60)
    expect(body.requests.minutes.at(-1)).toEqual({ ts: '2026-08-06T14:06:00.000Z', calls: 6, ...ended })
    const limits = [{ name: 'personal-write-1h', count: 1 }]
    expect(body.refusals).toEqual({ since: '2026-08-06T13:57:00.000Z', limits, degraded: 0 })
    expect(body.shared).toContainEqual({
      name: 'site-write-1h',
      limit: 1_500,
      used: 60,
      remaining: 1_440,
      resetAt: '2026-08-06T15:06:26.000Z',
    })
    expect(body.shared).toHaveLength(6)
    expect(body.adaptive).toEqual({ mode: 'normal', isActive: false, factor: 1, min: 0.75, max: 1.5 })
    expect(body.top.spent.write).toEqual([{ userId: 'demo', amount: 60, atLeast: 60 }])
    expect(body.top.refused).toEqual({ read: [], write: [{ userId: 'demo', amount: 1, atLeast: 1 }] })
    expect(body.settings).toEqual({ version: 0, faults: [] })
  })

  it('the overview keeps the outcomes of the last day and week in steps', async () => {
    const { send, clock } = await testGateway()
    for (const _ of [1, 2, 3, 4, 5]) await send('POST', '/v1/music/upsert', upsert)
    clock.advance(3 * HOUR_MS)
    await send('GET', '/nowhere')
    for (const [query, steps, minutes] of [
      ['', 144, 10],
      ['?range=7d', 168, 60],
    ] as const) {
      const { status, body } = await send('GET', `/admin/overview/requests${query}`, admin)
      expect([status, body.series.length]).toEqual([200, steps])
      const [first, second] = body.series
      expect(Date.parse(second.ts) - Date.parse(first.ts)).toBe(minutes * 60_000)
      const filled = body.series.filter(({ calls }: { calls: number }) => calls > 0)
      expect(filled[0]).toMatchObject({ calls: 5, succeeded: 4, refused: 1, clientError: 0, serverError: 0 })
      // Looking is a request too.
      expect(filled[1]).toMatchObject({ ts: body.series.at(-1).ts, refused: 0, clientError: 1, serverError: 0 })
      expect(Date.parse(body.until)).toBe(Date.parse(body.series.at(-1).ts) + minutes * 60_000)
    }
    expect((await send('GET', '/admin/overview/requests?range=1y', admin)).status).toBe(422)
    expect((await send('GET', '/admin/overview/requests')).status).toBe(403)
  })

  it('the overview shows disabled parts and stored settings that aren’t in force', async () => {
    const { send, gateway } = await testGateway()
    const { app } = gateway
    await app.quota.settings.update({ shared: { site: { enabled: false } } })
    const { body } = await send('GET', '/admin/overview', admin)
    expect(body).toMatchObject({ shared: [], disabled: ['site'], settings: { version: 1 } })
  })

  it('the users who spent and were refused the most are summed over the operations of a category', async () => {
    const { send, gateway } = await testGateway()
    const { quota } = gateway.app
    for (const operation of ['user.music', 'user.data', 'music.upsert'] as const) {
      await quota.consume({ subject: 'ann', operation })
    }
    await quota.consume({ subject: 'bob', operation: 'source.lx' })
    for (const operation of ['music.upsert', 'user.clear', 'charge.5'] as const) {
      await quota.consume({ subject: 'bob', operation, cost: 61 })
    }
    const { body } = await send('GET', '/admin/overview', admin)
    expect(body.top.spent).toEqual({
      read: [
        { userId: 'ann', amount: 6, atLeast: 6 },
        { userId: 'bob', amount: 5, atLeast: 5 },
      ],
      write: [{ userId: 'ann', amount: 15, atLeast: 15 }],
    })
    expect(body.top.refused).toEqual({ read: [], write: [{ userId: 'bob', amount: 3, atLeast: 3 }] })
  })

  it('a user who spent little by each operation, and the most by all of a category, is the first', async () => {
    const { send, gateway } = await testGateway()
    const { quota } = gateway.app
    for (const operation of ['user.data', 'user.items'] as const) {
      for (let each = 0; each < 101; each++)
        await quota.consume({ subject: `${operation} ${each}`, operation, cost: 6 })
      await quota.consume({ subject: 'both', operation, cost: 5 })
    }
    const { body } = await send('GET', '/admin/overview', admin)
    expect(body.top.spent.read[0]).toEqual({ userId: 'both', amount: 10, atLeast: 10 })
  })

  it('the overview’s events come immediately and with each tick, for a minute at most', async () => {
    const gateway = await testGateway()
    const response = await listen(gateway)
    expect(response.status).toBe(200)
    expect(response.headers.get('Content-Type')).toBe('text/event-stream; charset=utf-8')
    const next = eventsOf(response)
    expect(await next()).toMatchObject({ at: '2026-08-06T14:06:26.000Z' })
    gateway.clock.advance(1_000)
    // The gateway's own timer sends the next.
    for (;;) {
      const { at } = (await next()) as { at: string }
      if (at === '2026-08-06T14:06:27.000Z') break
    }
    gateway.clock.advance(60_000)
    while ((await next()) !== undefined);
  })

  it('the events end when the credential is revoked or the role is removed', async () => {
    const { gateway, send } = await testGateway()
    const { body: issued } = await send('POST', '/admin/users/second/tokens', { ...admin, body: { label: 'x' } })
    await send('PUT', '/admin/users/second', { ...admin, body: { role: 'admin' } })
    const own = await listen({ gateway } as TestGateway, issued.token)
    const other = await listen({ gateway } as TestGateway)
    expect([own.status, other.status]).toEqual([200, 200])
    const [next, othersNext] = [eventsOf(own), eventsOf(other)]
    await next()
    await send('DELETE', `/admin/users/second/tokens/${issued.id}`, admin)
    // The clock stands still: a stream that is only old would go on for ever.
    while ((await next()) !== undefined);
    expect(await othersNext()).toBeDefined()
    await gateway.app.db.updateTable('users').set({ role: 'player' }).where('id', '=', 'admin').execute()
    while ((await othersNext()) !== undefined);
  })

  it('the events are for a limited number of administrators and end when the gateway stops', async () => {
    const gateway = await testGateway()
    const forbidden = await listen(gateway, 'gw_test-user-0123456789')
    expect([forbidden.status, await forbidden.json()]).toMatchObject([403, { error: 'forbidden' }])
    const responses = await Promise.all(Array.from({ length: 20 }, () => listen(gateway)))
    expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(200))
    const refused = await listen(gateway)
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([409, '30'])
    expect(await refused.json()).toMatchObject({ error: 'conflict' })
    const before = ownTime()
    const stopping = gateway.stop()
    await Promise.all(responses.map((response) => response.text()))
    await stopping
    // Those that listen do not keep it until its patience is over.
    expect(ownTime() - before).toBeLessThan(7_000)
  })
})

describe('HEAD of the events', () => {
  it('HEAD of the events is answered immediately and uses no place', async () => {
    const gateway = await testGateway()
    const { paths } = (await gateway.send('GET', '/openapi.json', { token: null })).body
    const streams = Object.keys(paths).filter(
      (path) => 'text/event-stream' in (paths[path].get?.responses[200].content ?? {}),
    )
    expect(streams).toContain('/admin/overview/events')
    for (const path of streams) {
      // On one connection: the next is answered when the one before has ended.
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      onTestFinished(() => agent.destroy())
      for (let each = 0; each < 25; each++) expect(await head(gateway, path, agent)).toBe(200)
      const { headers } = await gateway.send('HEAD', path, admin)
      const got = await listen(gateway)
      for (const name of ['Content-Type', 'Cache-Control', 'X-Accel-Buffering']) {
        expect(headers.get(name)).toBe(got.headers.get(name))
      }
      expect((await gateway.send('HEAD', path)).status).toBe(403)
      const others = await Promise.all(Array.from({ length: 19 }, () => listen(gateway)))
      expect(others.map(({ status }) => status)).toEqual(Array(19).fill(200))
      // An unread stream keeps its connection until it is collected.
      await Promise.all([got, ...others].map(({ body }) => body?.cancel()))
    }
  })
})

function head({ gateway }: TestGateway, path: string, agent: Agent): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const options = { method: 'HEAD', agent, headers: { Authorization: `Bearer ${ADMIN_TOKEN}` } }
    const sent = request(`http://127.0.0.1:${gateway.ports.gateway}${path}`, options, (res) => {
      res.resume().once('end', () => resolve(res.statusCode))
    })
    sent.once('error', reject).end()
  })
}

describe('counts of the overview', () => {
  it('outcomes cover whole seconds and expire after a minute', async () => {
    const { gateway, clock, send } = await testGateway()
    const seconds = async () => (await send('GET', '/admin/overview', admin)).body.requests
    const none = { succeeded: 0, refused: 0, clientError: 0, serverError: 0 }
    await send('GET', '/me/quota')
    await send('GET', '/nowhere')
    expect((await seconds()).seconds).toEqual(Array(60).fill(none))
    clock.advance(1_000)
    await send('GET', '/me/quota')
    // A clock that steps back.
    clock.advance(-9_000)
    await send('GET', '/me/quota')
    clock.advance(10_000)
    expect((await seconds()).perSecond).toBe(0.4)
    expect((await seconds()).seconds.slice(-3)).toEqual([
      none,
      { ...none, succeeded: 1, clientError: 1 },
      { ...none, succeeded: 2 },
    ])
    clock.advance(10_000)
    expect((await seconds()).perSecond).toBe(0)
    clock.advance(48_000)
    expect((await seconds()).seconds[0]).toEqual({ ...none, succeeded: 1, clientError: 1 })
    clock.advance(1_000)
    expect((await seconds()).seconds[0]).toEqual({ ...none, succeeded: 2 })
    clock.advance(10 ** 9)
    expect((await seconds()).seconds).toEqual(Array(60).fill(none))
    await gateway.stop()
  })

  it('counts move on step by step', () => {
    const { now, advance } = manualClock(START)
    const counts = new SlidingCounts({ steps: 10, stepMs: 60_000, now: now() })
    counts.add('a', now())
    advance(9 * 60_000)
    counts.add('b', now())
    counts.add('b', now())
    counts.add('a', now())
    counts.add('a', now())
    expect(counts.sums(now())).toEqual([
      { name: 'a', count: 3 },
      { name: 'b', count: 2 },
    ])
    expect(counts.before('a', now())).toEqual([1, 0, 0, 0, 0, 0, 0, 0, 0])
    advance(60_000)
    expect(counts.sums(now())).toEqual([
      { name: 'a', count: 2 },
      { name: 'b', count: 2 },
    ])
    expect(counts.before('b', now())).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 2])
    advance(60 * 60_000)
    expect(counts.sums(now())).toEqual([])
  })
})
