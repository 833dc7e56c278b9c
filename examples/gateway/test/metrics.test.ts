import { describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, ENTRY, testGateway } from './support/gateway.ts'

const upsert = { body: { musicList: [ENTRY] } }

describe('gateway metrics', () => {
  it('metrics count requests by route and decisions by outcome, for administrators', async () => {
    const { send } = await testGateway()
    for (const _ of [1, 2, 3, 4, 5]) await send('POST', '/v1/music/upsert', upsert)
    await send('GET', '/no/such/path/of-player-Kazami')
    const { status, headers, body } = await send('GET', '/metrics', { token: ADMIN_TOKEN })
    expect(status).toBe(200)
    expect(headers.get('Content-Type')).toMatch(/^text\/plain/)
    const text = String(body)
    expect(text).toContain('scoregw_quota_decisions_total{operation="music.upsert",outcome="admitted"} 4')
    expect(text).toContain('scoregw_quota_decisions_total{operation="music.upsert",outcome="refused"} 1')
    expect(text).toContain(
      'http_server_request_duration_seconds_count{method="POST",route="/v1/music/upsert",status="200"} 4',
    )
    expect(text).toContain(
      'http_server_request_duration_seconds_count{method="POST",route="/v1/music/upsert",status="429"} 1',
    )
    expect(text).toContain('route="none",status="404"')
    // Neither what was requested nor who asked.
    expect(text).not.toMatch(/Kazami|demo/)
    expect((await send('GET', '/metrics')).status).toBe(403)
    expect((await send('GET', '/metrics', { token: null })).status).toBe(401)
  })

  it('a metrics port serves only the metrics', async () => {
    const { gateway } = await testGateway({ env: { METRICS_PORT: '0' } })
    const base = `http://127.0.0.1:${gateway.metricsPort}`
    const answer = await fetch(`${base}/metrics`)
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('scoregw_quota_')])
    expect((await fetch(`${base}/metrics`, { method: 'POST' })).status).toBe(405)
    expect((await fetch(`${base}/me/quota`)).status).toBe(404)
    expect((await testGateway()).gateway.metricsPort).toBeUndefined()
  })
})
