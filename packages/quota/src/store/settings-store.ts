import type { Answer } from './quota-store.ts'

/** What changed in a settings store: the settings, one subject's, or (when that is unknown) anything. */
export type SettingsChange =
  | { readonly kind: 'settings' }
  | { readonly kind: 'subject'; readonly layer: string; readonly key: string }
  | { readonly kind: 'everything' }

/** A document as it is stored: by whom and under which policy nobody knows, so that nothing is taken for granted of it. */
export interface StoredDocument {
  readonly document: unknown
  /** Counts the writes that people see: 1, 2, 3 ... It begins again where a store lost its data. */
  readonly version: number
  /** Random text of this one write: two documents are the same where their revisions are. Never empty. */
  readonly revision: string
}

/** How a document is written. */
export interface StoreWriteOptions {
  /** The write happens only if this revision is the stored one, `''`: nothing is; absent: whatever is stored. */
  readonly ifRevision?: string | undefined
  /** Who changes it, for stores that keep an audit trail. */
  readonly by?: string | undefined
}

/** The result of a write: the state stored now (version 0, revision `''`: nothing), and whether the write happened. */
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
  /** `false`: it may be of the snapshot that the transaction began with, and is not remembered. */
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
   * Whether the counters' store knows the revision in force, since it is kept or announced there: decisions are then
   * made under the very settings that are stored. `false`: settings of this process alone.
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
  /** `null` removes the subject's settings; its version goes on counting. */
  writeSubject(layer: string, key: string, document: unknown, options: StoreWriteOptions): Answer<WriteReply>
  /**
   * Reads through a transaction of the caller's, where the counters are charged in it: every connection may have one open,
   * and no other be free. Absent where documents live elsewhere.
   */
  within?(transaction: unknown): SettingsReader
  /** Calls `listener` after changes, also those of other processes, until the returned function is called. */
  watch(listener: (change: SettingsChange) => void): () => void
  /**
   * Where documents and counters live apart: a process that read `revision` saw `seen` with the counters. Announces
   * the first there, if the second is still the announced one.
   */
  reannounce?(revision: string, seen: string): Answer<void>
  close?(): void | PromiseLike<void>
}

/** A settings store that answers synchronously. */
export interface SyncSettingsStore extends SettingsPort {
  readonly sync: true
  read(): StoredDocument | undefined
  write(document: unknown, options: StoreWriteOptions): WriteReply
  readSubject(layer: string, key: string): StoredDocument | undefined
  writeSubject(layer: string, key: string, document: unknown, options: StoreWriteOptions): WriteReply
}

/** A settings store that answers later. */
export interface AsyncSettingsStore extends SettingsPort {
  readonly sync: false
  /**
   * There while the first connection is being made and nothing has failed yet; resolves when either is over. Deadlines of
   * calls count from then on.
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
