import { type Fault, faultyDocument } from '../../errors/quota-error.ts'
import { isObject } from '../../options/checks.ts'
import { limitNamed, ownLimits } from '../../policy/cells.ts'
import { fitSettings } from '../../policy/fit.ts'
import type { GivenLimit, Policy } from '../../policy/policy.ts'
import { limitNumbers, plainCost } from '../../policy/rules.ts'
import {
  completed,
  initialSettings,
  MODES,
  type Mode,
  type Settings,
  type SettingsDocument,
  type VersionedSettings,
} from '../../policy/settings.ts'
import { settingsCheck, settingsWarnings } from '../../policy/settings-schema.ts'
import { type Counting, unitNames } from '../../policy/units.ts'
import { mapValues, member, membersOf, withoutFormer } from '../../policy/values.ts'
import { boxed } from '../../store/quota-store.ts'
import type { StoredDocument, StoreWriteOptions } from '../../store/settings-store.ts'
import type { EngineComponents } from '../engine-components.ts'
import { callOptions } from '../requests.ts'
import {
  type DeepPartial,
  type Document,
  mergePatch,
  rewritten,
  WRITE_OPTIONS,
  type WriteOptions,
  writeDocument,
} from './write-options.ts'

/** The result of a change: the stored settings, and warnings about operations that no request can run any more. */
export interface SettingsUpdate<C extends Counting = Counting> {
  readonly settings: VersionedSettings<C>
  readonly warnings: readonly Fault[]
}

/** The settings that a process currently uses. Changes by other processes arrive within a second. */
export interface CurrentSettings<C extends Counting = Counting> {
  /** Version 0, the policy's own, until the settings have been read. */
  readonly settings: VersionedSettings<C>
  /** The last known adaptive factor, 0.75 to 1.5; 1 before that. It only applies in mode `adaptive`. */
  readonly adaptiveFactor: number
}

/** Reads and changes the settings of all subjects. */
export interface QuotaSettings<C extends Counting = Counting> {
  /** Returns the settings that this process currently uses. Calls no store. */
  current(): CurrentSettings<C>
  /** Returns the stored settings, without names that the policy doesn't know. Version 0: the policy's own. */
  get(): Promise<VersionedSettings<C>>
  /** Returns the faults of the stored settings: unknown names, which stay stored, and invalid values. */
  faults(): Promise<readonly Fault[]>
  /**
   * Changes the members in the patch (JSON merge patch: objects are merged, `null` removes, lists are replaced). A
   * removed member gets its default, if it has one. Stored members that this policy doesn't know stay.
   *
   * @param options `ifVersion`: only write if this is the stored version
   * @throws {QuotaError} `invalid_settings` naming every fault, `settings_conflict` if `ifVersion` isn't the stored
   * version
   */
  update(
    patch: DeepPartial<Settings<C, GivenLimit>>,
    options?: StoreWriteOptions & { readonly ifVersion?: number | undefined },
  ): Promise<SettingsUpdate<C>>
  /** Stores a whole document. You may omit members that have a default. Throws like {@link update}. */
  replace(
    settings: SettingsDocument<C>,
    options?: StoreWriteOptions & { readonly ifVersion?: number | undefined },
  ): Promise<SettingsUpdate<C>>
}

