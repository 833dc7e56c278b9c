import type { Settings, SubjectSettings, VersionedSettings, VersionedSubjectSettings } from '../policy/settings.ts'
import type { SettingsChange, SettingsStore, WriteOptions, WriteReply } from '../store/settings-store.ts'

/** A {@link SettingsStore} in the memory of one process, which answers at once. */
export interface MemorySettings extends SettingsStore {
  readonly sync: true
  read(): VersionedSettings | undefined
  write(settings: Settings, options: WriteOptions): WriteReply
  readSubject(layer: string, key: string): VersionedSubjectSettings | undefined
  writeSubject(layer: string, key: string, settings: SubjectSettings | null, options: WriteOptions): WriteReply
}

/** Settings in memory: gone with the process. The default of an engine. */
export function memorySettings(): MemorySettings {
  return new Store()
}

interface SubjectEntry {
  readonly version: number
  readonly settings: VersionedSubjectSettings | undefined
}

class Store implements MemorySettings {
  readonly sync = true
  readonly #listeners = new Set<(change: SettingsChange) => void>()
  /** By layer, then by key; removed ones stay as a version, so that versions never repeat. */
  readonly #subjects = new Map<string, Map<string, SubjectEntry>>()
  #settings: VersionedSettings | undefined

  read(): VersionedSettings | undefined {
    return this.#settings
  }

  write(settings: Settings, { ifVersion }: WriteOptions): WriteReply {
    const stored = this.#settings?.version ?? 0
    if (ifVersion !== undefined && ifVersion !== stored) return { written: false, version: stored }
    this.#settings = { ...settings, version: stored + 1 }
    this.#tell({ kind: 'settings' })
    return { written: true, version: stored + 1 }
  }

  readSubject(layer: string, key: string): VersionedSubjectSettings | undefined {
    // Every decision asks, and often nobody has settings of their own.
    return this.#subjects.size === 0 ? undefined : this.#subjects.get(layer)?.get(key)?.settings
  }

  writeSubject(layer: string, key: string, settings: SubjectSettings | null, { ifVersion }: WriteOptions): WriteReply {
    const keys = this.#subjects.get(layer) ?? new Map<string, SubjectEntry>()
    const stored = keys.get(key)?.settings?.version ?? 0
    if (ifVersion !== undefined && ifVersion !== stored) return { written: false, version: stored }
    const version = (keys.get(key)?.version ?? 0) + 1
    keys.set(key, { version, settings: settings === null ? undefined : { ...settings, version } })
    this.#subjects.set(layer, keys)
    this.#tell({ kind: 'subject', layer, key })
    return { written: true, version: settings === null ? 0 : version }
  }

  watch(listener: (change: SettingsChange) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #tell(change: SettingsChange): void {
    for (const listener of this.#listeners) listener(change)
  }
}
