import type { Quotas } from '../policy/limits.ts'
import type { LayerDefinition, Policy } from '../policy/policy.ts'
import { initialSettings, type VersionedSettings, type VersionedSubjectSettings } from '../policy/settings.ts'
import type { FactorStore } from '../store/factor-store.ts'
import { layerKey, type MaybePromise, type Subject } from '../store/quota-store.ts'
import type { SettingsChange, SettingsStore } from '../store/settings-store.ts'
import { CompiledSettings } from './compiled-settings.ts'
import { LiveFactor } from './live-factor.ts'

/** Most subjects whose settings (or their absence) are remembered, when the store does not answer at once. */
const MAX_REMEMBERED = 10_000

/**
 * The settings in force, kept up to date with a store. While a store that does not answer at once is being asked for
 * newer settings, decisions go on under the last known ones; only the very first look waits.
 */
export class LiveSettings {
  readonly #policy: Policy
  readonly #store: SettingsStore
  readonly #ownLayers: readonly LayerDefinition[]
  readonly #onChange: (settings: VersionedSettings) => void
  readonly #unwatch: () => void
  /** In the order of last use; `null`: the store has nothing for this subject. */
  readonly #remembered = new Map<string, VersionedSubjectSettings | null>()
  /** Counts changes heard of, so that what was read before a change is not remembered after it. */
  #changes = 0
  readonly #factor: LiveFactor | undefined
  #factorHundredths = 100
  #compiled: CompiledSettings
  #loaded = false
  #refreshing: Promise<void> | undefined

  constructor(
    policy: Policy,
    store: SettingsStore,
    onChange: (settings: VersionedSettings) => void,
    factorStore?: FactorStore,
  ) {
    this.#policy = policy
    this.#store = store
    this.#onChange = onChange
    this.#ownLayers = policy.layers.filter((layer) => !layer.shared)
    this.#compiled = new CompiledSettings(policy, initialSettings(policy))
    this.#factor = factorStore && new LiveFactor(factorStore, (hundredths) => this.#factorMoved(hundredths))
    if (store.sync) this.#adopt(store.read() as VersionedSettings | undefined)
    this.#unwatch = store.watch((change) => this.#heard(change))
  }

  /** Whether {@link quotasOf} answers at once. */
  get sync(): boolean {
    return this.#store.sync
  }

  /** The settings now in force; of a store that does not answer at once, those last read. */
  get compiled(): CompiledSettings {
    return this.#compiled
  }

  /** The adaptive factor as it was last read, in whole hundredths; 100 until then. */
  get factorHundredths(): number {
    return this.#factorHundredths
  }

  /** Whether the settings were read once. */
  get loaded(): boolean {
    return this.#loaded
  }

  /** Nothing when the settings were read once; else a promise for that. */
  ready(): MaybePromise<void> {
    return this.#loaded ? undefined : this.refresh()
  }

  /** Ends when the adaptive factor was read, or could not be; decisions do not wait for it. */
  async factorSettled(): Promise<void> {
    await this.#factor?.settled()
  }

  /** Reads the settings anew; calls at the same time share one look. */
  refresh(): MaybePromise<void> {
    if (this.#store.sync) {
      this.#adopt(this.#store.read() as VersionedSettings | undefined)
      return
    }
    // A look that is under way may have begun before what the caller knows of: it is told to look once more.
    if (this.#refreshing !== undefined) this.#changes++
    this.#refreshing ??= this.#readSettings().finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  /** The quotas of a subject by category. Asks `ready()` to have been awaited. */
  quotasOf(subject: Subject): MaybePromise<readonly Quotas[]> {
    if (this.#store.sync) {
      const found = this.#lookUp(subject)
      return found === undefined ? this.#compiled.defaults : this.#compiled.quotasOf(found)
    }
    const missing = this.#ownLayers.some((layer) => !this.#remembered.has(memoryKey(layer, subject)))
    if (!missing) return this.#compiled.quotasOf(this.#recall(subject))
    return this.#fetch(subject).then((found) => this.#compiled.quotasOf(found))
  }

  close(): void {
    this.#unwatch()
    this.#factor?.close()
  }

  #lookUp(subject: Subject): Record<string, VersionedSubjectSettings> | undefined {
    let found: Record<string, VersionedSubjectSettings> | undefined
    for (const layer of this.#ownLayers) {
      const settings = this.#store.readSubject(layer.name, layerKey(layer, subject))
      if (settings === undefined) continue
      found ??= {}
      found[layer.name] = settings as VersionedSubjectSettings
    }
    return found
  }

  #recall(subject: Subject): Record<string, VersionedSubjectSettings> {
    const found: Record<string, VersionedSubjectSettings> = {}
    for (const layer of this.#ownLayers) {
      const key = memoryKey(layer, subject)
      const settings = this.#remembered.get(key) ?? null
      this.#remember(key, settings)
      if (settings !== null) found[layer.name] = settings
    }
    return found
  }

  async #fetch(subject: Subject): Promise<Record<string, VersionedSubjectSettings>> {
    const changes = this.#changes
    const entries = await Promise.all(
      this.#ownLayers.map(async (layer) => {
        const settings = (await this.#store.readSubject(layer.name, layerKey(layer, subject))) ?? null
        // A change heard of meanwhile may be newer than what was read: use it once, remember nothing.
        if (changes === this.#changes) this.#remember(memoryKey(layer, subject), settings)
        return [layer.name, settings] as const
      }),
    )
    return Object.fromEntries(entries.filter((entry): entry is [string, VersionedSubjectSettings] => entry[1] !== null))
  }

  #remember(key: string, settings: VersionedSubjectSettings | null): void {
    this.#remembered.delete(key)
    this.#remembered.set(key, settings)
    if (this.#remembered.size > MAX_REMEMBERED) this.#remembered.delete(this.#remembered.keys().next().value!)
  }

  async #readSettings(): Promise<void> {
    for (;;) {
      const changes = this.#changes
      this.#adopt(await this.#store.read())
      if (changes === this.#changes) return
    }
  }

  #adopt(stored: VersionedSettings | undefined): void {
    this.#loaded = true
    if (stored === undefined || stored.version === this.#compiled.settings.version) return
    this.#compiled = new CompiledSettings(this.#policy, stored, this.#factorHundredths)
    this.#onChange(stored)
  }

  #factorMoved(hundredths: number): void {
    this.#factorHundredths = hundredths
    const { settings } = this.#compiled
    if (settings.mode === 'adaptive') this.#compiled = new CompiledSettings(this.#policy, settings, hundredths)
  }

  #heard(change: SettingsChange): void {
    this.#changes++
    if (change.kind === 'subject') this.#remembered.delete(JSON.stringify([change.layer, change.key]))
    if (change.kind === 'everything') this.#remembered.clear()
    if (change.kind === 'subject') return
    // A failed look leaves the last known settings in force; the store tells of the next change, and `update` asks.
    Promise.resolve(this.refresh()).catch(() => undefined)
  }
}

function memoryKey(layer: LayerDefinition, subject: Subject): string {
  return JSON.stringify([layer.name, layerKey(layer, subject)])
}
