import { describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, HOUR_MS, type TestGateway, testGateway } from '../../support/gateway.ts'
import { receiver } from '../../support/receiver.ts'

const PATH = '/admin/alerts/webhook'
const admin = { token: ADMIN_TOKEN }

it('administrators set the webhook, see its secret once, and see what happened to each alert', {
  timeout: 60_000,
}, async () => {
  const { url, received } = await receiver()
  const { send, gateway, log } = await testGateway({ env: { WEBHOOK_ALLOW_PRIVATE: 'true' } })
  expect((await send('GET', PATH, admin)).body).toEqual({ url: null, layers: ['site'], rotatedUntil: null })
  expect((await send('POST', `${PATH}/test`, admin)).status).toBe(404)
  const body = { url: `${url}?key=verysecret`, layers: ['site', 'personal'] }
  const put = await send('PUT', PATH, { ...admin, body })
  expect(put.body).toMatchObject({ ...body, secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/) })
  expect((await send('PUT', PATH, { ...admin, body })).body.secret).toBeNull()
  expect((await send('GET', PATH, admin)).body).toEqual({ ...body, rotatedUntil: null })
  const raced = await send('PUT', PATH, { ...admin, body, headers: { 'If-Match': put.headers.get('ETag') ?? '' } })
  expect(raced.status).toBe(412)
  const rotated = await send('POST', `${PATH}/secret`, admin)
  expect(rotated.body.secret).not.toBe(put.body.secret)

  const { id } = (await send('POST', `${PATH}/test`, admin)).body
  const chore = gateway.app.chores.find(({ what }) => what === 'sending alerts')
  await chore?.run()
  await expect.poll(() => received.length).toBe(1)
  expect(received[0]?.headers['webhook-id']).toBe(id)
  await expect
    .poll(async () => (await send('GET', '/admin/alerts', admin)).body.items)
    .toMatchObject([{ id, type: 'webhook.test', state: 'sent', attempts: 1, lastStatus: 200, data: { by: 'admin' } }])
  expect((await send('GET', '/admin/overview', admin)).body.alerts).toMatchObject([{ id }])

  const audit = (await send('GET', '/admin/audit', admin)).body
  const actions = audit.items.map(({ action }: { action: string }) => action)
  expect(actions.slice(0, 3)).toEqual(['webhook.rotate', 'webhook.change', 'webhook.change'])
  for (const hidden of [put.body.secret, rotated.body.secret, 'verysecret']) {
    expect(JSON.stringify(audit) + log.join('\n')).not.toContain(hidden)
  }

  expect((await send('DELETE', PATH, admin)).status).toBe(204)
  expect((await send('DELETE', PATH, admin)).status).toBe(404)
  expect((await send('PUT', PATH, { ...admin, body })).body.secret).not.toBeNull()
})

it('webhook addresses without https, with a user name, or of the own machine are rejected unless allowed', {
  timeout: 60_000,
}, async () => {
  const { send } = await testGateway()
  for (const url of [
    'http://hooks.example.com/',
    'https://me@hooks.example.com/',
    'ftp://hooks.example.com/',
    'hooks',
  ]) {
    const { status, body } = await send('PUT', PATH, { ...admin, body: { url, layers: [] } })
    expect([url, status, body.details?.[0].path]).toEqual([url, 422, 'url'])
  }
  // Of a name nobody knows before it is asked what it means.
  expect((await send('PUT', PATH, { ...admin, body: { url: 'https://localhost/', layers: [] } })).status).toBe(200)
})

describe('layers with alerts', () => {
  /** Crosses a threshold of 20 users, and with the last of them one of the site. */
  async function cross({ gateway: { app } }: TestGateway): Promise<void> {
    for (let each = 0; each < 20; each++) {
      await app.quota.consume({ subject: `user-${each}`, operation: 'music.upsert', cost: 60 })
    }
  }

  /** The layers that alerts of this instant are of, each once. */
  async function alertedLayers({ gateway, send, clock }: TestGateway): Promise<Set<string>> {
    await gateway.app.chores.find(({ what }) => what === 'writing alerts')?.run()
    const { items } = (await send('GET', '/admin/alerts?limit=100', admin)).body
    const now = new Date(clock.now()).toISOString()
    const ofNow = (items as { at: string; data: { layer: string } }[]).filter(({ at }) => at === now)
    return new Set(ofNow.map(({ data }) => data.layer))
  }

  const body = { url: 'https://example.com/', layers: ['personal'] }

  it('the stored layers apply from the first request after a start', async () => {
    const first = await testGateway()
    await first.send('PUT', PATH, { ...admin, body })
    await first.stop()
    const second = await testGateway({ dataDir: first.dataDir })
    await cross(second)
    expect(await alertedLayers(second)).toEqual(new Set(['personal']))
  })

  it('the webhook’s layers apply immediately, and its removal restores the shared ones', async () => {
    const gateway = await testGateway()
    const { clock, send } = gateway
    await cross(gateway)
    expect(await alertedLayers(gateway)).toEqual(new Set(['site']))
    clock.advance(24 * HOUR_MS)
    await send('PUT', PATH, { ...admin, body })
    await cross(gateway)
    expect(await alertedLayers(gateway)).toEqual(new Set(['personal']))
    clock.advance(24 * HOUR_MS)
    expect((await send('DELETE', PATH, admin)).status).toBe(204)
    await cross(gateway)
    expect(await alertedLayers(gateway)).toEqual(new Set(['site']))
  })

  it('other processes notice a set or removed webhook', async () => {
    const one = await testGateway()
    const other = await testGateway({ dataDir: one.dataDir, clock: one.clock })
    await one.send('PUT', PATH, { ...admin, body })
    await alertedLayers(other)
    await cross(other)
    expect(await alertedLayers(other)).toEqual(new Set(['personal']))
    one.clock.advance(24 * HOUR_MS)
    await one.send('DELETE', PATH, admin)
    await alertedLayers(other)
    await cross(other)
    expect(await alertedLayers(other)).toEqual(new Set(['site']))
  })
})
