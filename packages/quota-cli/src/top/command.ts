import { setTimeout as sleep } from 'node:timers/promises'
import { createQuota, type Policy, type Quota, QuotaError } from '@scoregw/quota'
import { luxonCalendar } from '@scoregw/quota/calendar'
import { redisSettings, redisStore } from '@scoregw/quota-redis'
import { CliError, EXIT, type ExitCode } from '../cli-error.ts'
import type { Io } from '../io.ts'
import { readPolicy } from '../policy-file.ts'
import { type RedisAddress, redisAddress } from '../redis/address.ts'
import { connectionError, connectRedis, type RedisConnection } from '../redis/connect.ts'
import { plain } from '../text.ts'
import { printedUsage } from './print.ts'
import { type Refusals, readRefusals } from './refusals.ts'
import { readUsage, type Usage } from './usage.ts'

export interface TopOptions {
  readonly policy: string
  readonly prefix: string
  /** The deadline of each answer, in seconds. */
  readonly timeout: number
  /** The address of a metrics page. */
  readonly metrics?: string
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
    await watch(address, policy, quota, connection, options, io)
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

/** An engine with the stored counters and the policy's settings, used only for statuses. */
function engineOn({ client }: RedisConnection, policy: Policy, prefix: string): Quota {
  return createQuota({
    policy,
    calendar: luxonCalendar(),
    store: redisStore({ client, prefix, deadlineMs: 1_000, evictionPolicy: 'warn', logger: false }),
    settingsStore: redisSettings({ client, prefix }),
  })
}

function storeError({ shown }: RedisAddress, error: QuotaError): CliError {
  const cause = error.cause instanceof Error ? `: ${plain(error.cause.message, 160)}` : ''
  return new CliError(`${shown}: ${plain(error.message, 200)}${cause}`, {
    exitCode: EXIT.server,
    remedy: 'run quota-cli doctor for more about this server',
    cause: error,
  })
}

async function watch(
  address: RedisAddress,
  policy: Policy,
  quota: Quota,
  connection: RedisConnection,
  options: TopOptions,
  io: Io,
): Promise<void> {
  const { prefix, sample, top, metrics, json = false } = options
  const isOnce = options.once === true || json || !io.isTerminal
  let before: { readonly refusals: Refusals; readonly at: number } | undefined
  while (!io.signal.aborted) {
    const refusals = metrics === undefined ? undefined : await readRefusals(metrics)
    const now = performance.now()
    const seen = await readUsage({ policy, quota, connection, prefix, sample, top, signal: io.signal })
    const since = before === undefined ? undefined : { refusals: before.refusals, agoMs: now - before.at }
    const text = json ? asJson(address, seen, refusals) : printedUsage(address.shown, seen, refusals, since, io)
    io.out(isOnce ? text : `${CLEARED}${text}`)
    if (isOnce) return
    before = refusals === undefined ? undefined : { refusals, at: now }
    await sleep(options.interval * 1_000, undefined, { signal: io.signal }).catch(() => undefined)
  }
}

/** Clears a terminal. */
const CLEARED = '\u001b[2J\u001b[H'

function asJson({ shown }: RedisAddress, seen: Usage, refusals: Refusals | undefined): string {
  const report = {
    server: shown,
    ...seen,
    ...(refusals === undefined ? {} : { refusals: Object.fromEntries(refusals) }),
  }
  return `${JSON.stringify(report, undefined, 2)}\n`
}
