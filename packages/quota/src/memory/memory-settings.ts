import type { FactorState, FactorStore, VersionedFactor } from '../store/factor-store.ts'
import { type MinuteOutcomes, OUTCOMES_KEPT_MINUTES, type OutcomeStore, OutcomeTable } from '../store/outcomes.ts'
import {
  newRevision,
  type SettingsChange,
  type StoredDocument,
  type StoreWriteOptions,
  type SyncSettingsStore,
  type WriteReply,
} from '../store/settings-store.ts'

/** A synchronous settings store in the memory of one process. */
export interface MemorySettings extends SyncSettingsStore {}

/** Makes settings in memory, which are lost when the process ends. The default of an engine. */
export function memorySettings(): MemorySettings {
  return new Store()
}

/** The stored form of a document. A removed document keeps its version, so that versions never repeat. */
interface Entry {
  readonly version: number
  readonly stored: StoredDocument | undefined
}

const NOTHING: Entry = { version: 0, stored: undefined }

class Store implements MemorySettings {
  readonly sync = true
  readonly isMarked = false
  readonly #listeners = new Set<(change: SettingsChange) => void>()
  /** By layer, then by key. */
  readonly #subjects = new Map<string, Map<string, Entry>>()
  #settings: Entry = NOTHING

  read(): StoredDocument | undefined {
    return this.#settings.stored
  }

  write(document: unknown, options: StoreWriteOptions): WriteReply {
    return write(this.#settings, document, options, (entry) => {
      this.#settings = entry
      this.#notify({ kind: 'settings' })
    })
  }

  readSubject(layer: string, key: string): StoredDocument | undefined {
    // Every decision reads this, and often no subject has settings.
    return this.#subjects.size === 0 ? undefined : this.#subjects.get(layer)?.get(key)?.stored
  }

  writeSubject(layer: string, key: string, document: unknown, options: StoreWriteOptions): WriteReply {
    const keys = this.#subjects.get(layer) ?? new Map<string, Entry>()
    return write(keys.get(key) ?? NOTHING, document, options, (entry) => {
      keys.set(key, entry)
      this.#subjects.set(layer, keys)
      this.#notify({ kind: 'subject', layer, key })
    })
  }

  watch(listener: (change: SettingsChange) => void): () => void {
    // A new function, so that one listener can watch twice.
    const entry = (change: SettingsChange): void => listener(change)
    this.#listeners.add(entry)
    return () => this.#listeners.delete(entry)
  }

  #notify(change: SettingsChange): void {
    for (const listener of [...this.#listeners]) listener(change)
  }
}

/** Compare-and-set. `put` gets the new entry if it was written. */
function write(
  { version, stored }: Entry,
  document: unknown,
  { ifRevision }: StoreWriteOptions,
  put: (entry: Entry) => void,
): WriteReply {
  const revision = stored?.revision ?? ''
  if (ifRevision !== undefined && ifRevision !== revision) {
    return { written: false, version: stored?.version ?? 0, revision }
  }
  const next = { version: version + 1, revision: newRevision() }
  if (document === null) {
    put({ version: next.version, stored: undefined })
    return { written: true, version: 0, revision: '' }
  }
  put({ version: next.version, stored: { document, ...next } })
  return { written: true, ...next }
}

/** A synchronous {@link FactorStore} in the memory of one process. */
export interface MemoryFactor extends FactorStore {
  readonly sync: true
  read(): VersionedFactor | undefined
  compareAndSet(expectedVersion: number, minute: number, state: FactorState): boolean
}

/** Stores the adaptive factor in memory, which is lost when the process ends. */
export function memoryFactor(): MemoryFactor {
  const listeners = new Set<() => void>()
  let stored: VersionedFactor | undefined
  return {
    sync: true,
    read: () => stored,
    compareAndSet(expectedVersion, minute, state) {
      if ((stored?.version ?? 0) !== expectedVersion || stored?.minute === minute) return false
      stored = { version: expectedVersion + 1, minute, state }
      for (const listener of listeners) listener()
      return true
    },
    watch(listener) {
      // A new function, so that one listener can watch twice.
      const entry = (): void => listener()
      listeners.add(entry)
      return () => listeners.delete(entry)
    },
  }
}

/** A synchronous {@link OutcomeStore} in the memory of one process. */
export interface MemoryOutcomes extends OutcomeStore {
  add(counts: readonly MinuteOutcomes[]): void
  read(fromMinute: number, toMinute: number): MinuteOutcomes[]
}

/** Stores counts in memory for the last 11,520 minutes with calls. They are lost when the process ends. */
export function memoryOutcomes(): MemoryOutcomes {
  const table = new OutcomeTable(OUTCOMES_KEPT_MINUTES)
  return {
    add(counts) {
      for (const each of counts) table.add(each)
    },
    read: (fromMinute, toMinute) => table.entries().filter(({ minute }) => minute >= fromMinute && minute < toMinute),
  }
}
