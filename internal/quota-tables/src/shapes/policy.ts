import type { Counting as AnyCounting, Subject } from '@scoregw/quota'
import type { Threshold as AnyThreshold, SubjectAnchor as OwnAnchor, WindowDefinition } from '@scoregw/quota/store'

/** Money is counted in integers, in a fraction of a currency. */
export interface MoneyFormat {
  /** ISO 4217, for example `USD`. */
  readonly currency: string
  /** How many decimal digits of the currency one unit stands for: 6 for micro-dollars. */
  readonly scale: number
}

/** A unit, and how to display its amounts. */
export interface UnitDefinition<Unit extends string = string> {
  /** Name in windows, costs and identities of counters: 1 to 32 of `A-Z a-z 0-9 _ -`; `slots` is reserved. */
  readonly name: Unit
  /** For money: how to display amounts. */
  readonly format?: MoneyFormat | undefined
}

/** A cost from a caller: a number if the policy has one unit, else amounts by unit. */
export type Cost = number | { readonly [unit: string]: number | undefined }

/** An amount in a decision: a number if the policy has one unit, else amounts by unit. */
export type Amount = number | { readonly [unit: string]: number }

/** A policy's units and names, as far as its engine's types know them. By default, any. */
export interface Counting {
  readonly unit: string
  readonly cost: Cost
  readonly amount: Amount
  /** The member `unit` of a value with a unit. */
  readonly named: { readonly unit?: string | undefined }
  /** The member of a hold with its amounts. */
  readonly held: { readonly tokens?: number; readonly cost?: Amount }
  readonly names: PolicyNames
}

/** The types of a policy with one unit: costs and amounts are numbers. */
export interface OneUnit<Unit extends string = 'tokens', Names extends PolicyNames = PolicyNames> {
  readonly unit: Unit
  readonly cost: number
  readonly amount: number
  readonly named: { readonly unit?: Unit | undefined }
  readonly held: { readonly tokens: number }
  readonly names: Names
}

/** The types of a policy with several units: costs and amounts are by unit, and values with a unit name it. */
export interface SeveralUnits<Unit extends string, Names extends PolicyNames = PolicyNames> {
  readonly unit: Unit
  readonly cost: { readonly [unit in Unit]?: number | undefined }
  readonly amount: { readonly [unit in Unit]: number }
  readonly named: { readonly unit: Unit }
  readonly held: { readonly cost: { readonly [unit in Unit]: number } }
  readonly names: Names
}

/** The types of a policy with these units, `UnitsOf<'requests' | 'tokens'>`, and names. */
export type UnitsOf<Unit extends string, Names extends PolicyNames = PolicyNames> = string extends Unit
  ? Counting
  : IsUnion<Unit> extends true
    ? SeveralUnits<Unit, Names>
    : OneUnit<Unit, Names>

/** A policy's names, for its engine's types. The default is any name. */
export interface PolicyNames {
  /** Who makes a request: a string, or an object with a key per layer if several layers aren't shared. */
  readonly subject: Subject
  readonly plan: string
  /** A layer in which each subject has its own windows. */
  readonly ownLayer: string
  readonly sharedLayer: string
  readonly category: string
  /** A window's label. */
  readonly window: string
  /** The label of concurrency. */
  readonly slots: string
}

/** Whether a type is a union of several. */
type IsUnion<T, Each = T> = T extends T ? ([Each] extends [T] ? false : true) : never

/** The type of a subject, given the layers that aren't shared. */
export type SubjectOf<OwnLayer extends string> = string extends OwnLayer
  ? Subject
  : IsUnion<OwnLayer> extends true
    ? { readonly [layer in OwnLayer]: string }
    : string

/** The label of a limit: a window or concurrency. */
export type LabelIn<Names extends PolicyNames> = Names['window'] | Names['slots']

/** A name of a layer, shared or not. */
export type LayerIn<Names extends PolicyNames> = Names['ownLayer'] | Names['sharedLayer']

/** A table with an entry for some of these names. If the names are unknown, any table. */
export type Some<Name extends string, T> = string extends Name
  ? Readonly<Record<Name, T>>
  : { readonly [name in Name]?: T }

/** Decides about an actual cost above what a hold reserved. */
export type OverrunPolicy = 'refuse' | 'charge' | 'fit'

/** A limit: whole tokens, 0 to 10^11 (0 blocks), or unlimited. */
export type Limit = number | 'unlimited'

/** Limits in tokens by layer, category and window label. */
export type LimitTable = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, Limit>>>>>>

/** A limit for each layer, category and window label, and concurrency limits where you want them. */
export type BaseLimits<
  Layer extends string,
  Category extends string,
  Label extends string,
  Slots extends string = never,
> = Readonly<
  Record<Layer, Readonly<Record<Category, Readonly<Record<Label, Limit>> & { readonly [label in Slots]?: Limit }>>>
>

/** Some limits of some layers and categories. */
export type PlanLimits<Layer extends string, Category extends string, Label extends string> = Some<
  Layer,
  Some<Category, Some<Label, Limit>>
>

