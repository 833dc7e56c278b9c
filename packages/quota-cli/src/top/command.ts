import { setTimeout as sleep } from 'node:timers/promises'
import { type Policy, type Quota, QuotaError } from '@scoregw/quota'
import { CliError, EXIT, type ExitCode } from '../cli-error.ts'
import type { Io } from '../io.ts'
import { readPolicy } from '../policy-file.ts'
import { type RedisAddress, redisAddress } from '../redis/address.ts'
import { connectionError, connectRedis, type RedisConnection } from '../redis/connect.ts'
import { engineOn, storeError } from '../redis/engine.ts'
import { printedUsage } from './print.ts'
import { readUsage } from './usage.ts'

export interface TopOptions {
  readonly policy: string
  readonly prefix: string
  /** The deadline of each answer, in seconds. */
  readonly timeout: number
  /** The most rows to check. */
  readonly sample: number
  /** How many limits to list. */
  readonly top: number
  /** The pause between two readings, in seconds. */
  readonly interval: number
  readonly once?: boolean
  readonly json?: boolean
}

/** Shows how much of limits is used. On a terminal it refreshes. */
export async function topSubjects(url: string, options: TopOptions, io: Io): Promise<ExitCode> {
  const address = redisAddress(url, io.env)
  const policy = await readPolicy(options.policy)
  const connection = await connectRedis(address, options.timeout * 1_000)
  const quota = engineOn(connection, policy, options.prefix)
  try {
    await quota.ready()
    await watch({ address, policy, quota, connection }, options, io)
    return EXIT.ok
  } catch (error) {
    if (error instanceof CliError) throw error
    if (error instanceof QuotaError) throw storeError(address, error)
    throw connectionError(address, error)
  } finally {
    await quota.close()
    connection.close()
  }
}

/** What is watched, and by which connection. */
interface Watched {
  readonly address: RedisAddress
  readonly policy: Policy
  readonly quota: Quota
  readonly connection: RedisConnection
}

async function watch({ address, policy, quota, connection }: Watched, options: TopOptions, io: Io): Promise<void> {
  const { prefix, sample, top, json = false } = options
  const isOnce = options.once === true || json || !io.isTerminal
  while (!io.signal.aborted) {
    const seen = await readUsage({ policy, quota, connection, prefix, sample, top, signal: io.signal })
    const server = address.shown
    const text = json ? `${JSON.stringify({ server, ...seen }, undefined, 2)}\n` : printedUsage(server, seen, io)
    io.out(isOnce ? text : `${CLEARED}${text}`)
    if (isOnce) return
    await sleep(options.interval * 1_000, undefined, { signal: io.signal }).catch(() => undefined)
  }
}

/** Clears a terminal. */
const CLEARED = '\u001b[2J\u001b[H'
