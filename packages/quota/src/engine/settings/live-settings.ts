import { type Fault, QuotaError } from '../../errors/quota-error.ts'
import { plain } from '../../errors/shown.ts'
import type { QuotaLogger } from '../../options/logger.ts'
import { fitSettings } from '../../policy/fit.ts'
import { ADAPTIVE_HUNDREDTHS, planNames, type Quotas } from '../../policy/limits.ts'
import type { Policy } from '../../policy/policy.ts'
import { initialSettings, type VersionedSettings } from '../../policy/settings.ts'
import { FACTOR_FORMAT, type FactorStore, type VersionedFactor } from '../../store/factor-store.ts'
import type { SettingsChange, SettingsReader, SettingsStore, StoredDocument } from '../../store/settings-store.ts'
import type { Subject } from '../../store/subjects.ts'
import type { Clock } from '../../time/clock.ts'
import type { Events, UnknownPlan } from '../events.ts'
import { CompiledSettings, type RequestTerms, type SettingsByLayer } from './compiled-settings.ts'
import { LiveSubjects } from './live-subjects.ts'

const NO_SETTINGS: SettingsByLayer = Object.freeze({})

interface LiveSettingsDeps {
  readonly policy: Policy
  readonly settingsStore: SettingsStore
  readonly clock: Clock
  readonly factorStore: FactorStore | undefined
  readonly events: Events
}

/**
 * The effective settings: the stored ones, fitted to the policy, or the policy's own if nothing is stored. Only the
 * first read is awaited. While an asynchronous store is read again, decisions use the last known settings.
 */
export class LiveSettings {
  readonly #policy: Policy
  readonly #store: SettingsStore
  readonly #events: Events
  readonly #logger: QuotaLogger
  readonly #unwatch: () => void
  readonly #subjects: LiveSubjects
  readonly #factor: LiveFactor | undefined
  readonly #hasFactor: boolean
  readonly #clock: Clock
  /** Unknown plans that were reported for this version of the settings. */
  readonly #unknownPlans = new Set<string>()
  /** The adaptive factor last read, in hundredths; 100 before that. */
  factorHundredths = 100
  /** The effective settings; for an asynchronous store, those last read. */
  compiled: CompiledSettings
  /** Whether the settings have been read. */
  loaded = false
  /** How many reads have started, and which of them is in effect. */
  #begun = 0
  #adopted = 0
  /** The read in flight. */
  #reading: Promise<void> | undefined
  /** The read after it, for callers that know of a change which the first may have missed. */
  #queuedRead: Promise<void> | undefined

  constructor({ policy, settingsStore: store, clock, factorStore, events }: LiveSettingsDeps, logger: QuotaLogger) {
    this.#policy = policy
    this.#store = store
    this.#events = events
    this.#logger = logger
    this.#clock = clock
    this.#hasFactor = factorStore !== undefined
    this.#subjects = new LiveSubjects(policy, store, events)
    this.compiled = new CompiledSettings(policy, initialSettings(policy))
    this.#factor = factorStore && new LiveFactor(factorStore, (hundredths) => this.#factorMoved(hundredths))
    if (store.sync) this.#adopt(store.read())
    this.#unwatch = store.watch((change) => this.#onChange(change))
  }

  /** The revision that decisions include; `undefined`: no other process can change the settings. */
  get revision(): string | undefined {
    return this.#store.isMarked ? this.compiled.settings.revision : undefined
  }

