import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import Database from 'libsql'
import { expect, it, onTestFinished } from 'vitest'
import { createApp } from '../src/app.ts'
import { createTenants } from '../src/tenants.ts'

async function served() {
  const database = new Database(':memory:')
  createTenants(database, [
    { id: 'acme', key: 'key-of-acme', perMinute: 2, exportsPerDay: null },
    { id: 'zenith', key: 'key-of-zenith', perMinute: null, exportsPerDay: 1 },
  ])
  const server = createApp(database).listen(0, '127.0.0.1')
  onTestFinished(async () => {
    server.closeAllConnections()
    await once(server.close(), 'close')
    database.close()
  })
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const ask = async (tenant: string, method = 'GET') => {
    const path = method === 'GET' ? '/items' : '/exports'
    const response = await fetch(url + path, { method, headers: { 'x-api-key': `key-of-${tenant}` } })
    return response.status
  }
  return { database, ask, url }
}

it('a tenant has the number of its row, and others that of the policy', async () => {
  const { ask, url } = await served()
  expect([await ask('acme'), await ask('acme'), await ask('acme')]).toEqual([200, 200, 429])
  expect([await ask('zenith'), await ask('zenith'), await ask('zenith')]).toEqual([200, 200, 200])
  expect([await ask('zenith', 'POST'), await ask('zenith', 'POST')]).toEqual([202, 429])
  expect(await ask('nobody')).toBe(401)
  const refused = await fetch(`${url}/items`, { headers: { 'x-api-key': 'key-of-acme' } })
  expect(await refused.json()).toMatchObject({ quota: { name: 'perMinute', limit: 2, used: 2 } })
})

it('a changed row applies to the next request, on the same counter', async () => {
  const { ask, database } = await served()
  expect([await ask('acme'), await ask('acme'), await ask('acme')]).toEqual([200, 200, 429])
  database.exec("update tenants set perMinute = 3 where id = 'acme'")
  expect([await ask('acme'), await ask('acme')]).toEqual([200, 429])
  database.exec("update tenants set perMinute = null where id = 'acme'")
  expect(await ask('acme')).toBe(200)
  database.exec("update tenants set perMinute = 0 where id = 'acme'")
  expect(await ask('acme')).toBe(429)
})
