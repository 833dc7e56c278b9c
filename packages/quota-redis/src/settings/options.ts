import * as z from 'zod'
import type { RedisClient } from '../client/client-types.ts'
import { clientOption, prefixOption } from '../client/options.ts'

/** What {@link redisSettings} and {@link redisBroadcast} take. */
export interface RedisSettingsOptions {
  /** Tells which server, or which cluster; the store works on connections of its own and leaves this one alone. */
  readonly client: RedisClient
  /**
   * The beginning of every key, the same as of the quota store that the settings are for. The client's own `keyPrefix`
   * is not used.
   * @default 'quota'
   */
  readonly prefix?: string | undefined
}

export const settingsOptions: z.ZodType<{ readonly client: RedisClient; readonly prefix: string }> = z.strictObject({
  client: clientOption,
  prefix: prefixOption.default('quota'),
})
