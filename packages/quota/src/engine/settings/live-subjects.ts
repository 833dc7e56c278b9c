import { placedLimits } from '../../policy/cells.ts'
import { fitSubjectSettings } from '../../policy/fit.ts'
import type { Quotas } from '../../policy/limits.ts'
import type { LayerDefinition, Policy } from '../../policy/policy.ts'
import type { SubjectSettings } from '../../policy/settings.ts'
import type { ReadWithin, SettingsReader, SettingsStore, StoredDocument } from '../../store/settings-store.ts'
import { hasKey, layerKey, type Subject } from '../../store/subjects.ts'
import type { Calendar, CalendarWindow, TwoPeriods } from '../../windows/kinds/calendar.ts'
import type { Events } from '../events.ts'
import { NO_KEY } from './compiled-settings.ts'

/** For asynchronous stores: how many subjects' settings, or their absence, are cached. */
const MAX_REMEMBERED = 10_000

/** One subject's settings by layer name. Layers without settings are absent. */
type BySettingsLayer = Readonly<Record<string, SubjectSettings>>

/** The settings of single subjects, fitted to the policy. */
export class LiveSubjects {
  readonly #policy: Policy
  readonly #store: SettingsStore
  readonly #ownLayers: readonly LayerDefinition[]
  readonly #events: Events
  /** Least recently used first; `null`: nothing is stored for this subject. */
  readonly #remembered = new Map<string, SubjectSettings | null>()
  readonly #fitted = new WeakMap<StoredDocument, SubjectSettings>()
  /** Counts changes, so that a read from before a change isn't cached after it. */
  #changes = 0

  constructor(policy: Policy, store: SettingsStore, events: Events) {
    this.#policy = policy
    this.#store = store
    this.#ownLayers = policy.layers.filter((layer) => !layer.shared)
    this.#events = events
  }

  forget(layer: string, key: string): void {
    this.#changes++
    this.#remembered.delete(JSON.stringify([layer, key]))
  }

  forgetAll(): void {
    this.#changes++
    this.#remembered.clear()
  }

  /** `null`: the subject has none; `undefined`: the store must be called. */
  cached(subject: Subject): BySettingsLayer | null | undefined {
    return this.#store.sync ? this.#lookUp(subject) : this.#recall(subject)
  }

  /** @param within reads inside a transaction */
  async fetch(subject: Subject, within?: SettingsReader): Promise<BySettingsLayer> {
    const changes = this.#changes
    const found = nothingFound()
    await Promise.all(
      this.#ownLayers.map(async (layer) => {
        if (!hasKey(layer, subject)) {
          found[layer.name] = NO_KEY
          return
        }
        const key = layerKey(layer, subject)
        const { stored, isLatest } = await this.#read(layer.name, key, within)
        const settings = stored === undefined ? null : this.#fit(stored, layer.name, key)
        // A change may be newer than what was read, so it is used once and not cached.
        if (isLatest && changes === this.#changes) this.#remember(memoryKey(layer, subject), settings)
        if (settings !== null) found[layer.name] = settings
      }),
    )
    return found
  }

  async #read(layer: string, key: string, within: SettingsReader | undefined): Promise<ReadWithin> {
    if (within !== undefined) return within.readSubject(layer, key)
    return { stored: await this.#store.readSubject(layer, key), isLatest: true }
  }

  #lookUp(subject: Subject): BySettingsLayer | null {
    let found: Record<string, SubjectSettings> | null = null
    for (const layer of this.#ownLayers) {
      const isKeyed = hasKey(layer, subject)
      const key = isKeyed ? layerKey(layer, subject) : ''
      const stored = isKeyed ? (this.#store.readSubject(layer.name, key) as StoredDocument | undefined) : undefined
      if (isKeyed && stored === undefined) continue
      found ??= nothingFound()
      found[layer.name] = stored === undefined ? NO_KEY : this.#fit(stored, layer.name, key)
    }
    return found
  }

  #recall(subject: Subject): BySettingsLayer | null | undefined {
    let found: Record<string, SubjectSettings> | null = null
    for (const layer of this.#ownLayers) {
      const isKeyed = hasKey(layer, subject)
      const key = memoryKey(layer, subject)
      const settings = isKeyed ? this.#remembered.get(key) : NO_KEY
      if (settings === undefined) return undefined
      if (isKeyed) this.#remember(key, settings)
      if (settings === null) continue
      found ??= nothingFound()
      found[layer.name] = settings
    }
    return found
  }

  #remember(key: string, settings: SubjectSettings | null): void {
    this.#remembered.delete(key)
    this.#remembered.set(key, settings)
    if (this.#remembered.size > MAX_REMEMBERED) this.#remembered.delete(this.#remembered.keys().next().value!)
  }

  /** Fits a document once per read. */
  #fit(stored: StoredDocument, layer: string, key: string): SubjectSettings {
    const known = this.#fitted.get(stored)
    if (known !== undefined) return known
    const { settings, faults } = fitSubjectSettings(this.#policy, layer, stored.document)
    this.#fitted.set(stored, settings)
    if (faults.length > 0) this.#events.emit('settingsFault', { of: { layer, key }, faults })
    return settings
  }
}

