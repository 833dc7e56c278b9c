import type { Settings, SubjectSettings, VersionedSettings, VersionedSubjectSettings } from '../policy/settings.ts'
import type { MaybePromise } from './quota-store.ts'

/** What changed in a settings store: the settings, one subject's, or (when it cannot tell) anything. */
export type SettingsChange =
  | { readonly kind: 'settings' }
  | { readonly kind: 'subject'; readonly layer: string; readonly key: string }
  | { readonly kind: 'everything' }

/** How a change is written. */
export interface WriteOptions {
  /** The write happens only if this is the version now stored; absent: whatever is stored. */
  readonly ifVersion?: number | undefined
  /** Who changes it, for stores that keep an audit trail. */
  readonly by?: string | undefined
}

/** What came of a write: the version now stored, and whether the write happened. */
export interface WriteReply {
  readonly written: boolean
  readonly version: number
}

/**
 * Where settings live. Documents are validated by the engine before they are written. Versions count 1, 2, 3 ... for
 * each document; 0 means that nothing is stored. A write is compare-and-set on the version. After a write every engine
 * that shares the store hears of it through `watch`, within one second.
 */
export interface SettingsStore {
  /** Whether every call answers at once, never with a promise. */
  readonly sync: boolean
  read(): MaybePromise<VersionedSettings | undefined>
  write(settings: Settings, options: WriteOptions): MaybePromise<WriteReply>
  readSubject(layer: string, key: string): MaybePromise<VersionedSubjectSettings | undefined>
  /** `null` removes the subject's settings; its version goes on counting. */
  writeSubject(
    layer: string,
    key: string,
    settings: SubjectSettings | null,
    options: WriteOptions,
  ): MaybePromise<WriteReply>
  /** Calls `listener` after changes, also those of other processes, until the returned function is called. */
  watch(listener: (change: SettingsChange) => void): () => void
  close?(): MaybePromise<void>
}
