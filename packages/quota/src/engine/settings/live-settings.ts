import { type Fault, QuotaError } from '../../errors/quota-error.ts'
import { fitSettings } from '../../policy/fit.ts'
import type { Quotas } from '../../policy/limits.ts'
import type { Policy } from '../../policy/policy.ts'
import { initialSettings, type VersionedSettings } from '../../policy/settings.ts'
import type { FactorStore } from '../../store/factor-store.ts'
import type { Subject } from '../../store/schema.ts'
import type { SettingsChange, SettingsReader, SettingsStore, StoredDocument } from '../../store/settings-store.ts'
import type { Clock } from '../../time/clock.ts'
import { CompiledSettings, type SettingsByLayer } from './compiled-settings.ts'
import { LiveFactor } from './live-factor.ts'
import { LiveSubjects } from './live-subjects.ts'

const NO_SETTINGS: SettingsByLayer = Object.freeze({})

/** Callbacks of a {@link LiveSettings}. */
export interface SettingsListener {
  /** Other settings are in force. */
  changed(settings: VersionedSettings): void
  /** A stored document has members that the policy cannot take. */
  faulty(faults: readonly Fault[], of: 'settings' | { readonly layer: string; readonly key: string }): void
  /** A request, or a subject's settings, name a plan that there is not. */
  unknownPlan(unknown: UnknownPlan): void
}

/**
 * The settings in force, kept up to date with a store: those that are stored, fitted to the policy, and the policy's own
 * where nothing is stored (any more). While a store that does not answer synchronously is being requested newer settings,
 * decisions go on under the last known ones; only the very first read is waited for.
 */
export class LiveSettings {
  readonly #policy: Policy
  readonly #store: SettingsStore
  readonly #listener: SettingsListener
  readonly #unwatch: () => void
  readonly #subjects: LiveSubjects
  readonly #factor: LiveFactor | undefined
  readonly #hasFactor: boolean
  readonly #clock: Clock
  readonly #unknownPlans: UnknownPlans
  #factorHundredths = 100
  #compiled: CompiledSettings
  #faults: readonly Fault[] = []
  #loaded = false
  /** How many reads have begun, and which of them is in force. */
  #begun = 0
  #adopted = 0
  /** The read in flight. */
  #reading: Promise<void> | undefined
  /** The read after it, for callers that know of a change it may have missed. */
  #queuedRead: Promise<void> | undefined

  constructor(
    policy: Policy,
    store: SettingsStore,
    listener: SettingsListener,
    clock: Clock,
    factorStore?: FactorStore,
  ) {
    this.#policy = policy
    this.#store = store
    this.#listener = listener
    this.#clock = clock
    this.#unknownPlans = new UnknownPlans((unknown) => listener.unknownPlan(unknown))
    this.#hasFactor = factorStore !== undefined
    this.#subjects = new LiveSubjects(policy, store, (faults, subject) => listener.faulty(faults, subject))
    this.#compiled = new CompiledSettings(policy, initialSettings(policy))
    this.#factor = factorStore && new LiveFactor(factorStore, (hundredths) => this.#factorMoved(hundredths))
    if (store.sync) this.#adopt(store.read())
    this.#unwatch = store.watch((change) => this.#onChange(change))
  }

  /** The settings now in force; of a store that does not answer synchronously, those last read. */
  get compiled(): CompiledSettings {
    return this.#compiled
  }

  /** What in the stored settings the policy could not take. */
  get faults(): readonly Fault[] {
    return this.#faults
  }

  /** The adaptive factor as it was last read, in whole hundredths; 100 until then. */
  get factorHundredths(): number {
    return this.#factorHundredths
  }

  /** Whether the settings were read once. */
  get loaded(): boolean {
    return this.#loaded
  }

  /** The revision that decisions carry; `undefined` where no other process could change the settings. */
  get revision(): string | undefined {
    return this.#store.isMarked ? this.#compiled.settings.revision : undefined
  }