/** Without a prototype, because a layer's name may be that of an inherited property. */
function nothingFound(): Record<string, SubjectSettings> {
  return Object.create(null) as Record<string, SubjectSettings>
}

function memoryKey(layer: LayerDefinition, subject: Subject): string {
  return JSON.stringify([layer.name, layerKey(layer, subject)])
}

/** Periods for requests, and how long they are current. */
interface CachedPeriods {
  readonly periods: readonly number[]
  /** When the first of the current periods ends, in epoch milliseconds. */
  readonly until: number
}

/**
 * Computes the current and next periods of a policy's calendar windows, for the store's clock. The store picks one of
 * the two. If its time is outside both, its time is used from then on.
 */
export class LivePeriods {
  /** By position among calendar windows. */
  readonly #windows: readonly { readonly window: CalendarWindow; readonly layer: number }[]
  readonly #calendar: Calendar | undefined
  /** The store's time in its last reply, in epoch milliseconds; before that, the process's time. */
  #storeTime: number
  /** For subjects without anchors. */
  #shared: CachedPeriods | undefined
  /** By a subject's quotas. */
  #own = new WeakMap<Quotas, CachedPeriods>()
  /** When the first of all known periods ends. */
  #until = Number.POSITIVE_INFINITY

  constructor(policy: Policy, calendar: Calendar | undefined, now: number) {
    this.#windows = placedLimits(policy).limits.flatMap(({ rule: { window }, layer }) =>
      window?.every === undefined ? [] : [{ window, layer }],
    )
    this.#calendar = calendar
    this.#storeTime = now
  }

  /** Returns the periods of a request, see `TakeRequest.periods`; `undefined`: no window is a calendar window. */
  of(quotas: Quotas): readonly number[] | undefined {
    if (this.#windows.length === 0) return undefined
    const { anchors } = quotas
    if (anchors !== undefined) {
      const own = this.#own.get(quotas) ?? this.#compute(anchors)
      this.#own.set(quotas, own)
      return own.periods
    }
    this.#shared ??= this.#compute(undefined)
    return this.#shared.periods
  }

  /**
   * Returns the periods at another instant, in epoch milliseconds. After a clock was set, a window may be in neither of
   * the current two.
   */
  at({ anchors }: Quotas, instant: number): readonly number[] {
    return this.#around(anchors, instant).flat()
  }

  /**
   * Call with the store's time. Once the second period starts, the next periods are computed, before they are needed.
   */
  advanceTo(now: number): void {
    if (now >= this.#until) this.resetTo(now)
  }

  /** Call when the store's time was outside the periods. */
  resetTo(now: number): void {
    this.#storeTime = now
    this.#shared = undefined
    this.#own = new WeakMap()
    this.#until = Number.POSITIVE_INFINITY
  }

  #compute(anchors: Quotas['anchors']): CachedPeriods {
    const each = this.#around(anchors, this.#storeTime)
    const until = Math.min(...each.map(([, end]) => end))
    this.#until = Math.min(this.#until, until)
    return { periods: each.flat(), until }
  }

  #around(anchors: Quotas['anchors'], instant: number): readonly TwoPeriods[] {
    return this.#windows.map(({ window, layer }) =>
      this.#calendar!.periods(window, instant, window.anchor === 'subject' ? (anchors?.[layer] ?? null) : null),
    )
  }
}
