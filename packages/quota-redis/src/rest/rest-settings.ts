import type { QuotaLogger } from '@scoregw/quota'
import type { SettingsChange } from '@scoregw/quota/store'
import type { Reply } from '../connection/connection.ts'
import { refusal } from '../connection/errors.ts'
import { type Script, scriptOf } from '../lua/script.ts'
import { ChannelRights, KeyedSettings, type SettingsKeys } from '../settings/keyed-settings.ts'
import type { RestRedis } from './rest-redis.ts'

const READ = scriptOf("return redis.call('GET', KEYS[1])")

/**
 * Settings that are read on use. Each reply contains the last change, and watchers are notified if it is new. Nothing
 * polls, so a process without calls is not notified.
 */
export class RestSettings extends KeyedSettings {
  readonly sharesNothing: boolean
  readonly #listeners = new Set<(change: SettingsChange) => void>()
  #seen: string | undefined

  constructor(redis: RestRedis, keys: SettingsKeys, logger: QuotaLogger) {
    const run = async (script: Script, all: readonly string[], words: readonly string[]): Promise<Reply> => {
      try {
        return await redis.evaluate(script, [String(all.length), ...all, ...words])
      } catch (error) {
        throw refusal(error, 'Redis')
      }
    }
    super(keys, new ChannelRights(keys.changes, logger), { run, get: (key) => run(READ, [key], []) })
    this.sharesNothing = redis.sharesNothing
  }

  watch(listener: (change: SettingsChange) => void): () => void {
    // A new function, so that one listener can watch twice.
    const entry = (change: SettingsChange) => listener(change)
    this.#listeners.add(entry)
    return () => this.#listeners.delete(entry)
  }

  /** Receives the last change, which is in each reply. */
  noted(last: string): void {
    const isNew = this.#seen !== undefined && this.#seen !== last
    this.#seen = last
    if (isNew) for (const listener of [...this.#listeners]) listener({ kind: 'everything' })
  }
}
