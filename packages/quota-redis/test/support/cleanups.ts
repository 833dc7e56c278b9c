import { afterEach } from 'vitest'
import { type RedisOptions, type RedisServer, startRedis } from './redis-server.ts'
import { startProxy, type TcpProxy } from './tcp-proxy.ts'

/** What a test file opens, closed after each test in reverse order. */
export interface Cleanups {
  /** Calls `close` after the test. */
  later(close: () => unknown): void
  server(options?: RedisOptions): Promise<RedisServer>
  proxy(targetPort: number): Promise<TcpProxy>
}

/** To be called once, at the top of a test file. */
export function useCleanups(): Cleanups {
  const cleanups: (() => unknown)[] = []
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  })
  return {
    later: (close) => void cleanups.push(close),
    async server(options) {
      const redis = await startRedis(options)
      cleanups.push(() => redis.stop())
      return redis
    },
    async proxy(targetPort) {
      const proxy = await startProxy(targetPort)
      cleanups.push(() => proxy.stop())
      return proxy
    },
  }
}
