import { isObject } from '../options/checks.ts'
import type { OwnAnchor } from '../windows/kinds/calendar.ts'
import { hasLimit, limitLabels } from './cells.ts'
import type { BaseLimits, Limit, PlanLimits, Policy } from './policy.ts'
import type { Counting, LabelIn, LayerIn, Some } from './units.ts'

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

/** The shadowed limits of a layer, by label, or all of them. */
export type ShadowedLimits<C extends Counting = Counting> = 'all' | readonly LabelIn<C['names']>[]

/** A limit for each layer, category and window of a policy. */
type LimitsOf<C extends Counting> = BaseLimits<
  LayerIn<C['names']>,
  C['names']['category'],
  C['names']['window'],
  C['names']['slots']
>

/** An administrator's settings for all subjects. Plain JSON. */
export interface Settings<C extends Counting = Counting> {
  readonly mode: Mode
  /** Base limits in tokens. The modes scale them. */
  readonly base: LimitsOf<C>
  /** Limits of mode `custom`, which are not scaled. Required in that mode. */
  readonly custom: LimitsOf<C> | null
  /** One entry per shared layer of the policy. */
  readonly layers: Readonly<Record<C['names']['sharedLayer'], SharedLayerSettings>>
  /** Prices that differ from the policy's: tokens, or amounts by unit; missing units follow the policy. */
  readonly prices: Readonly<Record<string, C['cost']>>
  /**
   * Shadowed limits by layer: they are charged and reported, but refuse no request. Layers that you leave out have
   * none.
   */
  readonly shadow: Some<LayerIn<C['names']>, ShadowedLimits<C>>
  /** Plans' limits that differ from the policy's, by plan. Plans may exist in the settings only. */
  readonly plans: Readonly<
    Record<string, PlanLimits<C['names']['ownLayer'], C['names']['category'], LabelIn<C['names']>>>
  >
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
export interface SubjectSettings<C extends Counting = Counting> {
  /**
   * Limits by category and window label. They are absolute: modes do not scale them. `null` follows the default, 0
   * blocks.
   */
  readonly overrides: Readonly<Record<C['names']['category'], Some<LabelIn<C['names']>, Limit | null>>>
  /** Names of the shared layers that do not apply to this subject. */
  readonly bypass: readonly C['names']['sharedLayer'][]
  /** The subject's plan in this layer. It takes precedence over a request's plan; `null`: none. */
  readonly plan: C['names']['plan'] | null
  /** When overrides and plan end, epoch milliseconds; `null`: never. */
  readonly until: { readonly overrides: number | null; readonly plan: number | null }
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
export type SettingsDocument<C extends Counting = Counting> = Omit<Settings<C>, keyof typeof DEFAULTS> & {
  readonly [Member in keyof typeof DEFAULTS]?: Settings<C>[Member] | undefined
}

/** Adds the defaults of missing members. Doesn't validate: other values are returned unchanged. */
export function completed(document: SettingsDocument): Settings {
  if (!isObject(document)) return document
  const given = Object.entries(document).filter(([, value]) => value !== undefined)
  return { ...DEFAULTS, ...Object.fromEntries(given) } as Settings
}

/** The settings of a policy before any change: mode `normal`, version 0. */
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

/** A subject's settings before any change: no override, no bypass, no plan, version 0. */
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
