import type { components } from 'example-client/gateway-types'

type Schemas = components['schemas']

/** The limits that exist, as described by the gateway; every form is made from them. */
export type Policy = Schemas['ReadPolicyAnswer']
export type Layer = Policy['layers'][number]
export type WindowDefinition = Policy['windows'][number]

/** Something by category and window. */
type ByWindow<T> = Readonly<Record<string, Readonly<Record<string, T>>>>
/** Tokens by layer, category and window. */
export type Table = Readonly<Record<string, ByWindow<number>>>

export type Mode = Schemas['ReplaceSettingsBody']['mode']

/** The settings of all subjects. The gateway's own types are those of one policy; these are of any. */
export interface Settings {
  readonly mode: Mode
  readonly base: Table
  readonly custom: Table | null
  readonly prices: Readonly<Record<string, number>>
  /** By layer: limits that are charged and refuse nobody, by label. */
  readonly shadow: Readonly<Record<string, 'all' | readonly string[]>>
  /** By plan: limits of own layers that differ. */
  readonly plans: Readonly<Record<string, Partial<Table>>>
  /** When limits are near; `null`: as the gateway has it. */
  readonly thresholds: readonly Threshold[] | null
  /** Stored values that are not in force: of another policy, or invalid. */
  readonly faults?: readonly { readonly path: string; readonly msg: string }[]
  /** Of shared layers, by their names. */
  readonly [layer: string]: unknown
}

/** From a share of a limit on, or as soon as so few tokens are left. */
export type Threshold = { readonly share: number } | { readonly left: number }

/** The settings of a shared layer. */
export interface SharedLayer {
  readonly enabled: boolean
  readonly multiplier: number
}

/** What one user's limits differ in. */
export interface UserQuota {
  readonly overrides: ByWindow<number | null>
  readonly plan: string | null
  /** Until when both are in force, ISO 8601 UTC. */
  readonly until: { readonly overrides: string | null; readonly plan: string | null }
  readonly anchor: object | null
  /** Whether shared layers are bypassed, by the members that the policy names. */
  readonly [bypass: string]: unknown
}

export type WindowStatus = Omit<Schemas['NamedWindowStatus'], 'layer'> & { readonly layer: string }

export interface QuotaStatus {
  readonly windows: Readonly<Record<string, readonly WindowStatus[]>>
}

/** Tokens and slots of requests in flight. */

/** What a reset closes. */
export interface Reset {
  readonly layer?: string
  readonly category?: string
}