/** A layer: who shares one set of windows. */
export interface LayerDefinition {
  /** Name in settings and subjects, for example `personal`: 1 to 32 of `A-Z a-z 0-9 _ -`. */
  readonly name: string
  /** The layer's name in status and refusals, for example `Personal`. */
  readonly scope: string
  /**
   * `false`: each subject has its own windows and can have overrides. `true`: all subjects share one set of windows. It
   * can be switched off, multiplied, and bypassed by single subjects.
   */
  readonly shared: boolean
}

/** Something that callers do: its category and its price. */
export interface OperationDefinition<C extends Counting = OneUnit> {
  readonly category: string
  /** The price: whole tokens, 0 is free. With several units, amounts by unit; units that you leave out cost 0. */
  readonly cost: C['cost']
  /**
   * What happens to a commit above its hold. `refuse` rejects it. `charge` charges the excess regardless of the limits,
   * so later requests wait for it. `fit` charges as much as fits under all limits.
   *
   * @default 'refuse'
   */
  readonly overrun?: OverrunPolicy | undefined
  /**
   * How many tokens one commit may charge beyond the hold, above 0; with several units, amounts by unit. Required with
   * `charge` and `fit`.
   */
  readonly maxOverrun?: C['cost'] | undefined
}

/** How much work may run at the same time. A hold takes a slot until it is settled or expires. */
export interface ConcurrencyDefinition {
  /** The label in settings, status, bodies and headers, for example `running`. */
  readonly label: string
  /** The operations that need a slot. Others take none. */
  readonly operations?: readonly string[] | undefined
  /** Categories whose operations all need a slot. */
  readonly categories?: readonly string[] | undefined
}

/** A plan's limits in tokens, by layer (not shared), category and label, if they differ from the base. */
export type PlanTable = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, Limit>>>>>>

/** Makes the HTTP responses for refused callers: `QuotaAnswers` of `@scoregw/quota/http`. */
export type PolicyAnswers = (decision: never, context: never) => object

/** A window, and its unit. Required if the policy has several units. */
export type PolicyWindow = WindowDefinition & { readonly unit?: string | undefined }

/**
 * The rules of an engine: windows, categories, layers, operations and base limits. Plain data, except for `answers`.
 */
export interface Policy<Operation extends string = string, C extends Counting = OneUnit> {
  /**
   * The units that the limits count, by name, with a format for money.
   *
   * @default ['tokens']
   */
  readonly units?: readonly (C['unit'] | UnitDefinition<C['unit']>)[] | undefined
  readonly windows: readonly PolicyWindow[]
  /** Names of the categories. They never share a counter. */
  readonly categories: readonly string[]
  readonly layers: readonly LayerDefinition[]
  readonly operations: Readonly<Record<Operation, OperationDefinition<C>>>
  /**
   * Base limits in each window's unit, which modes scale. One for each layer, category and window. Without an entry for
   * concurrency, a layer and category don't limit it.
   */
  readonly base: LimitTable
  /** How much work may run at the same time. */
  readonly concurrency?: ConcurrencyDefinition | undefined
  /** Plans by name: limits of layers that aren't shared, if they differ from the base. */
  readonly plans?: Readonly<Record<string, PlanTable>> | undefined
  /**
   * The HTTP responses for refused callers.
   *
   * @default `neutralAnswers()` of `@scoregw/quota/http`
   */
  readonly answers?: PolicyAnswers | undefined
}

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

/** The shadowed limits of a layer, by label, or all of them. */
export type ShadowedLimits<C extends Counting = OneUnit> = 'all' | readonly LabelIn<C['names']>[]

/** A limit for each layer, category and window of a policy. */
type LimitsOf<C extends Counting> = BaseLimits<
  LayerIn<C['names']>,
  C['names']['category'],
  C['names']['window'],
  C['names']['slots']
>

/** An administrator's settings for all subjects. Plain JSON. */
export interface Settings<C extends Counting = OneUnit> {
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
  readonly thresholds: readonly Threshold[] | null
}

/** Identifies one write of a document. */
export interface Versioned {
  /** 0 before anything was stored, then 1, 2, 3 ... It restarts if a store lost its data. */
  readonly version: number
  /** Random text of this write, `''` before anything was stored. Compare-and-set uses it. */
  readonly revision: string
}

export interface VersionedSettings<C extends Counting = OneUnit> extends Settings<C>, Versioned {}

/** An administrator's settings for one subject of a layer. Plain JSON. */
export interface SubjectSettings<C extends Counting = OneUnit> {
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
export interface VersionedSubjectSettings<C extends Counting = OneUnit> extends SubjectSettings<C>, Versioned {}

/** Settings in which members with a default may be missing. */
export type SettingsDocument<C extends Counting = OneUnit> = Omit<
  Settings<C>,
  'custom' | 'prices' | 'shadow' | 'plans' | 'thresholds'
> &
  Partial<Pick<Settings<C>, 'custom' | 'prices' | 'shadow' | 'plans' | 'thresholds'>>

export type { Subject }
export type Threshold = AnyThreshold<AnyCounting>
