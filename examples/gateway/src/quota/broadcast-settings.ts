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
import type { RedisBroadcast } from '@scoregw/quota-redis'
import type { Logger } from '../log/logger.ts'
import type { SqlSettings } from './sql-settings.ts'

/**
 * Settings in the database, of whose changes the other processes hear through Redis at once. Redis also refuses to
 * decide under older settings than it was told of. What it cannot be told is found by {@link poll}.
 */
export class BroadcastSettings implements SettingsStore {
  readonly sync = false
  readonly #stored: SqlSettings
  readonly #broadcast: RedisBroadcast
  readonly #logger: Logger
  /** Whether Redis knows the database's version, as far as this process knows. */
  #isAnnounced = false

  constructor(stored: SqlSettings, broadcast: RedisBroadcast, logger: Logger) {
    this.#stored = stored
    this.#broadcast = broadcast
    this.#logger = logger
  }

  read(): Promise<VersionedSettings | undefined> {
    return this.#stored.read()
  }

  readSubject(layer: string, key: string): Promise<VersionedSubjectSettings | undefined> {
    return this.#stored.readSubject(layer, key)
  }

  async write(settings: Settings, options: WriteOptions): Promise<WriteReply> {
    const reply = await this.#stored.write(settings, options)
    if (reply.written) await this.#tell({ kind: 'settings' })
    return reply
  }

  async writeSubject(
    layer: string,
    key: string,
    settings: SubjectSettings | null,
    options: WriteOptions,
  ): Promise<WriteReply> {
    const reply = await this.#stored.writeSubject(layer, key, settings, options)
    if (reply.written) await this.#tell({ kind: 'subject', layer, key })
    return reply
  }

  watch(listener: (change: SettingsChange) => void): () => void {
    const unwatch = [this.#stored.watch(listener), this.#broadcast.watch(listener)]
    return () => {
      for (const each of unwatch) each()
    }
  }

  /** Looks in the database for what Redis did not tell, and tells Redis what it does not know. */
  async poll(): Promise<void> {
    await this.#stored.poll()
    await this.announce()
  }

  /** Makes the database's version the one that Redis goes by, unless it is. Never rejects; {@link poll} tries again. */
  async announce(): Promise<void> {
    if (this.#isAnnounced) return
    this.#isAnnounced = true
    try {
      let version = await this.#version()
      for (let announced: number | undefined; announced !== version; version = await this.#version()) {
        // A change that was stored meanwhile may have been announced before this, and is announced once more.
        await this.#broadcast.announce(version, { kind: 'everything' })
        announced = version
      }
    } catch {
      // The log has it from whoever looks whether Redis answers.
      this.#isAnnounced = false
    }
  }

  /** Redis may have lost what it knew. */
  announceAgain(): void {
    this.#isAnnounced = false
  }

  close(): void {
    this.#broadcast.close()
  }

  /** Never rejects: the change is stored, and the others find it in the database. */
  async #tell(change: SettingsChange): Promise<void> {
    try {
      await this.#broadcast.announce(await this.#version(), change)
    } catch (error) {
      this.#logger.warn({ err: error }, 'a change of the settings could not be announced')
    }
  }

  async #version(): Promise<number> {
    return (await this.#stored.read())?.version ?? 0
  }
}
