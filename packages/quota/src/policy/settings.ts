import type { Limit, LimitTable, Policy } from './policy.ts'

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

/** What an administrator sets for everybody. Plain JSON. */
export interface Settings {
  readonly mode: Mode
  /** Base limits in tokens; the modes scale them. */
  readonly base: LimitTable
  /** Limits of mode `custom`, taken as they are; required in that mode. */
  readonly custom: LimitTable | null
  /** One entry for every shared layer of the policy. */
  readonly layers: Readonly<Record<string, SharedLayerSettings>>
  /** Prices in tokens that differ from the policy's. */
  readonly prices: Readonly<Record<string, number>>
}

/** Which write of a document it is. */
export interface Versioned {
  /** 0 before anything was stored, then 1, 2, 3 ...; begins again where a store lost its data. */
  readonly version: number
  /** Random text of this one write, `''` before anything was stored: what compare-and-set goes by. */
  readonly revision: string
}

export interface VersionedSettings extends Settings, Versioned {}

/** What an administrator sets for one subject of a layer. Plain JSON. */
export interface SubjectSettings {
  /** Limits by category and window label, absolute (modes do not scale them); `null` follows the default, 0 blocks. */
  readonly overrides: Readonly<Record<string, Readonly<Record<string, Limit | null>>>>
  /** Names of the shared layers that do not apply to this subject. */
  readonly bypass: readonly string[]
}

/** Version 0 for a subject nobody has set anything for. */
export interface VersionedSubjectSettings extends SubjectSettings, Versioned {}

/** The settings of a policy before an administrator changed anything: mode `normal`, version 0. */
export function initialSettings(policy: Policy): VersionedSettings {
  const shared = policy.layers.filter((layer) => layer.shared)
  return {
    version: 0,
    revision: '',
    mode: 'normal',
    base: policy.base,
    custom: null,
    layers: Object.fromEntries(shared.map(({ name }) => [name, { enabled: true, multiplier: 1 }])),
    prices: {},
  }
}

/** The settings of a subject nobody has set anything for: every override empty, no bypass, version 0. */
export function initialSubjectSettings(policy: Policy): VersionedSubjectSettings {
  const windows = Object.fromEntries(policy.windows.map(({ label }) => [label, null]))
  return {
    version: 0,
    revision: '',
    overrides: Object.fromEntries(policy.categories.map((category) => [category, windows])),
    bypass: [],
  }
}
