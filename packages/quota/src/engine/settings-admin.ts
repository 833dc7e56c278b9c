import { type Fault, faultyDocument, QuotaError } from '../errors/quota-error.ts'
import type { Policy } from '../policy/policy.ts'
import { faultsOf, settingsCheck, subjectSettingsSchema } from '../policy/schema.ts'
import {
  initialSettings,
  initialSubjectSettings,
  type Settings,
  type SubjectSettings,
  type VersionedSettings,
  type VersionedSubjectSettings,
} from '../policy/settings.ts'
import { settingsWarnings } from '../policy/warnings.ts'
import type { SettingsStore, WriteOptions, WriteReply } from '../store/settings-store.ts'
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

/** The settings of everybody: read, change, check. */
export interface QuotaSettings {
  /** The settings now stored (version 0: the policy's own). */
  get(): Promise<VersionedSettings>
  /**
   * Changes what the patch names (JSON merge patch: objects are merged, `null` removes, lists are replaced).
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

  const stored = async (): Promise<VersionedSettings> => (await store.read()) ?? initialSettings(policy)

  async function write(document: Settings, options: WriteOptions): Promise<SettingsUpdate | WriteReply> {
    const faults = check(document)
    if (faults.length > 0) throw faultyDocument('invalid_settings', 'settings', faults)
    const copy = structuredClone(document)
    const reply = await store.write(copy, options)
    if (!reply.written) return reply
    await live.refresh()
    return { settings: { ...copy, version: reply.version }, warnings: settingsWarnings(policy, copy) }
  }

  return {
    get: stored,
    async update(patch, options = {}) {
      for (let tries = 1; ; tries++) {
        const { version, ...current } = await stored()
        checkVersion(options.ifVersion, version)
        const done = await write(mergedSettings(current, patch), { ...options, ifVersion: version })
        if ('settings' in done) return done
        if (options.ifVersion !== undefined || tries === MAX_TRIES) checkVersion(version, done.version)
      }
    },
    async replace(settings, options = {}) {
      const done = await write(settings, options)
      if ('settings' in done) return done
      throw conflict(options.ifVersion, done.version)
    },
  }
}

export function subjectAdmin(policy: Policy, store: SettingsStore): QuotaSubjects {
  const schema = subjectSettingsSchema(policy)
  const own = policy.layers.filter((layer) => !layer.shared).map((layer) => layer.name)

  function layerOf(key: string, layer = own[0]!): string {
    checkText(key, 'invalid_subject', 'subject')
    if (own.includes(layer)) return layer
    const message = `no settings for single subjects in layer "${layer}"; layers that have them: ${own.join(', ')}`
    throw new QuotaError('invalid_subject', message)
  }

  return {
    async get(key, { layer } = {}) {
      return (await store.readSubject(layerOf(key, layer), key)) ?? initialSubjectSettings(policy)
    },
    async set(key, settings, { layer, ...options } = {}) {
      const { version: _, ...empty } = initialSubjectSettings(policy)
      const document = structuredClone(filled(empty, settings))
      const faults = faultsOf(schema, document)
      if (faults.length > 0) throw faultyDocument('invalid_settings', 'settings of a subject', faults)
      const reply = await store.writeSubject(layerOf(key, layer), key, document, options)
      if (!reply.written) throw conflict(options.ifVersion, reply.version)
      return { ...document, version: reply.version }
    },
    async remove(key, { layer, ...options } = {}) {
      const reply = await store.writeSubject(layerOf(key, layer), key, null, options)
      if (!reply.written) throw conflict(options.ifVersion, reply.version)
    },
  }
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

function checkVersion(expected: number | undefined, stored: number): void {
  if (expected !== undefined && expected !== stored) throw conflict(expected, stored)
}

function conflict(expected: number | undefined, stored: number): QuotaError {
  const message = `the settings are at version ${stored}, not at ${expected}: read them again and decide anew`
  return new QuotaError('settings_conflict', message)
}
