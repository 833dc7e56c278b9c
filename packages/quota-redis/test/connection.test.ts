import { once } from 'node:events'
import { withinOwnTime } from '@scoregw/server-kit'
import { Redis } from 'ioredis'
import { Redis as Redis5 } from 'ioredis5'
import Redis50 from 'ioredis50'
import { describe, expect, it, vi } from 'vitest'
import { type ConnectionOptions, textOf } from '../src/connection/connection.ts'
import type { IoredisDriver } from '../src/connection/ioredis-driver.ts'
import { ServerConnection } from '../src/connection/server-connection.ts'
import { useCleanups } from './support/cleanups.ts'
import { configuredNodeRedis, newestNodeRedis } from './support/clients.ts'
import { redisTests } from './support/redis-server.ts'

const { later, server, proxy: startProxy } = useCleanups()

function redisOf({ driver }: ServerConnection): Redis {
  return (driver as IoredisDriver).redis
}

/** As callers may have them: with all that a store must not take over. */
const IOREDIS = [
  ['ioredis 6', ioredisMaker(Redis)],
  ['ioredis 5', ioredisMaker(Redis5 as unknown as typeof Redis)],
  ['ioredis 5.0.0', ioredisMaker(Redis50 as unknown as typeof Redis)],
] as const

function ioredisMaker(Client: typeof Redis): (port: number) => Redis {
  return (port) => {
    const theirs = new Client({ port, keyPrefix: 'theirs:', enableAutoPipelining: true, lazyConnect: true })
    later(() => theirs.disconnect())
    return theirs as Redis
  }
}

function own(
  theirs: ConstructorParameters<typeof ServerConnection>[0],
  options: ConnectionOptions = {},
): ServerConnection {
  const connection = new ServerConnection(theirs, options)
  later(() => connection.close())
  return connection
}

/** Why a call on a silent connection rejected. Fails if it goes on waiting. */
async function rejection(call: Promise<unknown>): Promise<unknown> {
  let reason: unknown
  call.catch((error: unknown) => {
    reason = error
  })
  await withinOwnTime(8_000, () => expect(reason).toBeDefined())
  return reason
}

