import type { RedisClient } from '../connection/connection.ts'

/** What {@link redisSettings} and {@link redisBroadcast} take. */
export interface RedisSettingsOptions {
  /** Names the server or cluster; the store works on connections of its own and leaves this one alone. */
  readonly client: RedisClient
  /**
   * The beginning of every key, the same as of the quota store that the settings are for. The client's own `keyPrefix`
   * is not used.
   * @default 'quota'
   */
  readonly prefix?: string | undefined
}
