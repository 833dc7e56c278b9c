import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, type TestGateway, testGateway } from '../support/gateway.ts'

/** A path of each extra. */
const PATHS: Readonly<Record<string, string>> = {
  reset: '/admin/quota/adaptive/reset',
  alerts: '/admin/alerts',
  holds: '/admin/users/demo/quota/holds',
  overview: '/admin/overview',
  usage: '/me/usage',
  why: '/admin/users/demo/quota/why',
}
const UPLOAD = {
  sessionId: '3b17827f-ce92-497f-8624-a8eb28cc72b4',
  musicList: [{ musicId: 101, level: 3, achievement: 90, dxScore: 0 }],
}

async function pathsOf({ gateway }: TestGateway): Promise<string[]> {
  const response = await fetch(`${gateway.addresses.gateway}/openapi.json`)
  return Object.keys(((await response.json()) as { paths: object }).paths)
}

describe('extras', () => {
  it('EXTRAS selects extras: the paths, the document and the list follow it', async () => {
    const running = await testGateway({ env: { EXTRAS: 'why, alerts' } })
    const { send } = running
    expect((await send('GET', '/admin/extras', { token: ADMIN_TOKEN })).body).toEqual({ extras: ['alerts', 'why'] })
    for (const [name, path] of Object.entries(PATHS)) {
      const { status } = await send(name === 'why' ? 'POST' : 'GET', path, {
        token: ADMIN_TOKEN,
        ...(name === 'why' ? { body: {} } : {}),
      })
      expect([name, status]).toEqual([name, name === 'alerts' || name === 'why' ? 200 : 404])
    }
    const paths = await pathsOf(running)
    expect(paths).toContain('/admin/alerts')
    expect(paths).not.toContain('/admin/overview')
  })

  it('with EXTRAS=none an upsert ignores session members and stores what was sent', async () => {
    const running = await testGateway({ env: { EXTRAS: 'none' } })
    expect((await pathsOf(running)).filter((path) => path.startsWith('/v1/upsert/'))).toEqual([])
    const { send } = running
    const { status, body } = await send('POST', '/v1/music/upsert', { body: UPLOAD })
    expect([status, body.businessData?.uploadedMusicCount]).toEqual([200, 1])
    expect((await send('GET', '/admin/extras', { token: ADMIN_TOKEN })).body).toEqual({ extras: [] })
  })

  it('extras add pages to every service and routes to the chart preview', async () => {
    for (const [EXTRAS, page, picture] of [
      ['pages,pictures', 200, 200],
      ['none', 401, 404],
    ] as const) {
      const { gateway } = await testGateway({ env: { EXTRAS, CHART_API_KEY: 'mk_test-key-0123456789' } })
      const { addresses } = gateway
      const headers = { Accept: 'text/html', 'X-API-Key': 'mk_test-key-0123456789' }
      const statusOf = async (url: string): Promise<number> => (await fetch(url, { headers })).status
      expect([EXTRAS, await statusOf(`${addresses.gateway}/`)]).toEqual([EXTRAS, page])
      const chart = `${addresses.charts}/api/v1/charts/104:dx:4`
      expect([await statusOf(chart), await statusOf(`${chart}/preview.svg`)]).toEqual([200, picture])
    }
  })

  it('an unknown extra stops the start with the list of known ones and every other fault', async () => {
    const env = { EXTRAS: 'alerts,wy', PORT: 'eighty' }
    await expect(testGateway({ env })).rejects.toThrow(
      [
        'PORT: expected a port number, 0 to 65535 (0: any free port)',
        'EXTRAS: unknown: "wy"; expected all, none, or some of alerts, holds, overview, pages, pictures, reset, uploads, usage, why',
      ].join('\n  '),
    )
  })

  it('the overview contains the parts of the running extras', async () => {
    const overview = await testGateway({ env: { EXTRAS: 'overview' } })
    expect((await overview.send('GET', '/admin/overview', { token: ADMIN_TOKEN })).body).not.toHaveProperty('alerts')
    const both = await testGateway({ env: { EXTRAS: 'overview,alerts' } })
    expect((await both.send('GET', '/admin/overview', { token: ADMIN_TOKEN })).body.alerts).toEqual([])
  })

  it('the tables of extras exist whether they run or not', async () => {
    const { dataDir, stop } = await testGateway({ env: { EXTRAS: 'none' } })
    await stop()
    expect(readdirSync(dataDir)).toContain('gateway.sqlite')
    const later = await testGateway({ dataDir, env: { EXTRAS: 'all' } })
    expect((await later.send('GET', '/admin/alerts', { token: ADMIN_TOKEN })).status).toBe(200)
    expect((await later.send('POST', '/v1/upsert/session', { body: {} })).status).toBe(200)
  })
})
