import { createQuota, type Policy, type Quota, type QuotaError } from '@scoregw/quota'
import { luxonCalendar } from '@scoregw/quota/calendar'
import { redisSettings, redisStore } from '@scoregw/quota-redis'
import { CliError, EXIT } from '../cli-error.ts'
import { plain } from '../text.ts'
import type { RedisAddress } from './address.ts'
import type { RedisConnection } from './connect.ts'

/** An engine with the stored counters and settings, used only to read. */
export function engineOn({ client }: RedisConnection, policy: Policy, prefix: string): Quota {
  return createQuota({
    policy,
    calendar: luxonCalendar(),
    store: redisStore({ client, prefix, deadlineMs: 1_000, evictionPolicy: 'warn', logger: false }),
    settingsStore: redisSettings({ client, prefix }),
    logger: false,
  })
}

export function storeError({ shown }: RedisAddress, error: QuotaError): CliError {
  const cause = error.cause instanceof Error ? `: ${plain(error.cause.message, 160)}` : ''
  return new CliError(`${shown}: ${plain(error.message, 200)}${cause}`, {
    exitCode: EXIT.server,
    remedy: 'run quota-cli doctor for more about this server',
    cause: error,
  })
}
