import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll } from 'vitest'
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
  return cleanupsBy((close) => void cleanups.push(close))
}

/** Cleanups of one test, for tests that run side by side. */
export function cleanupsOf(onTestFinished: (close: () => Promise<void>) => void): Cleanups {
  return cleanupsBy((close) => onTestFinished(async () => void (await close())))
}

function cleanupsBy(later: Cleanups['later']): Cleanups {
  return {
    later,
    async server(options) {
      const redis = await startRedis(options)
      later(() => redis.stop())
      return redis
    },
    async proxy(targetPort) {
      const proxy = await startProxy(targetPort)
      later(() => proxy.stop())
      return proxy
    },
  }
}

/** A server that all tests of a group share. */
export interface SharedRedis {
  readonly port: number
  /** A client for tests to read and change what is stored. */
  readonly admin: Redis
}

/** To be called in a group of tests: the server is there while they run. */
export function useRedis(): SharedRedis {
  let server: RedisServer
  let admin: Redis
  beforeAll(async () => {
    server = await startRedis()
    admin = new Redis({ port: server.port })
  })
  afterAll(async () => {
    admin.disconnect()
    await server.stop()
  })
  return {
    get port() {
      return server.port
    },
    get admin() {
      return admin
    },
  }
}
