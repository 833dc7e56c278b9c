import type { QuotaLogger } from '@scoregw/quota'
import { aLogger, type Checks, optionsParser } from '@scoregw/quota/internal'
import type { RedisClient } from '../connection/connection.ts'
import { clientFaults, type KeyOptions, keyChecks, WORDS } from '../store/key-options.ts'

/** Options of {@link redisSettings} and {@link redisBroadcast}. */
export interface RedisSettingsOptions {
  /**
   * Your client for the server or cluster. The store copies its connection settings, opens its own connections, and
   * leaves this client alone.
   */
  readonly client: RedisClient
  /**
   * The beginning of every key. Use the same as for the quota store. The client's own `keyPrefix` is ignored.
   *
   * @default 'quota'
   */
  readonly prefix?: string | undefined
  /**
   * Receives warnings; `false` silences it.
   *
   * @default the console
   */
  readonly logger?: QuotaLogger | false | undefined
}

type ParsedOptions = KeyOptions & { readonly logger: QuotaLogger }

/** Checks options of stores that announce changes. @param call for example `redisSettings()` */
export function settingsOptionsParser(call: string): (options: unknown) => ParsedOptions {
  const checks = (): Checks<ParsedOptions> => ({ ...keyChecks(), logger: aLogger() })
  return optionsParser(call, checks, { words: WORDS, between: clientFaults })
}