  /**
   * Resolves once the settings have been read.
   *
   * @param within reads them inside a transaction, so that it doesn't wait for reads that may wait for its end
   */
  async ready(within?: SettingsReader): Promise<void> {
    if (this.loaded) return
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
    const { revision } = this.compiled.settings
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
    if (settings === null && terms.plan === undefined && terms.numbers === undefined) return this.compiled.defaults
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
      const isKnown = this.#unknownPlans.size >= MAX_REPORTED || this.#unknownPlans.has(name)
      // Settings that haven't been read yet may define the plan.
      if (isKnown || !this.loaded) return
      this.#unknownPlans.add(name)
      if (this.#events.hasListeners('unknownPlan')) this.#events.emit('unknownPlan', { plan: name, subject, of })
      else this.#logger.warn(unknownPlanMessage(name, of, planNames(this.#policy, this.compiled.settings)))
    }
    return this.compiled.quotasOf(settings, terms, this.#clock, met)
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
    this.loaded = true
    if ((stored?.revision ?? '') === this.compiled.settings.revision) return
    const { settings, faults } = this.#fit(stored)
    this.compiled = new CompiledSettings(this.#policy, settings, this.factorHundredths)
    this.#unknownPlans.clear()
    if (faults.length > 0) this.#events.emit('settingsFault', { of: 'settings', faults })
    this.#events.emit('settings', settings)
  }

  #fit(stored: StoredDocument | undefined): { settings: VersionedSettings; faults: readonly Fault[] } {
    if (stored === undefined) return { settings: initialSettings(this.#policy), faults: [] }
    const { version, revision } = stored
    const { settings, faults } = fitSettings(this.#policy, this.#hasFactor, stored.document)
    return { settings: { ...settings, version, revision }, faults }
  }

  #factorMoved(hundredths: number): void {
    this.factorHundredths = hundredths
    const { settings } = this.compiled
    if (settings.mode === 'adaptive') this.compiled = new CompiledSettings(this.#policy, settings, hundredths)
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

/** The most plans reported per version of the settings, because requests can name any text. */
const MAX_REPORTED = 100

/** The warning if there is no listener. Without it a misspelt plan would go unnoticed. */
function unknownPlanMessage(plan: string, of: UnknownPlan['of'], known: readonly string[]): string {
  const where = of === 'request' ? 'a request names' : "a subject's settings name"
  const there = known.length === 0 ? 'there are none' : `there are ${known.join(', ')}`
  return `quota: ${where} the unknown plan "${plain(plan)}" (${there}): its limits are the base limits. Listen to the event unknownPlan for details.`
}

function isFactor(hundredths: number): boolean {
  const { min, max } = ADAPTIVE_HUNDREDTHS
  return Number.isInteger(hundredths) && hundredths >= min && hundredths <= max
}

/**
 * Follows the adaptive factor in a store. Decisions never wait for it. The factor is 1 until it is read. While the
 * store is unavailable, the last one is used.
 */
class LiveFactor {
  readonly #store: FactorStore
  readonly #onChange: (hundredths: number) => void
  readonly #unwatch: () => void
  #hundredths = 100
  /** Counts changes, so that a read that started before a change is followed by another. */
  #changes = 0
  #reading: Promise<void> | undefined

  constructor(store: FactorStore, onChange: (hundredths: number) => void) {
    this.#store = store
    this.#onChange = onChange
    this.#unwatch = store.watch(() => this.#refresh())
    this.#refresh()
  }

  /** Resolves when the reads in flight have ended, even if they failed. */
  async settled(): Promise<void> {
    await this.#reading
  }

  close(): void {
    this.#unwatch()
  }

  #refresh(): void {
    this.#changes++
    if (!this.#store.sync) {
      this.#reading ??= this.#read()
      return
    }
    try {
      this.#adopt(this.#store.read() as VersionedFactor | undefined)
    } catch {
      // The last known factor stays in use. The next tick of any process triggers another read.
    }
  }

  async #read(): Promise<void> {
    for (let changes = -1; changes !== this.#changes; ) {
      changes = this.#changes
      try {
        this.#adopt(await this.#store.read())
      } catch {
        // As above.
      }
    }
    this.#reading = undefined
  }

  #adopt(stored: VersionedFactor | undefined): void {
    // A ticker reports a factor of another version.
    if (stored !== undefined && stored.state.format !== FACTOR_FORMAT) return
    const hundredths = stored?.state.factorHundredths ?? 100
    if (hundredths === this.#hundredths || !isFactor(hundredths)) return
    this.#hundredths = hundredths
    this.#onChange(hundredths)
  }
}
