import { type Fault, faultyDocument, QuotaError } from '../../errors/quota-error.ts'
import { shown } from '../../errors/shown.ts'
import { isObject } from '../../options/checks.ts'
import { noSuchName } from '../../options/faults.ts'
import { fitSubjectSettings } from '../../policy/fit.ts'
import { changedAnchor, ownPeriodWindows, planNames } from '../../policy/limits.ts'
import type { GivenLimit, Policy } from '../../policy/policy.ts'
import { limitNumbers } from '../../policy/rules.ts'
import {
  initialSubjectSettings,
  type SubjectSettings,
  type Versioned,
  type VersionedSubjectSettings,
} from '../../policy/settings.ts'
import { subjectSettingsFaults } from '../../policy/settings-schema.ts'
import type { Counting } from '../../policy/units.ts'
import { member } from '../../policy/values.ts'
import { boxed } from '../../store/quota-store.ts'
import type { SettingsStore, StoreWriteOptions } from '../../store/settings-store.ts'
import { countedKey } from '../../store/subjects.ts'
import type { Clock } from '../../time/clock.ts'
import type { Calendar, CalendarAnchor, OwnAnchor } from '../../windows/kinds/calendar.ts'
import { checkSubjectKey } from '../decide/check.ts'
import { callOptions } from '../requests.ts'
import type { LiveSettings } from '../settings/live-settings.ts'
import type { QuotaSettings } from './settings-admin.ts'
import {
  type Change,
  type DeepPartial,
  type Document,
  rewritten,
  WRITE_OPTIONS,
  type WriteOptions,
  writeDocument,
} from './write-options.ts'

/**
 * Whose settings: a text if limits are `by` one thing only, else an object with one key, such as `{ user: 'ann' }`.
 *
 * @typeParam C of the policy
 */
type SubjectKey<C extends Counting = Counting> =
  | { readonly [layer in C['names']['ownLayer']]?: string }
  | (C['names']['subject'] extends string ? string : string extends C['names']['ownLayer'] ? string : never)

/** A part of a subject's settings. `version` and `revision` from a document that you read are ignored. */
export type SubjectSettingsPatch<C extends Counting = Counting> = DeepPartial<SubjectSettings<C, GivenLimit>> &
  Partial<Versioned>

/** Reads and changes the settings of single subjects: numbers of limits, plan, bypass, block and anchor. */
export interface QuotaSubjects<C extends Counting = Counting> {
  /** Returns a subject's settings. If nothing is stored, the version is 0 and every number is `null`. */
  get(key: SubjectKey<C>): Promise<VersionedSubjectSettings<C>>
  /**
   * Replaces a subject's settings. Missing members and `null` mean the default. `version` and `revision` are ignored,
   * so you can write back what {@link get} returned. A first anchor applies immediately, a changed one from the next
   * period.
   *
   * @param options `ifVersion`: only write if this is the stored version
   * @throws {QuotaError} `invalid_settings` naming every fault, `settings_conflict` if `ifVersion` isn't the stored
   * version
   */
  set(
    key: SubjectKey<C>,
    settings: SubjectSettingsPatch<C>,
    options?: StoreWriteOptions & { readonly ifVersion?: number | undefined },
  ): Promise<VersionedSubjectSettings<C>>
  /**
   * Changes the members in the patch and keeps the rest (JSON merge patch: objects are merged, lists and the anchor are
   * replaced, `null` means the default). Otherwise like {@link set}.
   */
  update(
    key: SubjectKey<C>,
    patch: SubjectSettingsPatch<C>,
    options?: StoreWriteOptions & { readonly ifVersion?: number | undefined },
  ): Promise<VersionedSubjectSettings<C>>
  /**
   * Removes a subject's settings. An anchor applies until its period ends. The engine remembers it, so the next anchor
   * counts as changed, not as first.
   */
  remove(key: SubjectKey<C>, options?: StoreWriteOptions & { readonly ifVersion?: number | undefined }): Promise<void>
}

/** Dependencies of the subject settings. */
export interface SubjectAdminDeps {
  readonly policy: Policy
  readonly store: SettingsStore
  readonly live: LiveSettings
  readonly settings: Pick<QuotaSettings, 'get'>
  readonly clock: Clock
  readonly calendar: Calendar | undefined
}

