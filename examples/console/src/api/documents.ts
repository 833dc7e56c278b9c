import type { components } from 'example-client/gateway-types'

type Schemas = components['schemas']

/** The gateway's policy. All forms are made from it. */
export type Policy = Schemas['ReadPolicyAnswer']
export type Layer = Policy['layers'][number]
export type WindowDefinition = Policy['windows'][number]

type ByWindow<T> = Readonly<Record<string, Readonly<Record<string, T>>>>
export type Table = Readonly<Record<string, ByWindow<number>>>

export type Mode = Schemas['ReplaceSettingsBody']['mode']

/** The global settings, typed for any policy. The generated types describe only the default one. */
export interface Settings {
  readonly mode: Mode
  readonly base: Table
  readonly custom: Table | null
  readonly prices: Readonly<Record<string, number>>
  /** Shadow limits by layer: labels, or all. */
  readonly shadow: Readonly<Record<string, 'all' | readonly string[]>>
  /** By plan: limits that differ from the base values. */
  readonly plans: Readonly<Record<string, Partial<Table>>>
  /** `null` for the gateway's default. */
  readonly thresholds: readonly Threshold[] | null
  /** Stored values that aren't in effect: invalid, or from another policy. */
  readonly faults?: readonly { readonly path: string; readonly msg: string }[]
  /** Shared layers, by name. */
  readonly [layer: string]: unknown
}

/** The limit is near at this share, or when this many tokens are left. */
export type Threshold = { readonly share: number } | { readonly left: number }

export interface SharedLayer {
  readonly enabled: boolean
  readonly multiplier: number
}

/** One user's overrides. */
export interface UserQuota {
  readonly overrides: ByWindow<number | null>
  readonly plan: string | null
  /** ISO 8601 UTC. */
  readonly until: { readonly overrides: string | null; readonly plan: string | null }
  readonly anchor: object | null
  /** The policy names these members. Each bypasses a shared layer. */
  readonly [bypass: string]: unknown
}

export type WindowStatus = Omit<Schemas['NamedWindowStatus'], 'layer'> & { readonly layer: string }

export interface QuotaStatus {
  readonly windows: Readonly<Record<string, readonly WindowStatus[]>>
}

export interface Reset {
  readonly layer?: string
  readonly category?: string
}
