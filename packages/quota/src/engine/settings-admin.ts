import { type Fault, faultyDocument, QuotaError } from '../errors/quota-error.ts'
import { shown } from '../errors/shown.ts'
import { fitSettings, fitSubjectSettings, keepUnknown, keepUnknownOfSubject } from '../policy/fit.ts'
import type { Policy } from '../policy/policy.ts'
import { faultsOf, settingsCheck, subjectSettingsSchema } from '../policy/schema.ts'
import {
  initialSettings,
  initialSubjectSettings,
  type Settings,
  type SubjectSettings,
  type Versioned,
  type VersionedSettings,
  type VersionedSubjectSettings,
} from '../policy/settings.ts'
import { settingsWarnings } from '../policy/warnings.ts'
import { boxed } from '../store/answer.ts'
import type { SettingsStore, StoredDocument } from '../store/settings-store.ts'
import type { LiveSettings } from './live-settings.ts'
import { type DeepPartial, mergePatch } from './merge-patch.ts'
import { checkText } from './text.ts'

/** Tries of an update without `ifVersion` when other writers come in between. */
const MAX_TRIES = 10

/** What came of a change: the document now stored, and what in it makes an operation impossible. */
export interface SettingsUpdate {
  readonly settings: VersionedSettings
  readonly warnings: readonly Fault[]
}

/** What a process decides by: with a store that others write to, up to a second older than what is stored. */
export interface SettingsInForce {
  /** Version 0, the policy's own, until they were read. */
  readonly settings: VersionedSettings
  /** The adaptive factor as it was last read, 0.75 to 1.5; 1 until then. It counts in mode `adaptive` alone. */
  readonly adaptiveFactor: number
}

/** How a change is written. */
export interface WriteOptions {
  /** The write happens only if this is the version now stored; absent: whatever is stored. */
  readonly ifVersion?: number | undefined
  /** The same by the revision, which tells two documents apart also after a store lost its data. */
  readonly ifRevision?: string | undefined
  /** Who changes it, for stores that keep an audit trail. */
  readonly by?: string | undefined
}

/** The settings of everybody: read, change, check. */
export interface QuotaSettings {
  /** The settings now stored, as far as the policy knows them (version 0: the policy's own). */
  get(): Promise<VersionedSettings>
  /** What in the stored settings the policy cannot take: unknown names, which are kept, and values that are none. */
  faults(): Promise<readonly Fault[]>
  /**
   * Changes what the patch names (JSON merge patch: objects are merged, `null` removes, lists are replaced). What is
   * stored under names that this policy does not know is kept.
   * @throws {QuotaError} `invalid_settings` naming every fault, `settings_conflict` when `ifVersion` is not the stored one
   */
  update(patch: DeepPartial<Settings>, options?: WriteOptions): Promise<SettingsUpdate>
  /** Stores a whole document; errors as of {@link update}. */
  replace(settings: Settings, options?: WriteOptions): Promise<SettingsUpdate>
}

/** Which subject's settings, and of which layer. */
export interface SubjectOptions extends WriteOptions {
  /** @default the first layer that is not shared */
  readonly layer?: string | undefined
}

/** The settings of single subjects: overrides and bypass. */
export interface QuotaSubjects {
  /** The subject's settings; version 0 and every override `null` when nothing is stored. */
  get(key: string, options?: Pick<SubjectOptions, 'layer'>): Promise<VersionedSubjectSettings>
  /**
   * Stores a subject's settings whole; what is not named follows the default.
   * @throws {QuotaError} `invalid_settings` naming every fault, `settings_conflict` when `ifVersion` is not the stored one
   */
  set(key: string, settings: DeepPartial<SubjectSettings>, options?: SubjectOptions): Promise<VersionedSubjectSettings>
  /** Back to the defaults. */
  remove(key: string, options?: SubjectOptions): Promise<void>
}

