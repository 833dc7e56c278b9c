import { request } from 'node:http'
import { describe, expect, it } from 'vitest'
import { bucketRange, bucketsOf } from '../src/usage/failure-rate.ts'
import { ADMIN_TOKEN, type Answer, ENTRY, START, type TestGateway, testGateway } from './support/gateway.ts'

const MINUTE_MS = 60_000

const failureRate = ({ send }: TestGateway, query = ''): Promise<Answer> =>
  send('GET', `/admin/usage/failure-rate${query}`, { token: ADMIN_TOKEN })

describe('the failure rate of usage', () => {
  it('the failure rate has 336 aligned half-hours, also without calls', async () => {
    const gateway = await testGateway()
    const { status, body } = await failureRate(gateway)
    expect(status).toBe(200)
    expect(body).toMatchObject({ scope: 'Site', days: 7, bucketMinutes: 30 })
    expect(body.series).toHaveLength(336)
    // The gateway's clock stands at 14:06:26.
    expect(body.until).toBe('2026-08-06T14:30:00.000Z')
    expect(body.since).toBe('2026-07-30T14:30:00.000Z')
    expect(body.series[0]).toEqual({
      ts: '2026-07-30T14:30:00.000Z',
      bucketUnix: Date.UTC(2026, 6, 30, 14, 30) / 1_000,
      calls: 0,
      codeZero: 0,
      serverError: 0,
      clientError: 0,
      businessFail: 0,
      successRate: 0,
      failureRate: 0,
    })
    expect(body.series.at(-1).ts).toBe('2026-08-06T14:00:00.000Z')
  })

  it('the failure rate counts each outcome, except for monitoring, administrators and pages', async () => {
    const gateway = await testGateway({ env: { LXNS_BASE_URL: 'http://127.0.0.1:9', SOURCE_TIMEOUT_MS: '1000' } })
    const { send } = gateway
    const upsert = { body: { musicList: [ENTRY] } }
    for (const _ of [1, 2, 3, 4]) expect((await send('POST', '/v1/music/upsert', upsert)).status).toBe(200)
    expect((await send('POST', '/v1/music/upsert', upsert)).status).toBe(429)
    expect((await send('POST', '/v1/user/music', { token: null })).status).toBe(401)
    expect((await send('GET', '/nowhere')).status).toBe(404)
    for (const path of ['/healthz', '/readyz', '/openapi.json']) {
      expect((await send('GET', path)).status).toBe(200)
    }
    for (const path of ['/', '/reference/', '/reference/swagger-ui.css', '/admin/']) {
      const page = await fetch(`${gateway.gateway.addresses.gateway}${path}`, { headers: { Accept: 'text/html' } })
      expect([path, page.status]).toEqual([path, 200])
    }
    // What an open console requests again and again.
    for (const path of ['/admin/users', '/admin/overview', '/admin/quota/settings', '/metrics']) {
      expect((await send('GET', path, { token: ADMIN_TOKEN })).status).toBe(200)
    }
    expect((await send('GET', '/admin/nowhere', { token: ADMIN_TOKEN })).status).toBe(404)
    expect((await send('GET', '/admin/users')).status).toBe(403)
    // Nobody listens there: a request that could not be forwarded is status 0, though the client gets a 502.
    expect((await send('POST', '/v1/update-lx', { body: { key: 'k' } })).status).toBe(502)
    const { body } = await failureRate(gateway)
    const now = body.series.at(-1)
    expect(now).toMatchObject({ calls: 8, codeZero: 1, serverError: 1, clientError: 3, businessFail: 0 })
    expect(now.failureRate).toBeCloseTo(1 / 8)
    expect(now.successRate).toBeCloseTo(4 / 8)
    const { ts: _ts, bucketUnix: _unix, ...counts } = now
    expect(body.summary).toEqual(counts)
  })

  it('the failure rate shows a failure in its half-hour, and a disconnect as the caller’s fault', async () => {
    const gateway = await testGateway()
    await gateway.send('GET', '/nowhere')
    gateway.clock.advance(3 * 30 * MINUTE_MS)
    const { hostname, port } = new URL(gateway.gateway.addresses.gateway)
    await new Promise<void>((resolve) => {
      const headers = { 'Content-Type': 'application/json', 'Content-Length': 100 }
      const broken = request({ hostname, port, method: 'POST', path: '/v1/user/music', headers })
      broken.on('error', () => resolve())
      broken.write('{')
      broken.on('socket', (socket) => socket.once('connect', () => setImmediate(() => broken.destroy())))
    })
    await expect
      .poll(async () =>
        (await failureRate(gateway)).body.series
          .slice(-4)
          .map(({ clientError }: { clientError: number }) => clientError),
      )
      .toEqual([1, 0, 0, 1])
  })

  it('the failure rate can be read for shorter times and other steps', async () => {
    const gateway = await testGateway()
    const { body } = await failureRate(gateway, '?days=1&bucketMinutes=60')
    expect(body.series).toHaveLength(24)
    for (const query of ['?days=0', '?days=8', '?days=x', '?bucketMinutes=7', '?days=1&days=2']) {
      const { status, body: error } = await failureRate(gateway, query)
      expect([query, status, error.details.length]).toEqual([query, 422, 1])
    }
  })

  it('the failure rate is zero-filled and ordered, whatever is stored', () => {
    const range = bucketRange(START, 1, 30)
    const counts = {
      calls: 2,
      codeZero: 1,
      clientError: 0,
      serverError: 1,
      businessFail: 0,
      refused: 0,
      quotaUnavailable: 0,
    }
    const series = bucketsOf(range, [
      { minute: range.fromMinute, ...counts },
      { minute: range.toMinute - 1, ...counts },
    ])
    expect(series.map(({ calls }) => calls)).toEqual([2, ...Array(46).fill(0), 2])
    expect(series[0]).toMatchObject({ serverError: 2, failureRate: 1, successRate: 0 })
    const steps = series.slice(1).map(({ bucketUnix }, index) => bucketUnix - (series[index]?.bucketUnix ?? 0))
    expect(new Set(steps)).toEqual(new Set([1_800]))
  })
})
