import type { SettingsChange, StoredDocument, StoreWriteOptions, WriteReply } from '@scoregw/quota/store'
import type { SqlSettings } from '@scoregw/quota-sql'

/**
 * Settings that are read on another connection than they are written on: who charges within a transaction may have to read
 * what another process has just changed, while the transaction has the only connection that writes.
 */
export class SettingsReadApart implements SqlSettings {
  readonly sync = false
  readonly isMarked = true
  readonly #written: SqlSettings
  readonly #read: Pick<SqlSettings, 'read' | 'readSubject' | 'close'>

  constructor(written: SqlSettings, read: Pick<SqlSettings, 'read' | 'readSubject' | 'close'>) {
    this.#written = written
    this.#read = read
  }

  read(): Promise<StoredDocument | undefined> {
    return this.#read.read()
  }

  readSubject(layer: string, key: string): Promise<StoredDocument | undefined> {
    return this.#read.readSubject(layer, key)
  }

  write(document: unknown, options: StoreWriteOptions): Promise<WriteReply> {
    return this.#written.write(document, options)
  }

  writeSubject(layer: string, key: string, document: unknown, options: StoreWriteOptions): Promise<WriteReply> {
    return this.#written.writeSubject(layer, key, document, options)
  }

  watch(listener: (change: SettingsChange) => void): () => void {
    return this.#written.watch(listener)
  }

  poll(): Promise<void> {
    return this.#written.poll()
  }

  async close(): Promise<void> {
    await Promise.all([this.#written.close(), this.#read.close()])
  }
}
