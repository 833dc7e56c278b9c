import type { QuotaLogger } from '@scoregw/quota'
import type { SettingsChange } from '@scoregw/quota/store'
import type { Reply } from '../connection/connection.ts'
import { refusal } from '../connection/errors.ts'
import { type Script, scriptOf } from '../lua/script.ts'
import { ChannelRights } from '../settings/channel-rights.ts'
import { KeyedSettings, WRITE_SETTINGS } from '../settings/keyed-settings.ts'
import type { SettingsKeys } from '../settings/settings-keys.ts'
import type { RestRedis } from './rest-redis.ts'

/**
 * Settings that are read on use. Each reply contains the last change, and watchers are notified if it is new. Nothing
 * polls, so a process without calls is not notified.
 */
export class RestSettings extends KeyedSettings {
  readonly sharesNothing: boolean
  readonly #redis: RestRedis
  readonly #listeners = new Set<(change: SettingsChange) => void>()
  #seen: string | undefined

  readonly #rights: ChannelRights

  constructor(redis: RestRedis, keys: SettingsKeys, logger: QuotaLogger) {
    super(keys)
    this.#rights = new ChannelRights(keys.changes, logger)
    this.sharesNothing = redis.sharesNothing
    this.#redis = redis
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

  protected unpublished(reason: string): void {
    this.#rights.areMissing(reason)
  }

  protected get(key: string): Promise<Reply> {
    return this.#evaluated(READ, [key])
  }

  protected writeKeys(keys: readonly string[], words: readonly string[]): Promise<Reply> {
    return this.#evaluated(WRITE_SETTINGS, keys, words)
  }

  async #evaluated(script: Script, keys: readonly string[], words: readonly string[] = []): Promise<Reply> {
    try {
      return await this.#redis.evaluate(script, [String(keys.length), ...keys, ...words])
    } catch (error) {
      throw refusal(error, 'Redis')
    }
  }
}

const READ = scriptOf("return redis.call('GET', KEYS[1])")
