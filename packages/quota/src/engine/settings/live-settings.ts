import { type Fault, QuotaError } from '../../errors/quota-error.ts'
import { fitSettings } from '../../policy/fit.ts'
import type { Quotas } from '../../policy/limits.ts'
import type { Policy } from '../../policy/policy.ts'
import { initialSettings, type VersionedSettings } from '../../policy/settings.ts'
import type { FactorStore } from '../../store/factor-store.ts'
import type { Subject } from '../../store/schema.ts'
import type { SettingsChange, SettingsReader, SettingsStore, StoredDocument } from '../../store/settings-store.ts'
import type { Clock } from '../../time/clock.ts'
import { CompiledSettings, type RequestTerms, type SettingsByLayer } from './compiled-settings.ts'
import { LiveFactor } from './live-factor.ts'
import { LiveSubjects } from './live-subjects.ts'

const NO_SETTINGS: SettingsByLayer = Object.freeze({})

/** Callbacks of a {@link LiveSettings}. */
export interface SettingsListener {
  /** The effective settings changed. */
  changed(settings: VersionedSettings): void
  /** A stored document has members that the policy can't use. */
  faulty(faults: readonly Fault[], of: 'settings' | { readonly layer: string; readonly key: string }): void
  /** A request or a subject's settings name an unknown plan. */
  unknownPlan(unknown: UnknownPlan): void
}

export interface LiveSettingsDeps {
  readonly policy: Policy
  readonly settingsStore: SettingsStore
  readonly clock: Clock
  readonly factorStore: FactorStore | undefined
}

/**
 * The effective settings: the stored ones, fitted to the policy, or the policy's own if nothing is stored. Only the
 * first read is awaited. While an asynchronous store is read again, decisions use the last known settings.
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
  /** How many reads have started, and which of them is in effect. */
  #begun = 0
  #adopted = 0
  /** The read in flight. */
  #reading: Promise<void> | undefined
  /** The read after it, for callers that know of a change which the first may have missed. */
  #queuedRead: Promise<void> | undefined

  constructor({ policy, settingsStore: store, clock, factorStore }: LiveSettingsDeps, listener: SettingsListener) {
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

  /** The effective settings; for an asynchronous store, those last read. */
  get compiled(): CompiledSettings {
    return this.#compiled
  }

  /** The faults of the stored settings. */
  get faults(): readonly Fault[] {
    return this.#faults
  }

  /** The adaptive factor last read, in hundredths; 100 before that. */
  get factorHundredths(): number {
    return this.#factorHundredths
  }

  /** Whether the settings have been read. */
  get loaded(): boolean {
    return this.#loaded
  }

  /** The revision that decisions include; `undefined`: no other process can change the settings. */
  get revision(): string | undefined {
    return this.#store.isMarked ? this.#compiled.settings.revision : undefined
  }

  /**
   * Resolves once the settings have been read.
   *
   * @param within reads them inside a transaction, so that it doesn't wait for reads that may wait for its end
   */
  async ready(within?: SettingsReader): Promise<void> {
    if (this.#loaded) return
    if (within === undefined) await (this.#reading ?? this.refresh())
    else await this.#readFrom(within)
  }

  /** Resolves when the read of the adaptive factor has ended, even if it failed. Decisions don't wait for it. */
  async factorSettled(): Promise<void> {
    await this.#factor?.settled()
  }

  /**
   * Reads the settings again. The read starts after the call, because one in flight may have missed a change that the
   * caller knows of. Calls share reads, so none waits for more than two.
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
   * Call when the counters know another revision. Reads and applies the settings. If they still differ from `seen`,
   * announces them to the counters, which may have missed an announcement.
   *
   * @param seen the revision that the counters know, `''`: none
   * @param within see {@link ready}
   */
  async catchUp(seen: string, within?: SettingsReader): Promise<void> {
    if (within === undefined) await this.refresh()
    else await this.#readFrom(within)
    const { revision } = this.#compiled.settings
    if (revision !== seen) await this.#store.reannounce?.(revision, seen)
  }

  /** Call after this process wrote settings. They apply once the promise resolves. */
  async wrote(stored: StoredDocument): Promise<void> {
    try {
      await this.refresh()
    } catch {
      // The write is done, and nothing newer is known.
      this.#adopt(stored)
    }
  }

  /** Call after this process wrote a subject's settings. They apply to the next decision. */
  wroteSubject(layer: string, key: string): void {
    this.#subjects.forget(layer, key)
  }

  /**
   * Returns a subject's quotas, if they are known without waiting.
   *
   * @param terms of the request
   */
  cached(subject: Subject, terms: RequestTerms): Quotas | undefined {
    const settings = this.#subjects.cached(subject)
    if (settings === undefined) return undefined
    if (settings === null && terms.plan === undefined && terms.numbers === undefined) return this.#compiled.defaults
    return this.quotasOf(settings ?? NO_SETTINGS, terms, subject)
  }

  /**
   * Reads a subject's settings by layer from the store. Await `ready()` first.
   *
   * @param within see {@link ready}
   */
  async fetch(subject: Subject, within?: SettingsReader): Promise<SettingsByLayer> {
    return await this.#subjects.fetch(subject, within)
  }

  /**
   * Returns quotas under the effective settings. {@link revision} belongs to them until the next `await`.
   *
   * @param settings of the subject, from {@link fetch}
   * @param terms of the request
   * @param subject for events
   */
  quotasOf(settings: SettingsByLayer, terms: RequestTerms, subject: Subject = ''): Quotas {
    const met = (name: string, of: UnknownPlan['of']): void => {
      // Settings that haven't been read yet may define the plan.
      if (this.#loaded) this.#unknownPlans.met({ plan: name, subject, of })
    }
    return this.#compiled.quotasOf(settings, terms, this.#clock, met)
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
    // The callers that wait for it get its error.
    await reading?.catch(() => undefined)
    this.#queuedRead = undefined
    await this.#readNow()
  }

  /** Reads once at a time, for all callers. */
  async #readSettings(): Promise<void> {
    try {
      await this.#readFrom(this.#store)
    } finally {
      this.#reading = undefined
    }
  }

  /** Reads of transactions overlap with others. An earlier read is not applied after a later one. */
  async #readFrom(source: Pick<SettingsReader | SettingsStore, 'read'>): Promise<void> {
    this.#begun++
    const begun = this.#begun
    const stored = await source.read()
    if (begun < this.#adopted) return
    this.#adopted = begun
    this.#adopt(stored)
  }

  /** Missing settings are applied like any others, even if the store has lost them. */
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
    // After a failed read, the last known settings stay in effect. The store reports the next change, and `update`
    // reads.
    this.refresh().catch(() => undefined)
  }
}

/** @throws {QuotaError} `store_error` if the store breaks its contract */
function check({ revision, version }: StoredDocument): void {
  if (typeof revision === 'string' && revision !== '' && Number.isSafeInteger(version)) return
  throw new QuotaError('store_error', 'the settings store gave a document without a revision or a version')
}

/** An unknown plan, and where it was found. Its subjects follow the policy's numbers. */
export interface UnknownPlan {
  readonly plan: string
  readonly subject: Subject
  /** Whether the request or the subject's stored settings named it. */
  readonly of: 'request' | 'settings'
}

/** The most plans reported per version of the settings, because requests can name any text. */
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

  /** Call when the settings change. */
  forget(): void {
    this.#reported.clear()
  }
}
