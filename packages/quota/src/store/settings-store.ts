import type { Answer } from './quota-store.ts'

/** What changed in a settings store: the settings, one subject's, or everything if that is unknown. */
export type SettingsChange =
  | { readonly kind: 'settings' }
  | { readonly kind: 'subject'; readonly layer: string; readonly key: string }
  | { readonly kind: 'everything' }

/** A stored document. Its writer and their policy are unknown, so nothing in it is taken for granted. */
export interface StoredDocument {
  readonly document: unknown
  /** Counts the writes that people see: 1, 2, 3 ... It restarts if a store lost its data. */
  readonly version: number
  /** Random text of this write, never empty: documents with equal revisions are equal. */
  readonly revision: string
}

/** Options of a write. */
export interface StoreWriteOptions {
  /** Writes only if this revision is stored, `''` for none. Absent: any. */
  readonly ifRevision?: string | undefined
  /** Who makes the change, for stores with an audit trail. */
  readonly by?: string | undefined
}

/** The result of a write: the stored state (version 0, revision `''`: nothing), and whether it was written. */
export interface WriteReply {
  readonly written: boolean
  readonly version: number
  readonly revision: string
}

/** Reads documents as one transaction sees them. */
export interface SettingsReader {
  read(): PromiseLike<StoredDocument | undefined>
  readSubject(layer: string, key: string): PromiseLike<ReadWithin>
}

/** A subject's document as a transaction sees it. */
export interface ReadWithin {
  readonly stored: StoredDocument | undefined
  /** `false`: it may belong to the transaction's first snapshot, so it isn't cached. */
  readonly isLatest: boolean
}

/**
 * Where settings live, as documents that the engine fits to its policy. What every one promises:
 *
 * 1. A write is compare-and-set on the revision, and gives the document a new one ({@link newRevision}). A document and
 *    its revision are read together.
 * 2. A write that was answered is what every later read gives, also one by another process.
 * 3. Watchers are notified of a change within one second, including other processes' changes, lost data, and an older
 *    state that was restored.
 */
interface SettingsPort {
  /**
   * Whether the counters' store knows the revision in force, because it is stored or announced there. Decisions are
   * then made under exactly the stored settings. `false`: the settings belong to this process.
   */
  readonly isMarked: boolean
  /**
   * Whether each caller reads for itself, as Cloudflare Workers need it. There a read that several requests wait for is lost
   * with the one that made it. Nothing is read in the background either: decisions carry their revision.
   */
  readonly sharesNothing?: boolean | undefined
  read(): Answer<StoredDocument | undefined>
  write(document: unknown, options: StoreWriteOptions): Answer<WriteReply>
  readSubject(layer: string, key: string): Answer<StoredDocument | undefined>
  /** `null` removes the subject's settings; its version keeps counting. */
  writeSubject(layer: string, key: string, document: unknown, options: StoreWriteOptions): Answer<WriteReply>
  /**
   * Reads inside the caller's transaction, if the counters are charged in it: every connection may have one open, with
   * none free for another read. Absent if documents are stored elsewhere.
   */
  within?(transaction: unknown): SettingsReader
  /** Calls `listener` after changes of any process, until you call the returned function. */
  watch(listener: (change: SettingsChange) => void): () => void
  /**
   * For documents and counters in different stores: a process that read `revision` got `seen` from the counters.
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
   * Set while the first connection is being made and nothing has failed yet; resolves when either is over. Deadlines of
   * calls start after that.
   *
   * @default connecting counts in the deadline
   */
  readonly opening?: PromiseLike<void> | undefined
  read(): PromiseLike<StoredDocument | undefined>
  write(document: unknown, options: StoreWriteOptions): PromiseLike<WriteReply>
  readSubject(layer: string, key: string): PromiseLike<StoredDocument | undefined>
  writeSubject(layer: string, key: string, document: unknown, options: StoreWriteOptions): PromiseLike<WriteReply>
}

export type SettingsStore = SyncSettingsStore | AsyncSettingsStore

/** A revision for one write: 132 random bits as 22 characters of `A-Z a-z 0-9 _ -`. */
export function newRevision(): string {
  let text = ''
  for (const byte of crypto.getRandomValues(new Uint8Array(22))) text += ALPHABET[byte & 63]
  return text
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-'
