import { createQuota, definePolicy } from '@scoregw/quota'
import { withinOwnTime } from '@scoregw/server-kit'
import { createClient } from 'redis'
import { describe, expect, it, vi } from 'vitest'
import { type ConnectionOptions, textOf } from '../src/connection/connection.ts'
import { ServerConnection } from '../src/connection/server-connection.ts'
import { type RedisClient, redisSettings, redisStore } from '../src/index.ts'
import { leasedRedisStore } from '../src/leases.ts'
import { newPrefix, nodeRedis } from './store-harness.ts'
import { useCleanups } from './support/cleanups.ts'
import { configuredNodeRedis } from './support/clients.ts'
import { redisTests } from './support/redis-server.ts'

const { later, server, proxy: startProxy } = useCleanups()

function own(port: number, options: ConnectionOptions = {}): ServerConnection {
  const connection = new ServerConnection(configuredNodeRedis(port), options)
  later(() => connection.close())
  return connection
}

describe.runIf(redisTests)('connections by node-redis', () => {
  it('node-redis replies are bytes and numbers, whatever the client has configured', async () => {
    const redis = await server()
    const connection = own(redis.port)
    expect(connection.usable).toBe(false)
    await connection.ready()
    const replies = await Promise.all([
      connection.send('SET', 'k', Buffer.from([0, 255])),
      connection.send('GET', 'k'),
      connection.send('HSET', 'h', 'f', 7),
      connection.send('HGETALL', 'h'),
      connection.send('GET', 'none'),
    ])
    expect(replies).toEqual([Buffer.from('OK'), Buffer.from([0, 255]), 1, [Buffer.from('f'), Buffer.from('7')], null])
  })

  it('node-redis error replies have the names that ioredis gives them', async () => {
    const redis = await server()
    const connection = own(redis.port)
    await connection.ready()
    await expect(connection.send('NOSUCH')).rejects.toMatchObject({ name: 'ReplyError' })
    await expect(connection.send('EVALSHA', 'none', 0)).rejects.toMatchObject({
      name: 'ReplyError',
      message: expect.stringMatching(/^NOSCRIPT /) as unknown,
    })
    redis.pause()
    const waiting = connection.send('PING')
    connection.close()
    await expect(waiting).rejects.not.toMatchObject({ name: 'ReplyError' })
  })

  it('node-redis commands reject immediately while the server is gone and succeed after its return', async () => {
    const redis = await server()
    const connection = own(redis.port)
    await connection.ready()
    await redis.kill()
    await vi.waitFor(() => expect(connection.usable).toBe(false), { timeout: 15_000 })
    await expect(connection.send('INCR', 'n')).rejects.toMatchObject({ code: 'store_error' })
    await vi.waitFor(() => expect(connection.ready()).rejects.toThrow(/ECONNREFUSED/), { timeout: 15_000 })
    await redis.restart()
    await vi.waitFor(() => connection.ready(), { timeout: 15_000 })
    expect(await connection.send('GET', 'n')).toBeNull()
  })

  it('node-redis looks for the primary again when a server becomes a replica', async () => {
    const redis = await server()
    const connection = own(redis.port)
    await connection.ready()
    const before = await connection.send('CLIENT', 'ID')
    await redis.cli('REPLICAOF', '127.0.0.1', '1')
    await expect(connection.send('INCR', 'n')).rejects.toThrow(/READONLY/)
    await redis.cli('REPLICAOF', 'NO', 'ONE')
    await vi.waitFor(() => connection.ready(), { timeout: 15_000 })
    expect(await connection.send('CLIENT', 'ID')).not.toBe(before)
    expect(await connection.send('INCR', 'n')).toBe(1)
  })

  it('node-redis logs in with its URL and uses the database in it', async () => {
    const redis = await server({ args: ['--requirepass', 'secret'] })
    const client = createClient({ url: `redis://:secret@127.0.0.1:${redis.port}/3` })
    const connection = new ServerConnection(client, {})
    later(() => connection.close())
    await connection.ready()
    expect(textOf(await connection.send('CLIENT', 'INFO'))).toMatch(/ db=3 /)
    const unauthenticated = own(redis.port)
    await unauthenticated.ready()
    await expect(unauthenticated.send('GET', 'k')).rejects.toThrow(/^NOAUTH/)
  })
})

describe.runIf(redisTests)('stores by node-redis', () => {
  const policy = definePolicy({
    limits: { perHour: { by: 'user', limit: 2, per: '1h' } },
  })
  const read = { subject: 'u1' }

  it('leased limits are counted by node-redis', async () => {
    const redis = await server()
    const store = leasedRedisStore({ client: nodeRedis(redis.port), prefix: newPrefix(), deadlineMs: 1_000 })
    const quota = createQuota({ policy, store })
    later(() => quota.close())
    const decisions = [await quota.consume(read), await quota.consume(read), await quota.consume(read)]
    expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, false])
  })

  it('settings changes arrive by node-redis, even after the connection broke', async () => {
    const redis = await server()
    const proxy = await startProxy(redis.port)
    const prefix = newPrefix()
    const [writer, reader] = [nodeRedis(redis.port), nodeRedis(proxy.port)].map((client: RedisClient) =>
      redisSettings({ client, prefix }),
    )
    later(() => {
      writer!.close()
      reader!.close()
    })
    const heard = vi.fn()
    reader!.watch(heard)
    for (const version of [1, 2]) {
      heard.mockClear()
      await writer!.write({ version }, {} as never)
      await vi.waitFor(() => expect(heard).toHaveBeenCalled(), { timeout: 15_000 })
      proxy.cutAll()
    }
  })

  it('the caller’s node-redis client is neither connected nor closed', async () => {
    const redis = await server()
    const client = await createClient({ socket: { port: redis.port, host: '127.0.0.1' } }).connect()
    later(() => client.close())
    const store = redisStore({ client, deadlineMs: 1_000 })
    await withinOwnTime(15_000, () => store.ready())
    await store.close()
    expect(await client.ping()).toBe('PONG')
  })
})
