import type {
  AsyncSettingsStore,
  SettingsChange,
  StoredDocument,
  StoreWriteOptions,
  WriteReply,
} from '@scoregw/quota/store'
import type { RedisBroadcast } from '@scoregw/quota-redis'
import type { SqlSettings } from '@scoregw/quota-sql'
import type { Logger } from '../log/logger.ts'

/**
 * Settings in the database, of whose changes the other processes hear through Redis at once. Redis knows the revision
 * that was announced last, and a process that decides under another one reads the database and announces its state. So a
 * change that was stored and never announced, data that Redis lost, and an older state that was restored in the database
 * are followed as soon as {@link poll} has found them, or a decision was answered.
 */
export class BroadcastSettings implements AsyncSettingsStore {
  readonly sync = false
  readonly isMarked = true
  readonly #stored: SqlSettings
  readonly #broadcast: RedisBroadcast
  readonly #logger: Logger

  constructor(stored: SqlSettings, broadcast: RedisBroadcast, logger: Logger) {
    this.#stored = stored
    this.#broadcast = broadcast
    this.#logger = logger
  }

  async read(): Promise<StoredDocument | undefined> {
    return await this.#stored.read()
  }

  async readSubject(layer: string, key: string): Promise<StoredDocument | undefined> {
    return await this.#stored.readSubject(layer, key)
  }

  async write(document: unknown, options: StoreWriteOptions): Promise<WriteReply> {
    const reply = await this.#stored.write(document, options)
    if (reply.written) await this.#announce({ kind: 'settings' })
    return reply
  }

  async writeSubject(layer: string, key: string, document: unknown, options: StoreWriteOptions): Promise<WriteReply> {
    const reply = await this.#stored.writeSubject(layer, key, document, options)
    if (reply.written) await this.#announce({ kind: 'subject', layer, key })
    return reply
  }

  watch(listener: (change: SettingsChange) => void): () => void {
    const unwatch = [this.#stored.watch(listener), this.#broadcast.watch(listener)]
    return () => {
      for (const each of unwatch) each()
    }
  }

  reannounce(revision: string, seen: string): Promise<void> {
    return this.#broadcast.reannounce(revision, seen)
  }

  /** Looks in the database for changes that Redis did not announce. */
  poll(): Promise<void> {
    return this.#stored.poll()
  }

  close(): Promise<void> {
    this.#broadcast.close()
    return this.#stored.close()
  }

  /** Never rejects: the change is stored, and the others find it in the database. */
  async #announce(change: SettingsChange): Promise<void> {
    try {
      // The revision stored by now: another change may have come after this one.
      const { revision } = (await this.#stored.read()) ?? { revision: '' }
      await this.#broadcast.announce(revision, change)
    } catch (error) {
      this.#logger.warn({ err: error }, 'a change of the settings could not be announced')
    }
  }
}
