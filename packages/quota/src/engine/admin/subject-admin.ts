import { faultyDocument, QuotaError } from '../../errors/quota-error.ts'
import { shown } from '../../errors/shown.ts'
import { isObject } from '../../options/checks.ts'
import { fitSubjectSettings } from '../../policy/fit.ts'
import { changedAnchor, ownPeriodWindows, planNames } from '../../policy/limits.ts'
import type { Policy } from '../../policy/policy.ts'
import {
  initialSubjectSettings,
  type SubjectSettings,
  type Versioned,
  type VersionedSubjectSettings,
} from '../../policy/settings.ts'
import { subjectSettingsFaults } from '../../policy/settings-schema.ts'
import { member } from '../../policy/stored.ts'
import { countedKey } from '../../policy/subject-key.ts'
import type { Counting } from '../../policy/units.ts'
import { boxed } from '../../store/quota-store.ts'
import type { SettingsStore } from '../../store/settings-store.ts'
import type { Clock } from '../../time/clock.ts'
import type { Calendar, CalendarAnchor, OwnAnchor } from '../../windows/kinds/calendar.ts'
import { checkSubjectKey } from '../decide/check.ts'
import { callOptions } from '../decide/members.ts'
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

/** A subject's layer, and how to write its settings. */
export interface SubjectOptions<C extends Counting = Counting> extends WriteOptions {
  /** @default the first layer that isn't shared */
  readonly layer?: C['names']['ownLayer'] | undefined
}

const SUBJECT_OPTIONS: readonly (keyof SubjectOptions)[] = ['layer', ...WRITE_OPTIONS]

/** A part of a subject's settings. `version` and `revision` from a document that you read are ignored. */
export type SubjectSettingsPatch<C extends Counting = Counting> = DeepPartial<SubjectSettings<C>> & Partial<Versioned>

/** Reads and changes the settings of single subjects: overrides, bypass, plan and anchor. */
export interface QuotaSubjects<C extends Counting = Counting> {
  /** Returns a subject's settings. If nothing is stored, the version is 0 and every override is `null`. */
  get(key: string, options?: Pick<SubjectOptions<C>, 'layer'>): Promise<VersionedSubjectSettings<C>>
  /**
   * Replaces a subject's settings. Missing members and `null` mean the default. `version` and `revision` are ignored,
   * so you can write back what {@link get} returned. A first anchor applies immediately, a changed one from the next
   * period.
   *
   * @throws {QuotaError} `invalid_settings` naming every fault, `settings_conflict` if `ifVersion` isn't the stored
   * version
   */
  set(key: string, settings: SubjectSettingsPatch<C>, options?: SubjectOptions<C>): Promise<VersionedSubjectSettings<C>>
  /**
   * Changes the members in the patch and keeps the rest (JSON merge patch: objects are merged, lists and the anchor are
   * replaced, `null` means the default). Otherwise like {@link set}.
   */
  update(key: string, patch: SubjectSettingsPatch<C>, options?: SubjectOptions<C>): Promise<VersionedSubjectSettings<C>>
  /**
   * Removes a subject's settings. An anchor applies until its period ends. The engine remembers it, so the next anchor
   * counts as changed, not as first.
   */
  remove(key: string, options?: SubjectOptions<C>): Promise<void>
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

  function layerOf(
    key: string,
    options: SubjectOptions,
    names: readonly (keyof SubjectOptions)[] = SUBJECT_OPTIONS,
  ): string {
    checkSubjectKey(key, 'subject')
    const { layer = own[0]! } = callOptions("a subject's settings", options, names)
    if (own.includes(layer)) return layer
    throw noSettingsIn(layer, own)
  }

  const documentOf = (layer: string, key: string): Document<SubjectSettings> => ({
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
    layer: string,
    key: string,
    options: SubjectOptions,
    change: (current: SubjectSettings, stored: unknown) => Change<N>,
  ): Promise<Versioned & { readonly next: N }> {
    const written = await writeDocument(documentOf(layer, key), options, change)
    live.wroteSubject(layer, countedKey(key))
    return written
  }

  const anchored = (current: SubjectSettings, anchor: CalendarAnchor | null): OwnAnchor | null =>
    changedAnchor(current.anchor, anchor, { windows, calendar, now: clock.now() })

  /**
   * @param base makes the target of the patch from the stored settings
   * @throws {QuotaError} `invalid_settings`, `settings_conflict`
   */
  async function patched(
    key: string,
    patch: SubjectSettingsPatch,
    options: SubjectOptions,
    base: (current: SubjectSettings, defaults: SubjectSettings) => SubjectSettings,
  ): Promise<VersionedSubjectSettings> {
    const layer = layerOf(key, options)
    const { version: _, revision: __, ...defaults } = initialSubjectSettings(policy, layer)
    // Plans are only read if the patch names one.
    const plans = isObject(patch) && typeof patch.plan === 'string' ? planNames(policy, await settings.get()) : []
    const { next, version, revision } = await write(layer, key, options, (current, stored) => {
      const from = base(current, defaults)
      const merged = mergedSettings(from, patch, defaults)
      const named = merged.plan === from.plan && from.plan !== null ? [...plans, from.plan] : plans
      const faults = subjectSettingsFaults(policy, layer, { ...merged, anchor: withoutHistory(merged.anchor) }, named)
      if (faults.length > 0) throw faultyDocument('invalid_settings', 'settings of a subject', faults)
      const isKept = merged.anchor === current.anchor
      const anchor = isKept ? current.anchor : anchored(current, withoutHistory(merged.anchor))
      const settings = { ...merged, anchor }
      return { next: settings, document: kept(stored, current, settings) }
    })
    return { ...next, version, revision }
  }

  return {
    async get(key, options = {}) {
      const document = documentOf(layerOf(key, options, ['layer']), key)
      return document.fitted((await boxed(store, document.read())).value)
    },
    set: (key, document, options = {}) => patched(key, document, options, (_, defaults) => defaults),
    update: (key, patch, options = {}) => patched(key, patch, options, (current) => current),
    async remove(key, options = {}) {
      await write(layerOf(key, options), key, options, (current) => {
        const anchor = anchored(current, null)
        return { next: null, document: anchor && { anchor } }
      })
    },
  }
}

function noSettingsIn(layer: string, own: readonly string[]): QuotaError {
  const message = `no settings for single subjects in layer ${shown(layer)}; layers that have them: ${own.join(', ')}`
  return new QuotaError('invalid_subject', message)
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
