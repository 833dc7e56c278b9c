import type { Answer } from './quota-store.ts'

/** A change in a settings store: of the settings, of one subject's settings, or unknown. */
export type SettingsChange =
  | { readonly kind: 'settings' }
  | { readonly kind: 'subject'; readonly layer: string; readonly key: string }
  | { readonly kind: 'everything' }

/** A stored document. Its writer and the writer's policy are unknown, so it may contain anything. */
export interface StoredDocument {
  readonly document: unknown
  /** Counts writes, for people: 1, 2, 3 ... It restarts if a store lost its data. */
  readonly version: number
  /** Random text of this write, never empty. Documents with equal revisions are equal. */
  readonly revision: string
}

/** Options of a write. */
export interface StoreWriteOptions {
  /** Only write if this revision is stored; `''`: nothing is stored. Absent: any. */
  readonly ifRevision?: string | undefined
  /** Who makes the change, for stores with an audit trail. */
  readonly by?: string | undefined
}

/** The result of a write: whether it was written, and the stored state (version 0, revision `''`: nothing). */
export interface WriteReply {
  readonly written: boolean
  readonly version: number
  readonly revision: string
}

/** Reads documents in a transaction. */
export interface SettingsReader {
  read(): PromiseLike<StoredDocument | undefined>
  readSubject(layer: string, key: string): PromiseLike<ReadWithin>
}

/** A subject's document as a transaction sees it. */
export interface ReadWithin {
  readonly stored: StoredDocument | undefined
  /** `false`: it may be from the transaction's first snapshot, so it isn't cached. */
  readonly isLatest: boolean
}

/**
 * A store of settings documents, which the engine fits to its policy. The contract:
 *
 * 1. A write is compare-and-set on the revision, and gives the document a new one ({@link newRevision}). A document and
 *    its revision are read together.
 * 2. After a write has returned, every later read returns it, in any process.
 * 3. Watchers are notified of a change within one second. This includes changes by other processes, lost data, and a
 *    restored older state.
 */
interface SettingsPort {
  /**
   * Whether the store of the counters knows the effective revision, because it is stored or announced there. Decisions
   * then use exactly the stored settings. `false`: the settings belong to this process.
   */
  readonly isMarked: boolean
  /**
   * Whether each caller reads for itself, as in Cloudflare Workers, where a shared read is lost with the request that
   * started it. Nothing is read in the background either: decisions include their revision.
   */
  readonly sharesNothing?: boolean | undefined
  read(): Answer<StoredDocument | undefined>
  write(document: unknown, options: StoreWriteOptions): Answer<WriteReply>
  readSubject(layer: string, key: string): Answer<StoredDocument | undefined>
  /** `null` removes the subject's settings; its version keeps counting. */
  writeSubject(layer: string, key: string, document: unknown, options: StoreWriteOptions): Answer<WriteReply>
  /**
   * Returns a reader for the caller's transaction, if the counters are charged in it. All connections may be in
   * transactions, with none left for another read. Absent if documents are stored elsewhere.
   */
  inTransaction?(transaction: unknown): SettingsReader
  /** Calls `listener` after changes by any process, until you call the returned function. */
  watch(listener: (change: SettingsChange) => void): () => void
  /**
   * For documents and counters in different stores: a process has read `revision` but got `seen` from the counters.
   * Announces `revision` there, if `seen` is still the announced one.
   */
  reannounce?(revision: string, seen: string): Answer<void>
  close?(): void | PromiseLike<void>
}

/** A synchronous settings store. */
export interface SyncSettingsStore extends SettingsPort {
  readonly sync: true
  read(): StoredDocument | undefined
  write(document: unknown, options: StoreWriteOptions): WriteReply
  readSubject(layer: string, key: string): StoredDocument | undefined
  writeSubject(layer: string, key: string, document: unknown, options: StoreWriteOptions): WriteReply
}

/** An asynchronous settings store. */
export interface AsyncSettingsStore extends SettingsPort {
  readonly sync: false
  /**
   * Present during the first connection, until it succeeds or fails; then it resolves. Deadlines of calls start after
   * that.
   *
   * @default the deadline includes connecting
   */
  readonly opening?: PromiseLike<void> | undefined
  read(): PromiseLike<StoredDocument | undefined>
  write(document: unknown, options: StoreWriteOptions): PromiseLike<WriteReply>
  readSubject(layer: string, key: string): PromiseLike<StoredDocument | undefined>
  writeSubject(layer: string, key: string, document: unknown, options: StoreWriteOptions): PromiseLike<WriteReply>
}

export type SettingsStore = SyncSettingsStore | AsyncSettingsStore

/** Returns a new revision: 132 random bits as 22 characters of `A-Z a-z 0-9 _ -`. */
export function newRevision(): string {
  let text = ''
  for (const byte of crypto.getRandomValues(new Uint8Array(22))) text += ALPHABET[byte & 63]
  return text
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-'