export function settingsAdmin({
  policy,
  settingsStore: store,
  live,
  factorStore,
}: Pick<EngineComponents, 'policy' | 'settingsStore' | 'live' | 'factorStore'>): QuotaSettings {
  const hasFactor = factorStore !== undefined
  const check = settingsCheck(policy, hasFactor)

  function fitted(stored: StoredDocument | undefined): VersionedSettings {
    if (stored === undefined) return initialSettings(policy)
    const { version, revision, document } = stored
    return { ...fitSettings(policy, hasFactor, document).settings, version, revision }
  }

  const document: Document<Settings> = {
    sync: store.sync,
    read: () => store.read(),
    write: (settings, options) => store.write(settings, options),
    fitted,
  }

  /**
   * Changes the stored settings under the names that the policy knows, completely or not at all.
   *
   * @param setsMode whether the administrator sets the mode
   */
  async function write(
    setsMode: boolean,
    change: (current: Settings) => Settings,
    options: WriteOptions,
  ): Promise<SettingsUpdate> {
    callOptions('a settings write', options, WRITE_OPTIONS)
    const written = await writeDocument(document, options, (current, stored) => {
      const settings = change(current)
      const faults = check(settings)
      if (faults.length > 0) throw faultyDocument('invalid_settings', 'settings', faults)
      const next = plainSettings(policy, settings)
      return { next, document: kept(policy, { stored, fitted: current }, next, setsMode) }
    })
    const { version, revision, next: settings } = written
    await live.wrote({ document: written.document, version, revision })
    return { settings: { ...settings, version, revision }, warnings: settingsWarnings(policy, settings) }
  }

  return {
    current: () => ({ settings: live.compiled.settings, adaptiveFactor: live.factorHundredths / 100 }),
    get: async () => fitted((await boxed(store, store.read())).value),
    async faults() {
      const { value: stored } = await boxed(store, store.read())
      return stored === undefined ? [] : fitSettings(policy, hasFactor, stored.document).faults
    },
    update: (patch, options = {}) =>
      write(
        member(patch, 'mode') !== undefined,
        (current) => completed(mergePatch(current, patch) as SettingsDocument),
        options,
      ),
    replace: (settings, options = {}) => write(true, () => structuredClone(completed(settings)), options),
  }
}

/**
 * Returns the document to store. It keeps a mode that only other processes can use, unless the change sets one.
 * Thresholds are replaced as a whole.
 */
function kept(
  policy: Policy,
  { stored, fitted }: { readonly stored: unknown; readonly fitted: Settings },
  next: Settings,
  setsMode: boolean,
): object {
  const mode = member(stored, 'mode')
  const isKept = MODES.includes(mode as Mode) && !setsMode
  const { thresholds: _, ...rest } = isObject(stored) ? stored : {}
  const document = rewritten(rest, knownIn(policy, stored, fitted), next) as Settings
  const plans = mapValues(document.plans ?? {}, (plan, name) => withoutFormer(policy.limits, plan, next.plans[name]))
  return {
    ...document,
    ...(document.custom && { custom: withoutFormer(policy.limits, document.custom, next.custom) }),
    ...(document.shadow && { shadow: withoutFormer(policy.limits, document.shadow, next.shadow) }),
    ...(document.plans && { plans }),
    ...(isKept && { mode: mode as Mode }),
  }
}

/** Returns checked settings with plain numbers: money is whole millionths. */
function plainSettings(policy: Policy, settings: Settings): Settings {
  const { limits, custom, plans, prices } = settings
  return {
    ...settings,
    limits: limitNumbers(policy, limits),
    custom: custom && limitNumbers(policy, custom),
    plans: mapValues(plans, (numbers) => limitNumbers(policy, numbers)),
    prices: mapValues(prices, plainCost),
  }
}

/** Returns the stored prices in units that the policy knows. */
function knownPrices(policy: Policy, prices: object): object {
  const units = unitNames(policy)
  const known = membersOf(prices).flatMap(([operation, price]): [string, unknown][] => {
    if (!isObject(price)) return [[operation, price]]
    const amounts = membersOf(price).filter(([unit]) => units.includes(unit))
    return amounts.length === 0 ? [] : [[operation, Object.fromEntries(amounts)]]
  })
  return Object.fromEntries(known)
}

/** Returns the members of a stored document whose names the policy knows, even those with invalid values. */
function knownIn(policy: Policy, stored: unknown, fitted: Settings): unknown {
  const within = (of: unknown, isKnown: (name: string) => boolean): object =>
    Object.fromEntries(membersOf(of).filter(([name]) => isKnown(name)))
  const named = (of: string, isKnown: (name: string) => boolean): object => within(member(stored, of), isKnown)
  const isLimit = (name: string): boolean => limitNamed(policy, name) !== undefined
  const isOfSubjects = (name: string): boolean => ownLimits(policy).some((rule) => rule.name === name)
  return {
    ...fitted,
    custom: named('custom', isLimit),
    shadow: named('shadow', isLimit),
    prices: knownPrices(
      policy,
      named('prices', (operation) => Object.hasOwn(policy.operations, operation)),
    ),
    plans: mapValues(fitted.plans, (_, plan) => within(member(member(stored, 'plans'), plan), isOfSubjects)),
  }
}
