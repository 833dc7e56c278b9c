import { isObject } from '../options/checks.ts'
import type { OwnAnchor } from '../windows/kinds/calendar.ts'
import { hasLimit, limitLabels } from './cells.ts'
import type { BaseLimits, Limit, PlanLimits, Policy } from './policy.ts'
import type { Counting, LabelIn, LayerIn, Some } from './units.ts'

/** The modes an administrator switches between. */
export const MODES = ['conservative', 'normal', 'lenient', 'adaptive', 'custom'] as const
export type Mode = (typeof MODES)[number]

/** The administrator's hand on a shared layer. */
export interface SharedLayerSettings {
  /** Off: the layer is neither checked, charged nor shown. */
  readonly enabled: boolean
  /** Factor on the layer's limits, 0.25 to 4 with at most two decimals. */
  readonly multiplier: number
}

/**
 * When a limit is near: from a share of it on, 0 to 1, or as soon as no more than so much of it is left. With a unit: of
 * windows that count it.
 */
export type Threshold<C extends Counting = Counting> =
  | { readonly share: number; readonly unit?: C['unit'] | 'slots' | undefined }
  | ({ readonly left: number } & (C['named'] | { readonly unit: 'slots' }))

/** Which limits of a layer are shadowed, by label, or all of them. */
export type ShadowedLimits<C extends Counting = Counting> = 'all' | readonly LabelIn<C['names']>[]

/** A limit for each layer, category and window of a policy. */
type LimitsOf<C extends Counting> = BaseLimits<
  LayerIn<C['names']>,
  C['names']['category'],
  C['names']['window'],
  C['names']['slots']
>

/** What an administrator sets for all subjects. Plain JSON. */
export interface Settings<C extends Counting = Counting> {
  readonly mode: Mode
  /** Base limits in tokens; the modes scale them. */
  readonly base: LimitsOf<C>
  /** Limits of mode `custom`, taken as they are; required in that mode. */
  readonly custom: LimitsOf<C> | null
  /** One entry for every shared layer of the policy. */
  readonly layers: Readonly<Record<C['names']['sharedLayer'], SharedLayerSettings>>
  /** Prices that differ from the policy's: tokens, or amounts by unit, in which missing units follow the policy. */
  readonly prices: Readonly<Record<string, C['cost']>>
  /** By layer: limits that are charged and reported, and refuse no request. A layer that is not named has none. */
  readonly shadow: Some<LayerIn<C['names']>, ShadowedLimits<C>>
  /** Limits of plans that differ from the policy's, by plan; plans that only the settings have are plans as well. */
  readonly plans: Readonly<
    Record<string, PlanLimits<C['names']['ownLayer'], C['names']['category'], LabelIn<C['names']>>>
  >
  /** When limits are near; `null`: as the engine's options say. */
  readonly thresholds: readonly Threshold<C>[] | null
}

/** Which write of a document it is. */
export interface Versioned {
  /** 0 before anything was stored, then 1, 2, 3 ...; begins again where a store lost its data. */
  readonly version: number
  /** Random text of this one write, `''` before anything was stored: what compare-and-set uses. */
  readonly revision: string
}

export interface VersionedSettings<C extends Counting = Counting> extends Settings<C>, Versioned {}

/** What an administrator sets for one subject of a layer. Plain JSON. */
export interface SubjectSettings<C extends Counting = Counting> {
  /** Limits by category and window label, absolute (modes do not scale them); `null` follows the default, 0 blocks. */
  readonly overrides: Readonly<Record<C['names']['category'], Some<LabelIn<C['names']>, Limit | null>>>
  /** Names of the shared layers that do not apply to this subject. */
  readonly bypass: readonly C['names']['sharedLayer'][]
  /** The subject's plan in this layer, before that of a request; `null`: none. */
  readonly plan: C['names']['plan'] | null
  /** Until when overrides and plan are in force, epoch milliseconds; `null`: without an end. */
  readonly until: { readonly overrides: number | null; readonly plan: number | null }
  /** Where the subject's own periods begin, for calendar windows with `anchor: 'subject'`; `null`: at the calendar's. */
  readonly anchor: SubjectAnchor | null
}

/**
 * Where a subject's periods begin. A first anchor counts immediately; a change counts from the period after the one in
 * which it was made. The engine keeps what was before in `was` and `changedAt`; what you write there is ignored.
 */
export type SubjectAnchor = OwnAnchor

/** Version 0 for a subject nobody has set anything for. */
export interface VersionedSubjectSettings<C extends Counting = Counting> extends SubjectSettings<C>, Versioned {}

/** What a document may leave out, and is then. */
const DEFAULTS = { custom: null, prices: {}, shadow: {}, plans: {}, thresholds: null } as const

/** Settings in which members with a default may be missing. */
export type SettingsDocument<C extends Counting = Counting> = Omit<Settings<C>, keyof typeof DEFAULTS> & {
  readonly [Member in keyof typeof DEFAULTS]?: Settings<C>[Member] | undefined
}

/** A document with the defaults of the members it leaves out. Unchecked: any other value is returned as it is. */
export function completed(document: SettingsDocument): Settings {
  if (!isObject(document)) return document
  const given = Object.entries(document).filter(([, value]) => value !== undefined)
  return { ...DEFAULTS, ...Object.fromEntries(given) } as Settings
}

/** The settings of a policy before an administrator changed anything: mode `normal`, version 0. */
export function initialSettings<C extends Counting>(policy: Policy<string, C>): VersionedSettings<C> {
  const shared = policy.layers.filter((layer) => layer.shared)
  const settings: VersionedSettings = {
    version: 0,
    revision: '',
    mode: 'normal',
    base: policy.base,
    custom: null,
    layers: Object.fromEntries(shared.map(({ name }) => [name, { enabled: true, multiplier: 1 }])),
    prices: {},
    shadow: {},
    plans: {},
    thresholds: null,
  }
  return settings as VersionedSettings<C>
}

/** The settings of a subject nobody has set anything for: every override empty, no bypass, no plan, version 0. */
export function initialSubjectSettings(policy: Policy, layer: string): VersionedSubjectSettings {
  const emptyOf = (category: string): Readonly<Record<string, null>> => {
    const labels = limitLabels(policy).filter((label) => hasLimit(policy, layer, category, label))
    return Object.fromEntries(labels.map((label) => [label, null]))
  }
  return {
    version: 0,
    revision: '',
    overrides: Object.fromEntries(policy.categories.map((category) => [category, emptyOf(category)])),
    bypass: [],
    plan: null,
    until: { overrides: null, plan: null },
    anchor: null,
  }
}
