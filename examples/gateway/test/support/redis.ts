import { type RedisServer, startRedis } from '@scoregw/redis-server'
import { onTestFinished } from 'vitest'

/** A Redis server that ends with the test. */
export async function redisServer(options?: Parameters<typeof startRedis>[0]): Promise<RedisServer> {
  const redis = await startRedis(options)
  onTestFinished(() => redis.stop())
  return redis
}
