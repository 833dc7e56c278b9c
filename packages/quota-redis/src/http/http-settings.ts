import {
  type AsyncSettingsStore,
  newRevision,
  type SettingsChange,
  type StoredDocument,
  type StoreWriteOptions,
  type WriteReply,
} from '@scoregw/quota/store'
import { type Reply, textOf } from '../connection/connection.ts'
import { refusal } from '../connection/errors.ts'
import { type Script, scriptOf } from '../lua/script.ts'
import type { SettingsKeys } from '../settings/settings-keys.ts'
import { storedDocument } from '../settings/stored-text.ts'
import { WRITE_SETTINGS } from '../settings/write-script.ts'
import type { HttpRedis } from './http-redis.ts'

/**
 * Settings that are read on use. Each reply contains the last change, and watchers are notified if it is new. Nothing
 * polls, so a process without calls is not notified.
 */
export class HttpSettings implements AsyncSettingsStore {
  readonly sync = false
  readonly isMarked = true
  readonly sharesNothing: boolean
  readonly #redis: HttpRedis
  readonly #keys: SettingsKeys
  readonly #listeners = new Set<(change: SettingsChange) => void>()
  #seen: string | undefined

  constructor(redis: HttpRedis, keys: SettingsKeys) {
    this.sharesNothing = redis.sharesNothing
    this.#redis = redis
    this.#keys = keys
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

  async #read(key: string): Promise<StoredDocument | undefined> {
    return storedDocument((await this.#evaluated(READ, [key])) as Buffer | null)
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
    const reply = await this.#evaluated(WRITE_SETTINGS, [key, this.#keys.changes], words)
    const [written, version, stored] = reply as readonly [number, number, Buffer]
    return { written: written === 1, version, revision: textOf(stored)! }
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
