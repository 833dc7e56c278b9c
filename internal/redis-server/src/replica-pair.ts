import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RedisServer, startRedis } from './redis-server.ts'
import { until } from './waiting.ts'

/** A primary with one replica, and a Sentinel that promotes the replica if the primary fails. */
export interface ReplicaPair {
  readonly primary: RedisServer
  readonly replica: RedisServer
  /** The name of the group. A client needs it and the Sentinel's address. */
  readonly name: string
  readonly sentinels: readonly { readonly host: string; readonly port: number }[]
  /** Resolves when the replica has taken over. */
  promoted(): Promise<void>
  stop(): Promise<void>
}

const NAME = 'quota'

/** @param downAfterMs how long the primary may be silent before the Sentinel counts it as gone, in milliseconds */
export async function startReplicaPair(downAfterMs = 500): Promise<ReplicaPair> {
  const dir = await mkdtemp(join(tmpdir(), 'scoregw-sentinel-'))
  const servers: RedisServer[] = []
  async function stop(): Promise<void> {
    for (const server of servers.reverse()) await server.stop()
    await rm(dir, { recursive: true, force: true })
  }
  try {
    const primary = await startRedis({ args: ['--repl-diskless-sync', 'yes', '--repl-diskless-sync-delay', '0'] })
    servers.push(primary)
    const replica = await startRedis({ args: ['--replicaof', '127.0.0.1', String(primary.port)] })
    servers.push(replica)
    const role = async () => String(await replica.cli('INFO', 'replication'))
    await until('the replica has its copy', async () => /master_link_status:up/.test(await role()))
    const configFile = join(dir, 'sentinel.conf')
    await writeFile(
      configFile,
      [
        `sentinel monitor ${NAME} 127.0.0.1 ${primary.port} 1`,
        `sentinel down-after-milliseconds ${NAME} ${downAfterMs}`,
        `sentinel failover-timeout ${NAME} 5000`,
        '',
      ].join('\n'),
    )
    const sentinel = await startRedis({ configFile, dir, args: ['--sentinel'] })
    servers.push(sentinel)
    await until('the Sentinel knows the replica', async () => {
      const replicas = (await sentinel.cli('SENTINEL', 'REPLICAS', NAME)) as unknown[]
      return replicas.length === 1
    })
    return {
      primary,
      replica,
      name: NAME,
      sentinels: [{ host: '127.0.0.1', port: sentinel.port }],
      promoted: () => until('the replica took over', async () => /role:master/.test(await role())),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}
