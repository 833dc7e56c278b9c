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
 * Settings in the database. Other processes learn of changes through Redis immediately. Redis stores the revision
 * announced last. A process that decides with a different revision reads the database and announces its state. This
 * also repairs missed announcements, data that Redis lost, and an older state restored in the database. It happens once
 * {@link poll} or a decision notices.
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

  /** Reads the database for changes that Redis didn't announce. */
  poll(): Promise<void> {
    return this.#stored.poll()
  }

  close(): Promise<void> {
    this.#broadcast.close()
    return this.#stored.close()
  }

  /** Announces a change. Never rejects: the change is stored, and other processes find it in the database. */
  async #announce(change: SettingsChange): Promise<void> {
    try {
      // Announces the current revision, because another change may have followed.
      const { revision } = (await this.#stored.read()) ?? { revision: '' }
      await this.#broadcast.announce(revision, change)
    } catch (error) {
      this.#logger.warn({ err: error }, 'a change of the settings could not be announced')
    }
  }
}
