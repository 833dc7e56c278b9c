import type {
  AsyncSettingsStore,
  SettingsChange,
  StoredDocument,
  StoreWriteOptions,
  WriteReply,
} from '@scoregw/quota/store'
import { carryOut } from '../connection/connection.ts'
import { type RedisSettingsOptions, settingsOptionsParser } from '../store/options.ts'
import { ChangeFeed } from './change-feed.ts'
import { KeyedSettings, SettingsKeys } from './keyed-settings.ts'

/** An {@link AsyncSettingsStore} in Redis, shared by all processes with the same server and prefix. */
export interface RedisSettings extends AsyncSettingsStore {
  readonly isMarked: true
  read(): Promise<StoredDocument | undefined>
  write(document: unknown, options: StoreWriteOptions): Promise<WriteReply>
  readSubject(layer: string, key: string): Promise<StoredDocument | undefined>
  writeSubject(layer: string, key: string, document: unknown, options: StoreWriteOptions): Promise<WriteReply>
  /** Closes the connections. Later calls, and calls in flight, reject. */
  close(): void
}

/**
 * Settings in Redis. A change is written completely or not at all. Every process is notified within a second, even if
 * its message is lost. Calls wait up to 2 seconds for the first connection. They reject with the client's error or
 * `store_error` while the server does not answer. A write that rejects may still have happened, so read before you
 * write again. `by` is not kept.
 *
 * @throws {QuotaError} `invalid_options` naming every fault
 */
export function redisSettings(options: RedisSettingsOptions): RedisSettings {
  const { client, prefix, logger } = parseOptions(options)
  const keys = new SettingsKeys(prefix)
  return new Store(new ChangeFeed(client, keys.changes, logger), keys)
}

const parseOptions = /* @__PURE__ */ settingsOptionsParser('redisSettings()')

class Store extends KeyedSettings implements RedisSettings {
  readonly #feed: ChangeFeed

  constructor(feed: ChangeFeed, keys: SettingsKeys) {
    super(keys, feed.rights, {
      get: (key) => carryOut(feed.commands, (connection) => connection.send('GET', key)),
      run: ({ text }, all, words) =>
        carryOut(feed.commands, (connection) => connection.send('EVAL', text, all.length, ...all, ...words)),
    })
    this.#feed = feed
  }

  get opening(): Promise<void> | undefined {
    return this.#feed.commands.opening
  }

  watch(listener: (change: SettingsChange) => void): () => void {
    return this.#feed.watch(listener)
  }

  close(): void {
    this.#feed.close()
  }
}
