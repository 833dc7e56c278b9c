import { createQuota } from '@scoregw/quota'
import { scoreGatewayPolicy } from '@scoregw/quota/score-gateway'
import { quotaFetch } from '@scoregw/quota-fetch'
import { redisStore } from '@scoregw/quota-redis'
import { Redis } from 'ioredis'

/** Spends a limit of 12 on a shared store and prints the statuses; run by Bun and by Deno. */
const [, , port, prefix] = process.argv
const client = new Redis(Number(port))
const quota = createQuota({
  policy: scoreGatewayPolicy({ limits: { 'personal-write-1h': 12 } }),
  // A runtime that has just started compiles all of this within its first call, on a machine that has other work.
  store: redisStore({ client, prefix: `${prefix}:`, deadlineMs: 1_000 }),
})
const metered = quotaFetch({ quota, subject: () => 'u1', operation: () => 'write', cost: 5 })
const once = (status: number): Promise<Response> =>
  metered(() => new Response(null, { status }))(new Request('http://localhost/'))

/** What comes too late for Redis is charged to nobody: it is sent again. */
async function ask(status: number): Promise<Response> {
  let answer = await once(status)
  for (let late = 0; answer.status === 503 && late < 20; late++) answer = await once(status)
  return answer
}

await client.ping()
const statuses = [(await ask(200)).status, (await ask(500)).status, (await ask(200)).status, (await ask(200)).status]
console.log(JSON.stringify([statuses, (await quota.status('u1')).limits['personal-write-1h']?.used]))
await quota.close()
client.disconnect()
