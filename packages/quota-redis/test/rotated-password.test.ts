import { createQuota } from '@scoregw/quota'
import { Cluster, Redis } from 'ioredis'
import { Cluster as Cluster5, Redis as Redis5 } from 'ioredis5'
import { createClient } from 'redis'
import { describe, expect, it, vi } from 'vitest'
import { type RedisClient, redisOutcomes, redisSettings, redisStore } from '../src/index.ts'
import { leasedRedisStore } from '../src/leases.ts'
import { newPrefix } from './store-harness.ts'
import { useCleanups } from './support/cleanups.ts'
import { policy, request } from './support/one-limit.ts'
import { type RedisServer, redisTests, startCluster, startReplicaPair } from './support/redis-server.ts'

const { later, server } = useCleanups()

const username = 'app'

/** A client whose user has the password `t1`, and what its program does once the password is `t2`. */
interface Rotating {
  readonly client: RedisClient
  rotate(): void
}

function ioredis(Client: typeof Redis): (port: number) => Rotating {
  return (port) => {
    const client = new Client({ port, username, password: 't1', lazyConnect: true })
    const rotate = () => void Object.assign(client.options, { password: 't2' })
    return { client, rotate }
  }
}

const CLIENTS: readonly (readonly [name: string, clientOf: (port: number) => Rotating])[] = [
  ['ioredis 6', ioredis(Redis)],
  ['ioredis 5', ioredis(Redis5 as unknown as typeof Redis)],
  [
    'node-redis',
    (port) => {
      const options = { socket: { port, host: '127.0.0.1' }, username, password: 't1' }
      const client = createClient(options)
      return { client, rotate: () => void Object.assign(client.options, { password: 't2' }) }
    },
  ],
  [
    'node-redis with a provider of credentials set beside its url',
    (port) => {
      const client = createClient({ url: `redis://${username}:t1@127.0.0.1:${port}` })
      const credentials = async () => ({ username, password: 't2' })
      const credentialsProvider = { type: 'async-credentials-provider', credentials } as const
      return { client, rotate: () => void Object.assign(client.options, { credentialsProvider }) }
    },
  ],
]

async function setPassword(servers: readonly RedisServer[], password: string): Promise<void> {
  for (const each of servers) {
    await each.cli('ACL', 'SETUSER', username, 'reset', 'on', `>${password}`, '~*', '&*', '+@all')
    await each.cli('CLIENT', 'KILL', 'USER', username)
  }
}

/** Stores on the client: their calls fail under the old password, and work once the client has the new one. */
async function followsRotation(servers: readonly RedisServer[], { client, rotate }: Rotating): Promise<void> {
  const prefix = newPrefix()
  const settings = redisSettings({ client, prefix: newPrefix() })
  const outcomes = redisOutcomes({ client, prefix })
  const stores = [redisStore({ client, prefix }), leasedRedisStore({ client, prefix: newPrefix(), logger: false })]
  const quotas = stores.map((store) => createQuota({ policy, store, failurePolicy: { read: 'closed' }, logger: false }))
  const heard = vi.fn()
  settings.watch(heard)
  later(async () => {
    settings.close()
    outcomes.close()
    for (const quota of quotas) await quota.close()
  })
  const work = async () => {
    for (const quota of quotas) expect(await quota.consume(request)).toMatchObject({ allowed: true })
    await outcomes.read(0, 1)
    heard.mockClear()
    await settings.write({ changed: true }, { by: undefined })
    await vi.waitFor(() => expect(heard).toHaveBeenCalled(), { timeout: 5_000 })
  }
  await vi.waitFor(work, { timeout: 15_000 })

  await setPassword(servers, 't2')
  for (const store of stores) await vi.waitFor(() => expect(store.ready()).rejects.toThrow(/WRONGPASS/), 15_000)
  await vi.waitFor(() => expect(settings.read()).rejects.toThrow(/WRONGPASS/), 15_000)
  rotate()
  await vi.waitFor(work, { timeout: 15_000 })
}

describe.runIf(redisTests)('a rotated password', () => {
  it.each(CLIENTS)('is used at the next connection by %s', async (_, clientOf) => {
    const redis = await server()
    await setPassword([redis], 't1')
    await followsRotation([redis], clientOf(redis.port))
  })

  it('is used for every server of a cluster, and for its slot table', async () => {
    const cluster = await startCluster({ primaries: 2, replicas: 0 })
    later(() => cluster.stop())
    for (const Client of [Cluster, Cluster5 as unknown as typeof Cluster]) {
      await setPassword(cluster.nodes, 't1')
      const client = new Client([...cluster.seeds], {
        redisOptions: { username, password: 't1' },
        lazyConnect: true,
      })
      const rotate = () => void Object.assign(client.options.redisOptions ?? {}, { password: 't2' })
      await followsRotation(cluster.nodes, { client, rotate })
    }
  })

  it('is used for a primary under Sentinel', async () => {
    const pair = await startReplicaPair()
    later(() => pair.stop())
    const servers = [pair.primary, pair.replica]
    await setPassword(servers, 't1')
    const client = new Redis({
      sentinels: [...pair.sentinels],
      name: pair.name,
      username,
      password: 't1',
      lazyConnect: true,
    })
    await followsRotation(servers, { client, rotate: () => void Object.assign(client.options, { password: 't2' }) })
  })
})
