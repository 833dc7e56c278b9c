import { expect, it } from 'vitest'
import { ADMIN_TOKEN, testGateway } from './support/gateway.ts'
import { receiver } from './support/receiver.ts'

const PATH = '/admin/alerts/webhook'
const admin = { token: ADMIN_TOKEN }

it('administrators say where alerts go, see the secret once, and what became of each', {
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

it('addresses without https, with a user name, and of this machine are refused unless that is allowed', {
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
