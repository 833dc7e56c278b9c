/// <reference path="../lua.d.ts" />
import type {
  Settings,
  SettingsChange,
  SettingsStore,
  SubjectSettings,
  VersionedSettings,
  VersionedSubjectSettings,
  WriteOptions,
  WriteReply,
} from '@scoregw/quota'
import { carryOut } from '../client/carry-out.ts'
import { parseOptions } from '../client/options.ts'
import { storeError } from '../store/errors.ts'
import { ChangeFeed } from './change-feed.ts'
import { type RedisSettingsOptions, settingsOptions } from './options.ts'
import { type DocumentKeys, SettingsKeys } from './settings-keys.ts'
import write from './write.lua'

/** A {@link SettingsStore} in Redis, shared by all processes that name the same server and prefix. */
export interface RedisSettings extends SettingsStore {
  readonly sync: false
  /** Closes the connections; calls that come later or are under way reject. */
  close(): void
}

/**
 * Settings in Redis. A change is written whole or not at all, and heard of by every process within a second, also when
 * its message is lost. Calls reject with the client's error or `store_error` while the server does not answer; a write
 * that rejects may have happened all the same, so read before writing again.
 *
 * @throws {QuotaError} `invalid_options` naming every fault
 */
export function redisSettings(options: RedisSettingsOptions): RedisSettings {
  const { client, prefix } = parseOptions('redisSettings()', settingsOptions, options)
  const keys = new SettingsKeys(prefix)
  return new Store(new ChangeFeed(client, keys.changes), keys)
}

class Store implements RedisSettings {
  readonly sync = false
  readonly #feed: ChangeFeed
  readonly #keys: SettingsKeys

  constructor(feed: ChangeFeed, keys: SettingsKeys) {
    this.#feed = feed
    this.#keys = keys
  }

  async read(): Promise<VersionedSettings | undefined> {
    const stored = await this.#read(this.#keys.settings)
    return stored as VersionedSettings | undefined
  }

  async readSubject(layer: string, key: string): Promise<VersionedSubjectSettings | undefined> {
    const stored = await this.#read(this.#keys.subject(layer, key))
    return stored as VersionedSubjectSettings | undefined
  }

  write(settings: Settings, options: WriteOptions): Promise<WriteReply> {
    return this.#write(this.#keys.settings, settings, options, { kind: 'settings' })
  }

  writeSubject(
    layer: string,
    key: string,
    settings: SubjectSettings | null,
    options: WriteOptions,
  ): Promise<WriteReply> {
    return this.#write(this.#keys.subject(layer, key), settings, options, { kind: 'subject', layer, key })
  }

  watch(listener: (change: SettingsChange) => void): () => void {
    return this.#feed.watch(listener)
  }

  close(): void {
    this.#feed.close()
  }

  /** A document with its version, both of one instant. */
  async #read({ document, version }: DocumentKeys): Promise<object | undefined> {
    const [text, number] = await carryOut(this.#feed.commands, (redis) => redis.mget(document, version))
    if (typeof text !== 'string') return undefined
    return { ...parse(document, text), version: Number(number) }
  }

  async #write(
    { document, version }: DocumentKeys,
    settings: Settings | SubjectSettings | null,
    { ifVersion }: WriteOptions,
    change: SettingsChange,
  ): Promise<WriteReply> {
    const keys = [document, version, this.#keys.changes]
    const words = [
      ifVersion === undefined ? '' : String(ifVersion),
      settings === null ? '' : JSON.stringify(settings),
      JSON.stringify(change),
    ]
    const reply = await carryOut(this.#feed.commands, (redis) => redis.eval(write, 3, ...keys, ...words))
    const [written, stored] = reply as [number, number]
    return { written: written === 1, version: stored }
  }
}

function parse(key: string, text: string): object {
  try {
    return JSON.parse(text) as object
  } catch (error) {
    throw storeError(`the settings at ${key} are not JSON`, error)
  }
}
