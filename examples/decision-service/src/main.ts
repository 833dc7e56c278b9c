import { createQuota } from '@scoregw/quota'
import { redisStore } from '@scoregw/quota-redis'
import { Redis } from 'ioredis'
import { policy } from './policy.ts'
import { decisionService } from './service.ts'

const { REDIS_URL, PORT = '8181' } = process.env
/** Without a Redis the counters are this process's own. */
const store = REDIS_URL === undefined ? {} : { store: redisStore({ client: new Redis(REDIS_URL) }) }
const server = decisionService(createQuota({ policy, ...store })).listen(Number(PORT), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${PORT}`)
})
// Proxies keep their connections for a minute.
server.keepAliveTimeout = 75_000