describe
  .runIf(redisTests)
  .each([...IOREDIS, ['node-redis', configuredNodeRedis] as const, ['node-redis 6', newestNodeRedis] as const])(
  'connections with %s',
  (_, theirs) => {
    it('a connection is usable once connected and adds the configured key prefix', async () => {
      const redis = await server()
      const connection = own(theirs(redis.port))
      expect(connection.usable).toBe(false)
      await connection.ready()
      expect(connection.usable).toBe(true)
      await connection.send('SET', 'k', 'v')
      expect(await redis.cli('GET', 'k')).toBe('v')
    })

    it('a command whose reply is lost is executed once and rejects', async () => {
      const redis = await server()
      const proxy = await startProxy(redis.port)
      const connection = own(theirs(proxy.port))
      await connection.ready()
      const cut = proxy.cutAfterNextRequest()
      await expect(connection.send('INCR', 'n')).rejects.toThrow()
      await cut
      await connection.ready()
      await connection.send('PING')
      expect(await redis.cli('GET', 'n')).toBe('1')
    })

    it('a silent connection is replaced without a leak', async () => {
      const redis = await server()
      const proxy = await startProxy(redis.port)
      const connection = own(theirs(proxy.port))
      await connection.ready()
      proxy.blackHole(true)
      expect(await rejection(connection.send('GET', 'k'))).toBeInstanceOf(Error)
      proxy.blackHole(false)
      await vi.waitFor(() => connection.ready(), { timeout: 15_000 })
      expect(textOf(await connection.send('PING'))).toBe('PONG')
      await vi.waitFor(() => expect(proxy.openSockets()).toBe(1), { timeout: 15_000 })
    })

    it('repeated reconnects leak nothing', async () => {
      const redis = await server()
      const warnings: Error[] = []
      const warned = (warning: Error) => void warnings.push(warning)
      process.on('warning', warned)
      later(() => void process.off('warning', warned))
      const connection = own(theirs(redis.port))
      await connection.ready()
      // Node warns of the eleventh listener.
      for (let time = 0; time < 12; time++) {
        const before = await connection.send('CLIENT', 'ID')
        await redis.cli('CLIENT', 'KILL', 'ID', String(before))
        const next = async () => expect(await connection.send('CLIENT', 'ID')).not.toBe(before)
        await vi.waitFor(next, { timeout: 15_000 })
      }
      expect(warnings).toEqual([])
    })

    it('a connection to a server that never answers is given up', async () => {
      const redis = await server()
      const proxy = await startProxy(redis.port)
      proxy.blackHole(true)
      const connection = own(theirs(proxy.port))
      expect(String(await rejection(connection.ready()))).toMatch(/was silent/)
      proxy.blackHole(false)
      await vi.waitFor(() => connection.ready(), { timeout: 15_000 })
    })

    it('a connection that lost its login is replaced by one with the password that the client has by then', async () => {
      const redis = await server()
      const client = theirs(redis.port)
      const connection = own(client)
      await connection.ready()
      await connection.send('CONFIG', 'SET', 'requirepass', 'secret')
      expect(textOf(await connection.send('GET', 'k'))).toBeUndefined()
      await connection.send('RESET')
      await expect(connection.send('GET', 'k')).rejects.toThrow(/^NOAUTH/)
      Object.assign(client.options!, { password: 'secret' })
      await vi.waitFor(() => connection.send('SET', 'k', 'v'), { timeout: 15_000 })
    })

    it('close() leaves nothing open when connected, reconnecting, or waiting for a silent server', async () => {
      const redis = await server()
      const proxy = await startProxy(redis.port)
      const connected = own(theirs(proxy.port))
      await connected.ready()
      connected.close()
      await expect(connected.ready()).rejects.toMatchObject({ code: 'store_error' })

      proxy.blackHole(true)
      const silent = own(theirs(proxy.port))
      const waiting = silent.ready()
      await vi.waitFor(() => expect(proxy.openSockets()).toBeGreaterThan(0), { timeout: 15_000 })
      silent.close()
      await expect(waiting).rejects.toMatchObject({ code: 'store_error' })

      proxy.refuse(true)
      const reconnecting = own(theirs(proxy.port))
      await expect(reconnecting.ready()).rejects.toMatchObject({ code: 'store_error' })
      reconnecting.close()
      proxy.refuse(false)
      proxy.blackHole(false)
      await vi.waitFor(() => expect(proxy.openSockets()).toBe(0), { timeout: 15_000 })
    })

    it('close() during connecting leaves no socket', async () => {
      const redis = await server()
      const proxy = await startProxy(redis.port)
      own(theirs(proxy.port)).close()
      const later = own(theirs(proxy.port))
      await later.ready()
      await later.send('PING')
      await vi.waitFor(() => expect(proxy.openSockets()).toBe(1), { timeout: 5_000 })
    })

    describe('eviction policy', () => {
      it('a server that may evict keys is rejected until it is reconfigured', async () => {
        const redis = await server({ args: ['--maxmemory-policy', 'allkeys-lru'] })
        const connection = own(theirs(redis.port), { evictionPolicy: 'require-noeviction' })
        await expect(connection.ready()).rejects.toMatchObject({ code: 'unsafe_eviction' })
        await expect(connection.ready()).rejects.toThrow(/allkeys-lru/)
        expect(connection.usable).toBe(false)
        await redis.cli('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
        await connection.ready()
        expect(connection.usable).toBe(true)
      })

      it("evictionPolicy: 'warn' logs a warning instead", async () => {
        const redis = await server({ args: ['--maxmemory-policy', 'volatile-ttl'] })
        const warn = vi.fn()
        await own(theirs(redis.port), { evictionPolicy: 'warn', logger: { warn, error: vi.fn() } }).ready()
        expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('volatile-ttl'))
      })

      it('an eviction policy that changes while connected is noticed', async () => {
        const redis = await server()
        const connection = own(theirs(redis.port), { evictionPolicy: 'require-noeviction', checkedMs: 0 })
        await connection.ready()
        await redis.cli('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
        await connection.send('PING')
        await vi.waitFor(() => expect(connection.usable).toBe(false), { timeout: 15_000 })
        await expect(connection.ready()).rejects.toThrow(/allkeys-lru/)
        await redis.cli('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
        await connection.ready()

        const warn = vi.fn()
        const warned = own(theirs(redis.port), {
          evictionPolicy: 'warn',
          checkedMs: 0,
          logger: { warn, error: vi.fn() },
        })
        await warned.ready()
        expect(warn).not.toHaveBeenCalled()
        await redis.cli('CONFIG', 'SET', 'maxmemory-policy', 'volatile-ttl')
        for (let i = 0; i < 10; i++) await warned.send('PING')
        await vi.waitFor(() => expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('volatile-ttl')), {
          timeout: 15_000,
        })
        expect(warned.usable).toBe(true)
      })

      it('INFO is used where CONFIG is forbidden, and a warning is logged where both are', async () => {
        const noConfig = await server({ args: ['--rename-command', 'CONFIG', '', '--maxmemory-policy', 'allkeys-lfu'] })
        const refused = own(theirs(noConfig.port), { evictionPolicy: 'require-noeviction' })
        await expect(refused.ready()).rejects.toThrow(/allkeys-lfu/)

        const neither = await server()
        await neither.cli('ACL', 'SETUSER', 'default', '-config')
        const fine = own(theirs(neither.port), { evictionPolicy: 'require-noeviction' })
        await fine.ready()
        await neither.cli('ACL', 'SETUSER', 'default', '-info')
        const unknown = own(theirs(neither.port), { evictionPolicy: 'require-noeviction' })
        await expect(unknown.ready()).rejects.toThrow(/neither/)
      })
    })
  },
)

describe.runIf(redisTests).each(IOREDIS)('connections by %s without a server', (_, theirs) => {
  it('a command on a broken connection rejects and isn’t sent later', async () => {
    const redis = await server()
    const proxy = await startProxy(redis.port)
    const connection = own(theirs(proxy.port))
    await connection.ready()
    const refused = new Promise<unknown>((resolve) => {
      redisOf(connection).once('close', () => connection.send('INCR', 'n').then(resolve, resolve))
    })
    proxy.cutAll()
    expect(await refused).toBeInstanceOf(Error)
    await connection.ready()
    expect(await connection.send('GET', 'n')).toBeNull()
  })

  it('commands reject immediately while the server is gone and succeed after its return', async () => {
    const redis = await server()
    const connection = own(theirs(redis.port))
    await connection.ready()
    const closed = once(redisOf(connection), 'close')
    await redis.kill()
    await closed
    await expect(connection.send('GET', 'k')).rejects.toThrow()
    await expect(connection.ready()).rejects.toMatchObject({ code: 'store_error' })
    let attempts = 0
    redisOf(connection).on('connecting', () => attempts++)
    for (let i = 0; i < 20; i++) await expect(connection.ready()).rejects.toThrow(/ECONNREFUSED/)
    expect(attempts).toBeLessThan(5)
    await redis.restart()
    await withinOwnTime(1_000, () => connection.ready())
    expect(textOf(await connection.send('PING'))).toBe('PONG')
  })

  it('a connection leaves no socket to a server that hangs', async () => {
    const redis = await server()
    const connection = own(theirs(redis.port))
    await connection.ready()
    redis.pause()
    const waiting = connection.send('PING')
    waiting.catch(() => undefined)
    connection.close()
    await withinOwnTime(500, () => expect(redisOf(connection).stream.destroyed).toBe(true))
    await expect(waiting).rejects.toThrow()
  })
})
