import {
  type AsyncSettingsStore,
  newRevision,
  type SettingsChange,
  type StoredDocument,
  type StoreWriteOptions,
  type WriteReply,
} from '@scoregw/quota/store'
import { carryOut } from '../connection/carry-out.ts'
import { textOf } from '../connection/connection.ts'
import { keyOptionsParser } from '../store/key-options.ts'
import { ChangeFeed } from './change-feed.ts'
import type { RedisSettingsOptions } from './options.ts'
import { SettingsKeys } from './settings-keys.ts'
import { storedDocument } from './stored-text.ts'
import { WRITE_SETTINGS } from './write-script.ts'

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
  const { client, prefix } = parseOptions(options)
  const keys = new SettingsKeys(prefix)
  return new Store(new ChangeFeed(client, keys.changes), keys)
}

const parseOptions = /* @__PURE__ */ keyOptionsParser('redisSettings()')

class Store implements RedisSettings {
  readonly sync = false
  readonly isMarked = true
  readonly #feed: ChangeFeed
  readonly #keys: SettingsKeys

  constructor(feed: ChangeFeed, keys: SettingsKeys) {
    this.#feed = feed
    this.#keys = keys
  }

  get opening(): Promise<void> | undefined {
    return this.#feed.commands.opening
  }

  read(): Promise<StoredDocument | undefined> {
    return this.#read(this.#keys.settings)
  }

  readSubject(layer: string, key: string): Promise<StoredDocument | undefined> {
    return this.#read(this.#keys.subject(layer, key))
  }

  write(document: unknown, options: StoreWriteOptions): Promise<WriteReply> {
    return this.#write(this.#keys.settings, document, options, { kind: 'settings' })
  }

  writeSubject(layer: string, key: string, document: unknown, options: StoreWriteOptions): Promise<WriteReply> {
    return this.#write(this.#keys.subject(layer, key), document, options, { kind: 'subject', layer, key })
  }

  watch(listener: (change: SettingsChange) => void): () => void {
    return this.#feed.watch(listener)
  }

  close(): void {
    this.#feed.close()
  }

  async #read(key: string): Promise<StoredDocument | undefined> {
    const stored = await carryOut(this.#feed.commands, (connection) => connection.send('GET', key))
    return storedDocument(stored as Buffer | null)
  }

  async #write(
    key: string,
    document: unknown,
    { ifRevision }: StoreWriteOptions,
    change: SettingsChange,
  ): Promise<WriteReply> {
    const expected = ifRevision === undefined ? ['', ''] : ['1', ifRevision]
    const json = document === null ? '' : JSON.stringify(document)
    const words = [...expected, newRevision(), json, JSON.stringify(change)]
    const reply = await carryOut(this.#feed.commands, (connection) =>
      connection.send('EVAL', WRITE_SETTINGS.text, 2, key, this.#keys.changes, ...words),
    )
    const [written, version, stored] = reply as readonly [number, number, Buffer]
    return { written: written === 1, version, revision: textOf(stored)! }
  }
}
