import { faultyDocument, QuotaError } from '../../errors/quota-error.ts'
import { shown } from '../../errors/shown.ts'
import { isObject } from '../../options/checks.ts'
import { changedAnchor, ownPeriodWindows } from '../../policy/anchors.ts'
import { fitSubjectSettings } from '../../policy/fit-subject.ts'
import { planNames } from '../../policy/limits.ts'
import type { Policy } from '../../policy/policy.ts'
import {
  initialSubjectSettings,
  type SubjectSettings,
  type Versioned,
  type VersionedSubjectSettings,
} from '../../policy/settings.ts'
import { subjectSettingsFaults } from '../../policy/settings-schema.ts'
import type { Counting } from '../../policy/units.ts'
import { boxed } from '../../store/quota-store.ts'
import type { SettingsStore } from '../../store/settings-store.ts'
import type { Clock } from '../../time/clock.ts'
import type { Calendar } from '../../windows/calendar.ts'
import { checkText } from '../decide/check.ts'
import type { LiveSettings } from '../settings/live-settings.ts'
import type { QuotaSettings } from './settings-admin.ts'
import {
  type DeepPartial,
  type Document,
  mergePatch,
  rewritten,
  type WriteOptions,
  writeDocument,
} from './write-options.ts'

/** Which subject's settings, and of which layer. */
export interface SubjectOptions<C extends Counting = Counting> extends WriteOptions {
  /** @default the first layer that is not shared */
  readonly layer?: C['names']['ownLayer'] | undefined
}

/** The settings of single subjects: overrides, bypass, plan, and where their periods begin. */
export interface QuotaSubjects<C extends Counting = Counting> {
  /** The subject's settings; version 0 and every override `null` when nothing is stored. */
  get(key: string, options?: Pick<SubjectOptions<C>, 'layer'>): Promise<VersionedSubjectSettings<C>>
  /**
   * Stores a subject's settings whole; members that are left out follow the default. Another anchor counts from the
   * subject's next period on: what it was before is kept with it.
   * @throws {QuotaError} `invalid_settings` naming every fault, `settings_conflict` when `ifVersion` is not the stored one
   */
  set(
    key: string,
    settings: DeepPartial<SubjectSettings<C>>,
    options?: SubjectOptions<C>,
  ): Promise<VersionedSubjectSettings<C>>
  /** Back to the defaults, at once: an anchor is forgotten with all that it was before. */
  remove(key: string, options?: SubjectOptions<C>): Promise<void>
}

/** What the settings of subjects go by. */
export interface SubjectAdminParts {
  readonly policy: Policy
  readonly store: SettingsStore
  readonly live: LiveSettings
  readonly settings: Pick<QuotaSettings, 'get'>
  readonly clock: Clock
  readonly calendar: Calendar | undefined
}

export function subjectAdmin({ policy, store, live, settings, clock, calendar }: SubjectAdminParts): QuotaSubjects {
  const own = policy.layers.filter((layer) => !layer.shared).map((layer) => layer.name)
  const windows = ownPeriodWindows(policy)

  function layerOf(key: string, layer = own[0]!): string {
    checkText(key, 'invalid_subject', 'subject')
    if (own.includes(layer)) return layer
    const message = `no settings for single subjects in layer ${shown(layer)}; layers that have them: ${own.join(', ')}`
    throw new QuotaError('invalid_subject', message)
  }

  const documentOf = (layer: string, key: string): Document<SubjectSettings> => ({
    sync: store.sync,
    read: () => store.readSubject(layer, key),
    write: (document, options) => store.writeSubject(layer, key, document, options),
    fitted(stored) {
      if (stored === undefined) return initialSubjectSettings(policy, layer)
      const { version, revision, document } = stored
      return { ...fitSubjectSettings(policy, layer, document).settings, version, revision }
    },
  })

  async function write<N extends SubjectSettings | null>(
    layer: string,
    key: string,
    options: SubjectOptions,
    next: (current: SubjectSettings) => N,
  ): Promise<Versioned & { readonly next: N }> {
    const written = await writeDocument(documentOf(layer, key), options, (current, stored) => {
      const settings = next(current)
      return { next: settings, document: settings && kept(stored, current, settings) }
    })
    live.wroteSubject(layer, key)
    return written
  }

  /** @throws {QuotaError} `invalid_settings` */
  async function checked(layer: string, patch: DeepPartial<SubjectSettings>): Promise<SubjectSettings> {
    const { version: _, revision: __, ...empty } = initialSubjectSettings(policy, layer)
    const { anchor = null, ...document } = filled(empty, patch)
    const next = { ...document, anchor: withoutHistory(anchor) }
    // Plans are read only when a document names one.
    const plans = next.plan === null ? [] : planNames(policy, await settings.get())
    const faults = subjectSettingsFaults(policy, layer, next, plans)
    if (faults.length > 0) throw faultyDocument('invalid_settings', 'settings of a subject', faults)
    return next
  }

  return {
    async get(key, { layer: named } = {}) {
      const document = documentOf(layerOf(key, named), key)
      return document.fitted((await boxed(store, document.read())).value)
    },
    async set(key, patch, options = {}) {
      const layer = layerOf(key, options.layer)
      const settings = await checked(layer, patch)
      const { next, version, revision } = await write(layer, key, options, (current) => {
        const terms = { windows, calendar, now: clock.now() }
        return { ...settings, anchor: changedAnchor(current.anchor, settings.anchor, terms) }
      })
      return { ...next, version, revision }
    },
    async remove(key, options = {}) {
      await write(layerOf(key, options.layer), key, options, () => null)
    },
  }
}

/** Drops the history, which the engine keeps: a caller that writes back a document it read would write it too. */
function withoutHistory(anchor: SubjectSettings['anchor']): SubjectSettings['anchor'] {
  if (!isObject(anchor)) return anchor
  const { was: _, changedAt: __, ...plain } = anchor
  return plain
}

/** A patch on empty subject settings, in which `null` is a value: "follow the default". */
function filled(empty: SubjectSettings, patch: DeepPartial<SubjectSettings>): SubjectSettings {
  return mergePatch(empty, patch, 'keep-null') as SubjectSettings
}

/** The document to store for the next settings: an anchor is one value, never merged with the previous one. */
function kept(stored: unknown, known: SubjectSettings, next: SubjectSettings): object {
  const { anchor: _, ...rest } = isObject(stored) ? stored : {}
  return rewritten(rest, known, next) as object
}
