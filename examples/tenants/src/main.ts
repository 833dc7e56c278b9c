import type { AddressInfo } from 'node:net'
import Database from 'libsql'
import { createApp } from './app.ts'
import { createTenants } from './tenants.ts'

const database = new Database(':memory:')
createTenants(database, [
  { id: 'acme', key: 'key-of-acme', perMinute: 2, exportsPerDay: null },
  { id: 'zenith', key: 'key-of-zenith', perMinute: null, exportsPerDay: 100 },
])
const server = createApp(database).listen(Number(process.env.PORT ?? 3000), () => {
  const { port } = server.address() as AddressInfo
  console.log(`Try: curl -i -H 'X-API-Key: key-of-acme' http://localhost:${port}/items`)
})