  /**
   * Settles when the settings were read once.
   *
   * @param within reads them as a part of a transaction, which waits for nothing that may be waiting for its end
   */
  async ready(within?: SettingsReader): Promise<void> {
    if (this.#loaded) return
    if (within === undefined) await (this.#reading ?? this.refresh())
    else await this.#readFrom(within)
  }

  /** Ends when the adaptive factor was read, or could not be; decisions do not wait for it. */
  async factorSettled(): Promise<void> {
    await this.#factor?.settled()
  }

  /**
   * Reads the settings again, by a read that begins after the call: one in flight may have missed a change that the
   * caller knows of. Calls share reads, and none waits for more than two, however many come meanwhile.
   */
  async refresh(): Promise<void> {
    if (this.#store.sync) {
      this.#adopt(this.#store.read())
      return
    }
    if (this.#store.sharesNothing) {
      await this.#readFrom(this.#store)
      return
    }
    if (this.#reading === undefined && this.#queuedRead === undefined) {
      await this.#readNow()
      return
    }
    this.#queuedRead ??= this.#readAfter(this.#reading)
    await this.#queuedRead
  }

  /**
   * The counters know another revision than the one in force here: reads the settings again, puts them in
   * force, and announces them to the counters where that was forgotten or was another store's last word.
   *
   * @param seen the revision that the counters know, `''`: none
   * @param within as of {@link ready}
   */
  async catchUp(seen: string, within?: SettingsReader): Promise<void> {
    if (within === undefined) await this.refresh()
    else await this.#readFrom(within)
    const { revision } = this.#compiled.settings
    if (revision !== seen) await this.#store.reannounce?.(revision, seen)
  }

  /** This process wrote settings; they are in force when the promise is fulfilled. */
  async wrote(stored: StoredDocument): Promise<void> {
    try {
      await this.refresh()
    } catch {
      // The write is done; what it wrote is the newest thing known.
      this.#adopt(stored)
    }
  }

  /** This process wrote a subject's settings: the next decision follows them. */
  wroteSubject(layer: string, key: string): void {
    this.#subjects.forget(layer, key)
  }

  /**
   * The quotas of a subject by category, where they are known without waiting.
   *
   * @param plan that the request names
   */
  cached(subject: Subject, plan?: string): readonly Quotas[] | undefined {
    const settings = this.#subjects.cached(subject)
    if (settings === undefined) return undefined
    if (settings === null && plan === undefined) return this.#compiled.defaults
    return this.quotasOf(settings ?? NO_SETTINGS, plan, subject)
  }

  /**
   * A subject's settings by layer, asked of the store. Asks `ready()` to have been awaited.
   *
   * @param within as of {@link ready}
   */
  async fetch(subject: Subject, within?: SettingsReader): Promise<SettingsByLayer> {
    return await this.#subjects.fetch(subject, within)
  }

  /**
   * Quotas by category under the settings in force, whose {@link revision} goes with them until anything is awaited.
   *
   * @param settings of the subject, as {@link fetch} gives them
   * @param plan that the request names
   * @param subject whose they are
   */
  quotasOf(settings: SettingsByLayer, plan?: string, subject: Subject = ''): readonly Quotas[] {
    const met = (name: string, of: UnknownPlan['of']): void => {
      // Settings that were not read yet may have it.
      if (this.#loaded) this.#unknownPlans.met({ plan: name, subject, of })
    }
    return this.#compiled.quotasOf(settings, plan, this.#clock, met)
  }

  close(): void {
    this.#unwatch()
    this.#factor?.close()
  }

  #readNow(): Promise<void> {
    this.#reading = this.#readSettings()
    return this.#reading
  }

  async #readAfter(reading: Promise<void> | undefined): Promise<void> {
    // Its failure is reported to the callers that wait for it.
    await reading?.catch(() => undefined)
    this.#queuedRead = undefined
    await this.#readNow()
  }

  /** One at a time for all callers. */
  async #readSettings(): Promise<void> {
    try {
      await this.#readFrom(this.#store)
    } finally {
      this.#reading = undefined
    }
  }

  /** Reads of transactions overlap with the others: what an earlier read found is not adopted after a later one. */
  async #readFrom(source: Pick<SettingsReader | SettingsStore, 'read'>): Promise<void> {
    this.#begun++
    const begun = this.#begun
    const stored = await source.read()
    if (begun < this.#adopted) return
    this.#adopted = begun
    this.#adopt(stored)
  }

  /** Absence is adopted like any other state: a store that lost its data is followed as it is. */
  #adopt(stored: StoredDocument | undefined): void {
    if (stored !== undefined) check(stored)
    this.#loaded = true
    if ((stored?.revision ?? '') === this.#compiled.settings.revision) return
    const { settings, faults } = this.#fit(stored)
    this.#compiled = new CompiledSettings(this.#policy, settings, this.#factorHundredths)
    this.#faults = faults
    this.#unknownPlans.forget()
    if (faults.length > 0) this.#listener.faulty(faults, 'settings')
    this.#listener.changed(settings)
  }

  #fit(stored: StoredDocument | undefined): { settings: VersionedSettings; faults: readonly Fault[] } {
    if (stored === undefined) return { settings: initialSettings(this.#policy), faults: [] }
    const { version, revision } = stored
    const { settings, faults } = fitSettings(this.#policy, this.#hasFactor, stored.document)
    return { settings: { ...settings, version, revision }, faults }
  }

  #factorMoved(hundredths: number): void {
    this.#factorHundredths = hundredths
    const { settings } = this.#compiled
    if (settings.mode === 'adaptive') this.#compiled = new CompiledSettings(this.#policy, settings, hundredths)
  }

  #onChange(change: SettingsChange): void {
    if (change.kind === 'subject') {
      this.#subjects.forget(change.layer, change.key)
      return
    }
    if (change.kind === 'everything') this.#subjects.forgetAll()
    if (this.#store.sharesNothing) return
    // A failed read leaves the last known settings in force; the store reports the next change, and `update` reads.
    this.refresh().catch(() => undefined)
  }
}

/** @throws {QuotaError} `store_error` for what breaks the port's promise */
function check({ revision, version }: StoredDocument): void {
  if (typeof revision === 'string' && revision !== '' && Number.isSafeInteger(version)) return
  throw new QuotaError('store_error', 'the settings store gave a document without a revision or a version')
}

/** A plan that does not exist, and where it was met; its subjects follow the base limits. */
export interface UnknownPlan {
  readonly plan: string
  readonly subject: Subject
  /** Whether the request named it, or the subject's stored settings. */
  readonly of: 'request' | 'settings'
}

/** How many are reported per version of the settings: requests can name any text. */
const MAX_REPORTED = 100

/** Reports each unknown plan once per version of the settings. */
export class UnknownPlans {
  readonly #report: (unknown: UnknownPlan) => void
  readonly #reported = new Set<string>()

  constructor(report: (unknown: UnknownPlan) => void) {
    this.#report = report
  }

  met(unknown: UnknownPlan): void {
    if (this.#reported.size >= MAX_REPORTED || this.#reported.has(unknown.plan)) return
    this.#reported.add(unknown.plan)
    this.#report(unknown)
  }

  /** Other settings are in force. */
  forget(): void {
    this.#reported.clear()
  }
}
