import { createQuota, defaultPolicy, quotaFetch } from '@scoregw/quota-fetch'
import { redisStore } from '@scoregw/quota-redis'
import { Redis } from 'ioredis'

/** Spends a limit of 12 on a store that is shared, and tells the statuses; run by Bun and by Deno. */
const [, , port, prefix] = process.argv
const client = new Redis(Number(port))
const limits = { '1h': 12, '5h': 100, '1d': 100 }
const layer = { read: limits, write: limits }
const quota = createQuota({
  policy: defaultPolicy({ base: { personal: layer, site: layer } }),
  store: redisStore({ client, prefix: `${prefix}:` }),
})
const metered = quotaFetch({ quota, subject: () => 'u1', operation: () => 'write', cost: 5 })
const ask = (status: number): Promise<Response> =>
  metered(() => new Response(null, { status }))(new Request('http://localhost/'))
const statuses = [(await ask(200)).status, (await ask(500)).status, (await ask(200)).status, (await ask(200)).status]
console.log(JSON.stringify([statuses, (await quota.status('u1')).windows.write?.[0]?.used]))
await quota.close()
client.disconnect()
