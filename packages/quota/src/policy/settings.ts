import { isObject } from '../options/checks.ts'
import type { OwnAnchor } from '../windows/kinds/calendar.ts'
import { limitsOfLayer } from './cells.ts'
import type { GivenLimit, LimitNumber, Policy } from './policy.ts'
import type { Counting, Some } from './units.ts'

/** The modes that administrators can choose. */
export const MODES = ['conservative', 'normal', 'lenient', 'adaptive', 'custom'] as const
export type Mode = (typeof MODES)[number]

/** An administrator's settings for a shared layer. */
export interface SharedLayerSettings {
  /** `false`: the layer is not checked, charged or shown. */
  readonly enabled: boolean
  /** Factor for the layer's limits, 0.25 to 4 with at most two decimals. */
  readonly multiplier: number
}

/**
 * When a limit counts as near: from a share of it, 0 to 1, or when at most this much remains. With `unit`, only for
 * windows of that unit.
 */
export type Threshold<C extends Counting = Counting> =
  | { readonly share: number; readonly unit?: C['unit'] | 'slots' | undefined }
  | ({ readonly left: number } & (C['named'] | { readonly unit: 'slots' }))

/**
 * An administrator's settings for all subjects. Plain JSON.
 *
 * @typeParam Number how numbers of limits are written: read, money is whole millionths
 */
export interface Settings<C extends Counting = Counting, Number = LimitNumber> {
  readonly mode: Mode
  /** The number of each limit. The modes scale them. */
  readonly limits: Readonly<Record<C['names']['limit'], Number>>
  /** Numbers of mode `custom`, which aren't scaled; missing ones follow `limits`. Required in that mode. */
  readonly custom: Some<C['names']['limit'], Number> | null
  /** One entry per shared layer of the policy. */
  readonly shared: Readonly<Record<C['names']['sharedLayer'], SharedLayerSettings>>
  /** Prices that differ from the policy's: a number, or amounts by unit; missing units follow the policy. */
  readonly prices: Readonly<Record<string, C['cost'] | C['amount']>>
  /** `true`: the limit is charged and reported, but refuses nobody. Missing ones follow the policy. */
  readonly shadow: Some<C['names']['limit'], boolean>
  /** Plans' numbers that differ from the policy's, by plan. Plans may exist in the settings only. */
  readonly plans: Readonly<Record<string, Some<C['names']['limit'], Number>>>
  /** When limits count as near; `null`: see the engine's options. */
  readonly thresholds: readonly Threshold<C>[] | null
}

/** Identifies one write of a document. */
export interface Versioned {
  /** 0 before anything was stored, then 1, 2, 3 ... It restarts if a store lost its data. */
  readonly version: number
  /** Random text of this write, `''` before anything was stored. Compare-and-set uses it. */
  readonly revision: string
}

export interface VersionedSettings<C extends Counting = Counting> extends Settings<C>, Versioned {}

/** An administrator's settings for one subject of a layer. Plain JSON. */
export interface SubjectSettings<C extends Counting = Counting, Number = LimitNumber> {
  /** Numbers by limit. They are absolute: modes do not scale them. `null` follows the default, 0 blocks. */
  readonly limits: Some<C['names']['limit'], Number | null>
  /** `true`: the shared layer doesn't apply to this subject. */
  readonly bypass: Some<C['names']['sharedLayer'], boolean>
  /** The subject's plan in this layer. It takes precedence over a request's plan; `null`: none. */
  readonly plan: C['names']['plan'] | null
  /** `true`: every request of this subject is refused. */
  readonly blocked: boolean
  /** When limits, plan and block end, epoch milliseconds; `null`: never. */
  readonly until: { readonly limits: number | null; readonly plan: number | null; readonly blocked: number | null }
  /**
   * When the subject's periods start, for calendar windows with `anchor: 'subject'`; `null`: at the calendar's start.
   */
  readonly anchor: SubjectAnchor | null
}

/**
 * When a subject's periods start. A first anchor applies immediately, a changed one from the next period. The engine
 * keeps earlier anchors in `was` and `changedAt`; what you write there is ignored.
 */
export type SubjectAnchor = OwnAnchor

/** Version 0: nothing is stored for the subject. */
export interface VersionedSubjectSettings<C extends Counting = Counting> extends SubjectSettings<C>, Versioned {}

/** The default values of optional members. */
const DEFAULTS = { custom: null, prices: {}, shadow: {}, plans: {}, thresholds: null } as const

/** Settings in which members with a default may be missing. */
export type SettingsDocument<C extends Counting = Counting> = Omit<Settings<C, GivenLimit>, keyof typeof DEFAULTS> & {
  readonly [Member in keyof typeof DEFAULTS]?: Settings<C, GivenLimit>[Member] | undefined
}

/** Adds the defaults of missing members. Doesn't validate: other values are returned unchanged. */
export function completed(document: SettingsDocument): Settings {
  if (!isObject(document)) return document
  const given = Object.entries(document).filter(([, value]) => value !== undefined)
  return { ...DEFAULTS, ...Object.fromEntries(given) } as object as Settings
}

/** The settings of a policy before any change: mode `normal`, version 0. */
export function initialSettings<C extends Counting>(policy: Policy<string, C>): VersionedSettings<C> {
  const shared = policy.layers.filter((layer) => layer.shared)
  const settings: VersionedSettings = {
    version: 0,
    revision: '',
    mode: 'normal',
    limits: Object.fromEntries(policy.limits.map(({ name, limit }) => [name, limit])),
    custom: null,
    shared: Object.fromEntries(shared.map(({ name }) => [name, { enabled: true, multiplier: 1 }])),
    prices: {},
    shadow: {},
    plans: {},
    thresholds: null,
  }
  return settings as VersionedSettings<C>
}

/** A subject's settings before any change, version 0. */
export function initialSubjectSettings(policy: Policy, layer: string): VersionedSubjectSettings {
  return {
    version: 0,
    revision: '',
    limits: Object.fromEntries(limitsOfLayer(policy, layer).map(({ name }) => [name, null])),
    ...WITHOUT_SETTINGS,
  }
}

/** What applies to a subject without settings, besides its limits. */
export const WITHOUT_SETTINGS: Omit<SubjectSettings, 'limits'> = {
  bypass: {},
  plan: null,
  blocked: false,
  until: { limits: null, plan: null, blocked: null },
  anchor: null,
}