export function settingsAdmin(
  policy: Policy,
  store: SettingsStore,
  live: LiveSettings,
  hasFactor: boolean,
): QuotaSettings {
  const check = settingsCheck(policy, hasFactor)

  function fitted(stored: StoredDocument | undefined): VersionedSettings {
    if (stored === undefined) return initialSettings(policy)
    const { version, revision, document } = stored
    return { ...fitSettings(policy, hasFactor, document).settings, version, revision }
  }

  /**
   * Writes what `change` makes of the stored settings, under the names that the policy knows; all of it or nothing.
   *
   * @param named what the administrator wrote
   */
  async function write(
    named: object,
    change: (current: Settings) => Settings,
    { ifVersion, ifRevision, by }: WriteOptions,
  ): Promise<SettingsUpdate> {
    for (let tries = 1; ; tries++) {
      const { value: stored } = await boxed(store, store.read())
      const { version, revision, ...current } = fitted(stored)
      checkVersion({ ifVersion, ifRevision }, { version, revision })
      const settings = change(current)
      const faults = check(settings)
      if (faults.length > 0) throw faultyDocument('invalid_settings', 'settings', faults)
      const document = structuredClone(keepUnknown(policy, stored?.document, settings, named))
      const { value: reply } = await boxed(store, store.write(document, { ifRevision: revision, by }))
      if (reply.written) {
        await live.wrote({ document, ...versionOf(reply) })
        return { settings: { ...settings, ...versionOf(reply) }, warnings: settingsWarnings(policy, settings) }
      }
      // Somebody else wrote in between: look again, unless the caller named what must be stored.
      if (tries === MAX_TRIES) throw conflict({ version, revision }, reply)
    }
  }

  return {
    get: async () => fitted((await boxed(store, store.read())).value),
    async faults() {
      const { value: stored } = await boxed(store, store.read())
      return stored === undefined ? [] : fitSettings(policy, hasFactor, stored.document).faults
    },
    update: (patch, options = {}) => write(patch, (current) => mergedSettings(current, patch), options),
    replace: (settings, options = {}) => write(settings, () => structuredClone(settings), options),
  }
}

export function subjectAdmin(policy: Policy, store: SettingsStore, live: LiveSettings): QuotaSubjects {
  const schema = subjectSettingsSchema(policy)
  const own = policy.layers.filter((layer) => !layer.shared).map((layer) => layer.name)

  function layerOf(key: string, layer = own[0]!): string {
    checkText(key, 'invalid_subject', 'subject')
    if (own.includes(layer)) return layer
    const message = `no settings for single subjects in layer ${shown(layer)}; layers that have them: ${own.join(', ')}`
    throw new QuotaError('invalid_subject', message)
  }

  /** Writes a subject's settings, or removes them. */
  async function write(
    key: string,
    settings: SubjectSettings | null,
    { layer: named, ifVersion, ifRevision, by }: SubjectOptions,
  ): Promise<Versioned> {
    const layer = layerOf(key, named)
    for (let tries = 1; ; tries++) {
      const { value: stored } = await boxed(store, store.readSubject(layer, key))
      const { version, revision } = stored ?? NOTHING
      checkVersion({ ifVersion, ifRevision }, { version, revision })
      const document = settings && structuredClone(keepUnknownOfSubject(policy, stored?.document, settings))
      const answer = store.writeSubject(layer, key, document, { ifRevision: revision, by })
      const { value: reply } = await boxed(store, answer)
      if (reply.written) {
        live.wroteSubject(layer, key)
        return versionOf(reply)
      }
      if (tries === MAX_TRIES) throw conflict({ version, revision }, reply)
    }
  }

  return {
    async get(key, { layer } = {}) {
      const { value: stored } = await boxed(store, store.readSubject(layerOf(key, layer), key))
      if (stored === undefined) return initialSubjectSettings(policy)
      return { ...fitSubjectSettings(policy, stored.document).settings, ...versionOf(stored) }
    },
    async set(key, settings, options = {}) {
      const { version: _, revision: __, ...empty } = initialSubjectSettings(policy)
      const document = filled(empty, settings)
      const faults = faultsOf(schema, document)
      if (faults.length > 0) throw faultyDocument('invalid_settings', 'settings of a subject', faults)
      return { ...document, ...versionOf(await write(key, document, options)) }
    },
    async remove(key, options = {}) {
      await write(key, null, options)
    },
  }
}

const NOTHING: Versioned = { version: 0, revision: '' }

function versionOf({ version, revision }: Versioned): Versioned {
  return { version, revision }
}

/** A merge patch on settings, in which `custom: null` means "no table" and not "no such member". */
function mergedSettings(current: Settings, patch: DeepPartial<Settings>): Settings {
  const merged = mergePatch(current, patch) as Settings
  return patch.custom === null ? { ...merged, custom: null } : merged
}

/** A patch on empty subject settings, in which `null` is a value: "follow the default". */
function filled(empty: SubjectSettings, patch: DeepPartial<SubjectSettings>): SubjectSettings {
  return mergePatch(empty, patch, 'keep-null') as SubjectSettings
}

function checkVersion({ ifVersion, ifRevision }: WriteOptions, stored: Versioned): void {
  const isStored =
    (ifVersion === undefined || ifVersion === stored.version) &&
    (ifRevision === undefined || ifRevision === stored.revision)
  if (!isStored) throw conflict({ version: ifVersion ?? stored.version, revision: ifRevision ?? '' }, stored)
}

function conflict(expected: Versioned, stored: Versioned): QuotaError {
  const what = expected.version === stored.version ? 'but others than expected' : `not at ${expected.version}`
  const message = `the settings are at version ${stored.version}, ${what}: read them again and decide anew`
  return new QuotaError('settings_conflict', message)
}
