import {
  type AsyncSettingsStore,
  newRevision,
  type SettingsChange,
  type StoredDocument,
  type StoreWriteOptions,
  type WriteReply,
} from '@scoregw/quota/store'
import type { Reply } from '../connection/connection.ts'
import publish from '../lua/publish.lua'
import revision from '../lua/revision.lua'
import { type Script, scriptOf } from '../lua/script.ts'
import type { SettingsKeys } from './settings-keys.ts'
import { storedDocument } from './stored-text.ts'
import write from './write.lua'

/** Writes or removes one document. */
export const WRITE_SETTINGS: Script = scriptOf(write, { '../lua/revision': revision, '../lua/publish': publish })

/** Settings with one key per document, however the server is reached. */
export abstract class KeyedSettings implements AsyncSettingsStore {
  readonly sync = false
  readonly isMarked = true
  protected readonly keys: SettingsKeys

  constructor(keys: SettingsKeys) {
    this.keys = keys
  }

  read(): Promise<StoredDocument | undefined> {
    return this.#read(this.keys.settings)
  }

  readSubject(layer: string, key: string): Promise<StoredDocument | undefined> {
    return this.#read(this.keys.subject(layer, key))
  }

  write(document: unknown, options: StoreWriteOptions): Promise<WriteReply> {
    return this.#write(this.keys.settings, document, options, { kind: 'settings' })
  }

  writeSubject(layer: string, key: string, document: unknown, options: StoreWriteOptions): Promise<WriteReply> {
    return this.#write(this.keys.subject(layer, key), document, options, { kind: 'subject', layer, key })
  }

  abstract watch(listener: (change: SettingsChange) => void): () => void

  /** The change was made, but the user may not publish it. */
  protected abstract unpublished(reason: string): void

  /** Reads the value of a key. */
  protected abstract get(key: string): Promise<Reply>

  /** Runs {@link WRITE_SETTINGS}. */
  protected abstract writeKeys(keys: readonly string[], words: readonly string[]): Promise<Reply>

  async #read(key: string): Promise<StoredDocument | undefined> {
    return storedDocument((await this.get(key)) as Buffer | null)
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
    const reply = await this.writeKeys([key, this.keys.changes], words)
    const [written, version, stored, unpublished] = reply as readonly [number, number, Buffer, Buffer?]
    if (unpublished) this.unpublished(unpublished.toString())
    return { written: written === 1, version, revision: stored.toString() }
  }
}
