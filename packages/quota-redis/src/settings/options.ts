import type { RedisClient } from '../connection/connection.ts'

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
}
