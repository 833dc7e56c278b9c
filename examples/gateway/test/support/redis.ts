import { type RedisServer, startRedis } from '@scoregw/redis-server'
import { whenDone } from './shared.ts'

/** A Redis server that ends with the test. */
export async function redisServer(options?: Parameters<typeof startRedis>[0]): Promise<RedisServer> {
  const redis = await startRedis(options)
  whenDone(() => redis.stop())
  return redis
}