export function subjectAdmin({ policy, store, live, settings, clock, calendar }: SubjectAdminDeps): QuotaSubjects {
  const own = policy.layers.filter((layer) => !layer.shared).map((layer) => layer.name)
  const windows = ownPeriodWindows(policy)
  const placeOf = (given: SubjectKey): Place => placeIn(own, given)

  const documentOf = ({ layer, key }: Place): Document<SubjectSettings> => ({
    sync: store.sync,
    read: () => store.readSubject(layer, countedKey(key)),
    write: (document, options) => store.writeSubject(layer, countedKey(key), document, options),
    fitted(stored) {
      if (stored === undefined) return initialSubjectSettings(policy, layer)
      const { version, revision, document } = stored
      return { ...fitSubjectSettings(policy, layer, document).settings, version, revision }
    },
  })

  /** @param change returns the settings to store, given the stored ones; `null` removes them */
  async function write<N extends SubjectSettings | null>(
    place: Place,
    options: WriteOptions,
    change: (current: SubjectSettings, stored: unknown) => Change<N>,
  ): Promise<Versioned & { readonly next: N }> {
    callOptions("a subject's settings", options, WRITE_OPTIONS)
    const written = await writeDocument(documentOf(place), options, change)
    live.wroteSubject(place.layer, countedKey(place.key))
    return written
  }

  const anchored = (current: SubjectSettings, anchor: CalendarAnchor | null): OwnAnchor | null =>
    changedAnchor(current.anchor, anchor, { windows, calendar, now: clock.now() })

  /**
   * @param base makes the target of the patch from the stored settings
   * @throws {QuotaError} `invalid_settings`, `settings_conflict`
   */
  async function patched(
    key: SubjectKey,
    patch: SubjectSettingsPatch,
    options: WriteOptions,
    base: (current: SubjectSettings, defaults: SubjectSettings) => SubjectSettings,
  ): Promise<VersionedSubjectSettings> {
    const place = placeOf(key)
    const { layer } = place
    const { version: _, revision: __, ...defaults } = initialSubjectSettings(policy, layer)
    // Plans are only read if the patch names one.
    const plans = isObject(patch) && typeof patch.plan === 'string' ? planNames(policy, await settings.get()) : []
    const { next, version, revision } = await write(place, options, (current, stored) => {
      const from = base(current, defaults)
      const merged = mergedSettings(from, patch, defaults)
      if (!isObject(merged)) throw faulty(subjectSettingsFaults(policy, { layer, plans }, merged))
      const known = merged.plan === from.plan && from.plan !== null ? [...plans, from.plan] : plans
      const document = { ...merged, anchor: withoutHistory(merged.anchor) }
      const faults = subjectSettingsFaults(policy, { layer, plans: known }, document)
      if (faults.length > 0) throw faulty(faults)
      const isKept = merged.anchor === current.anchor
      const anchor = isKept ? current.anchor : anchored(current, document.anchor)
      const limits = limitNumbers(policy, merged.limits) as SubjectSettings['limits']
      const settings = { ...merged, limits, anchor }
      return { next: settings, document: kept(stored, current, settings) }
    })
    return { ...next, version, revision }
  }

  return {
    async get(key) {
      const document = documentOf(placeOf(key))
      return document.fitted((await boxed(store, document.read())).value)
    },
    set: (key, document, options = {}) => patched(key, document, options, (_, defaults) => defaults),
    update: (key, patch, options = {}) => patched(key, patch, options, (current) => current),
    async remove(key, options = {}) {
      await write(placeOf(key), options, (current) => {
        const anchor = anchored(current, null)
        return { next: null, document: anchor && { anchor } }
      })
    },
  }
}

function faulty(faults: readonly Fault[]): QuotaError {
  return faultyDocument('invalid_settings', 'settings of a subject', faults)
}

/** A layer and a key in it. */
interface Place {
  readonly layer: string
  readonly key: string
}

/** Returns a subject's layer and key. @param own the layers of subjects' own @throws {QuotaError} `invalid_subject` */
function placeIn(own: readonly string[], given: SubjectKey): Place {
  if (typeof given === 'string' && own.length === 1) {
    checkSubjectKey(given, 'subject')
    return { layer: own[0]!, key: given }
  }
  const entries = isObject(given) ? Object.entries(given) : []
  const [[layer, key] = ['', undefined]] = entries
  if (entries.length !== 1) {
    const example = `{ ${own[0]!}: "ann" }`
    throw new QuotaError(
      'invalid_subject',
      `subject: expected one key, such as ${example}, got ${entries.length > 0 ? Object.keys(given).join(' and ') : shown(given)}`,
    )
  }
  if (!own.includes(layer)) {
    throw new QuotaError('invalid_subject', `subject: no limit is by ${noSuchName(layer, own, 'there are')}`)
  }
  checkSubjectKey(key, `subject.${layer}`)
  return { layer, key }
}

/** Removes the history, which the engine keeps. Otherwise a caller who writes a document back would store it too. */
function withoutHistory(anchor: SubjectSettings['anchor']): CalendarAnchor | null {
  if (!isObject(anchor)) return anchor
  const { was: _, changedAt: __, ...plain } = anchor
  return plain
}

/** Applies a patch. An anchor is replaced as a whole. Version and revision aren't part of a document. */
function mergedSettings(
  current: SubjectSettings,
  patch: SubjectSettingsPatch,
  defaults: SubjectSettings,
): SubjectSettings {
  if (!isObject(patch)) return patch
  const { version: _, revision: __, anchor = current.anchor, ...rest } = patch
  return { ...(orDefaults(current, rest, defaults) as SubjectSettings), anchor: anchor as SubjectSettings['anchor'] }
}

/** A merge patch in which `null` means the default. */
function orDefaults(target: unknown, patch: unknown, defaults: unknown): unknown {
  if (patch === null) return defaults ?? null
  if (!isObject(patch)) return patch
  const merged = new Map(Object.entries(isObject(target) ? target : {}))
  for (const [name, value] of Object.entries(patch)) {
    if (value !== undefined) merged.set(name, orDefaults(merged.get(name), value, member(defaults, name)))
  }
  return Object.fromEntries(merged)
}

/** The document to store. An anchor is replaced as a whole, never merged with the previous one. */
function kept(stored: unknown, known: SubjectSettings, next: SubjectSettings): object {
  const { anchor: _, ...rest } = isObject(stored) ? stored : {}
  return rewritten(rest, known, next) as object
}
