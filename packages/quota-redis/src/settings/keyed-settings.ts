import { type QuotaLogger, QuotaWarning } from '@scoregw/quota'
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
import { REVISION_BYTES, type Script, scriptOf } from '../lua/script.ts'
import write from './write.lua'

/**
 * The names of the keys that hold settings. All begin with `{prefix}`, so that they share a slot with the counters.
 *
 * | key | holds |
 * |---|---|
 * | `{prefix}:settings` | the settings: revision, version and JSON, with a space between; or a revision announced |
 * | `{prefix}:settings:changes` | the last change, of settings or subjects, as random text; also the channel's name |
 * | `{prefix}:subject:<layer>:<key>` | one subject's settings, likewise; only the version after they are removed |
 */
export class SettingsKeys {
  readonly settings: string
  readonly changes: string
  readonly #prefix: string

  constructor(prefix: string) {
    this.#prefix = `{${prefix}}`
    this.settings = `${this.#prefix}:settings`
    this.changes = `${this.#prefix}:settings:changes`
  }

  subject(layer: string, key: string): string {
    return `${this.#prefix}:subject:${encode(layer)}:${encode(key)}`
  }
}

/**
 * Text without a colon, different for different text. Lone surrogates, which UTF-8 cannot express, become hexadecimal
 * after a `$`; other text never begins with one.
 */
function encode(text: string): string {
  try {
    return encodeURIComponent(text)
  } catch {
    return `$${Buffer.from(text, 'utf16le').toString('hex')}`
  }
}

/** A channel that the Redis user may not use. Changes are still made, and other processes find them when they poll. */
export class ChannelRights {
  readonly #channel: string
  readonly #logger: QuotaLogger
  #isReported = false

  constructor(channel: string, logger: QuotaLogger) {
    this.#channel = channel
    this.#logger = logger
  }

  /** Logs a warning, once. */
  areMissing(reason: string): void {
    if (this.#isReported) return
    this.#isReported = true
    const text =
      'changes reach other processes only when they poll, within a second, because the Redis user may not use the ' +
      `channel ${this.#channel}. Grant it &${this.#channel} +publish +subscribe. Redis replied: ${reason}`
    this.#logger.warn(new QuotaWarning('no_channel_rights', text))
  }
}

/** Writes or removes one document. */
const WRITE = /* @__PURE__ */ scriptOf(write, { '../lua/revision': revision, '../lua/publish': publish })

/** The server of settings, however it is reached. */
export interface SettingsServer {
  /** Reads the value of a key. */
  get(key: string): Promise<Reply>
  /** Runs a script. */
  run(script: Script, keys: readonly string[], words: readonly string[]): Promise<Reply>
}

/** Settings with one key per document. */
export abstract class KeyedSettings implements AsyncSettingsStore {
  readonly sync = false
  readonly isMarked = true
  readonly #keys: SettingsKeys
  readonly #rights: ChannelRights
  readonly #server: SettingsServer

  /** @param rights to announce changes */
  constructor(keys: SettingsKeys, rights: ChannelRights, server: SettingsServer) {
    this.#keys = keys
    this.#rights = rights
    this.#server = server
  }

  read(): Promise<StoredDocument | undefined> {
    return this.#read(this.#keys.settings)
  }

  readSubject(layer: string, key: string): Promise<StoredDocument | undefined> {
    return this.#read(this.#keys.subject(layer, key))
  }

  write(document: unknown, options: StoreWriteOptions): Promise<WriteReply> {
    const words = wordsOf(document, options, { kind: 'settings' })
    return this.#write(this.#keys.settings, words)
  }

  writeSubject(layer: string, key: string, document: unknown, options: StoreWriteOptions): Promise<WriteReply> {
    const words = wordsOf(document, options, { kind: 'subject', layer, key })
    return this.#write(this.#keys.subject(layer, key), words)
  }

  abstract watch(listener: (change: SettingsChange) => void): () => void

  async #read(key: string): Promise<StoredDocument | undefined> {
    return storedDocument((await this.#server.get(key)) as Buffer | null)
  }

  async #write(key: string, words: readonly string[]): Promise<WriteReply> {
    const reply = await this.#server.run(WRITE, [key, this.#keys.changes], words)
    const [written, version, stored, unpublished] = reply as readonly [number, number, Buffer, Buffer?]
    // The change was made, but the user may not publish it.
    if (unpublished) this.#rights.areMissing(unpublished.toString())
    return { written: written === 1, version, revision: stored.toString() }
  }
}

/** The arguments of `write.lua`. */
function wordsOf(document: unknown, { ifRevision }: StoreWriteOptions, change: SettingsChange): readonly string[] {
  const expected = ifRevision === undefined ? ['', ''] : ['1', ifRevision]
  const json = document === null ? '' : JSON.stringify(document)
  return [...expected, newRevision(), json, JSON.stringify(change)]
}

/**
 * The value of a key as `write.lua` wrote it: revision, version and JSON; for a removed document the version only.
 *
 * Any other value also counts as a stored document: the bytes in place of a revision are its revision, since the
 * decision script compares those, and a document that isn't JSON is its text.
 */
function storedDocument(bytes: Buffer | null): StoredDocument | undefined {
  const text = bytes?.toString() ?? ''
  if (bytes === null || text === '' || /^\d+$/.test(text)) return undefined
  const [, revision, version, json] = /^(\S{22}) (\d+) (.*)$/s.exec(text) ?? []
  if (revision === undefined || json === undefined) return { document: text, version: 0, revision: revisionOf(bytes) }
  return { document: parsed(json), version: Number(version), revision }
}

/** The first bytes of a key as `lua/revision.lua` returns them: hexadecimal if they aren't a revision. */
function revisionOf(bytes: Buffer): string {
  const start = bytes.subarray(0, REVISION_BYTES).toString('latin1')
  return start.replace(/[^\w-]/g, (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, '0')}`)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
