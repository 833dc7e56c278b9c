import { readFileSync } from 'node:fs'
import { createQuota, parsePolicy } from '@scoregw/quota'
import { redisStore } from '@scoregw/quota-redis'
import { Redis } from 'ioredis'

/** The file that every service reads. */
const file = new URL('../policy.json', import.meta.url)
const policy = parsePolicy(JSON.parse(readFileSync(file, 'utf8')))

const client = new Redis(process.env.REDIS_URL ?? 'redis://localhost')
const store = redisStore({ client })
await store.ready() // a wrong address throws here, not in a request
export const quota = createQuota({ policy, store })

/** Call it when the service stops. */
export async function close(): Promise<void> {
  await quota.close()
  await client.quit()
}
