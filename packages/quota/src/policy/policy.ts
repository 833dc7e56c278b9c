import { faultyDocument } from '../errors/quota-error.ts'
import { unknownKey } from '../options/names.ts'
import type { WindowDefinition } from '../windows/window.ts'

/** What becomes of an actual cost above what a hold reserved. */
export type OverrunPolicy = 'refuse' | 'charge' | 'fit'

/** A limit: whole tokens, 0 to 10^11 (0 blocks), or no limit at all. */
export type Limit = number | 'unlimited'

/** Limits in tokens by layer, category and window label. */
export type LimitTable = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, Limit>>>>>>

/** A layer of quota: who shares one set of windows. */
export interface LayerDefinition {
  /** Name in settings and subjects, for example `personal`: 1 to 32 of `A-Z a-z 0-9 _ -`. */
  readonly name: string
  /** How status and refusals name it, for example `Personal`. */
  readonly scope: string
  /**
   * `false`: each subject has windows of its own, and may have overrides.
   * `true`: all subjects share one set; it can be switched off, multiplied, and bypassed by single subjects.
   */
  readonly shared: boolean
}

/** A thing callers ask for: its category and its price in tokens. */
export interface OperationDefinition {
  readonly category: string
  /** Price in tokens, a whole number; 0 is free. */
  readonly cost: number
  /**
   * What a commit above a hold does: `refuse` it, `charge` the excess whatever the limits (later requests wait for it), or
   * charge as much as may `fit` everywhere.
   * @default 'refuse'
   */
  readonly overrun?: OverrunPolicy | undefined
  /** Most tokens that one commit charges beyond the hold, above 0; with `charge` and `fit`, where it is required. */
  readonly maxOverrun?: number | undefined
}

/** How much work may be under way at once: a limit that a hold takes a slot of until it is settled or ends. */
export interface ConcurrencyDefinition {
  /** Name in settings, status, bodies and headers, for example `running`: as of a window. */
  readonly label: string
  /** The operations that need a slot; those that are not named leave it alone. */
  readonly operations?: readonly string[] | undefined
  /** The same for all operations of some categories. */
  readonly categories?: readonly string[] | undefined
}

/** Limits in tokens by own layer, category and label: what a plan says otherwise than the base. */
export type PlanTable = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, Limit>>>>>>

/** What an engine decides by: windows, categories, layers, operations and the base limits. Plain data. */
export interface Policy<Operation extends string = string> {
  readonly windows: readonly WindowDefinition[]
  /** Names of the categories; they never share a counter. */
  readonly categories: readonly string[]
  readonly layers: readonly LayerDefinition[]
  readonly operations: Readonly<Record<Operation, OperationDefinition>>
  /**
   * Base limits in tokens, which the modes scale. One for each layer, category and window; for concurrency, where it is
   * limited: a layer and category without an entry under its label has no such limit.
   */
  readonly base: LimitTable
  /** How much work may be under way at once. */
  readonly concurrency?: ConcurrencyDefinition | undefined
  /** By name: limits of own layers that differ for those who have the plan. */
  readonly plans?: Readonly<Record<string, PlanTable>> | undefined
}

/** What {@link defaultPolicy} takes. */
export interface DefaultPolicyOptions<Operation extends string> {
  /**
   * Operations and prices; category `read` or `write`.
   * @default `read` and `write`, one token each
   */
  readonly operations?: Readonly<Record<Operation, OperationDefinition & { readonly category: 'read' | 'write' }>>
  /**
   * Base limits in tokens of both layers.
   * @default personal read 120/400/1,200 and write 60/200/600, site read 3,000/10,000/36,000 and write 1,500/5,000/18,000
   */
  readonly base?: LimitTable
}

const OPTIONS: readonly string[] = ['operations', 'base']
const WORDS: Readonly<Record<string, string>> = {
  limit: 'limits are `base`, by layer, category and window',
  limits: 'limits are `base`, by layer, category and window',
  max: 'limits are `base`, by layer, category and window',
  points: 'limits are `base`, by layer, category and window',
  windows: 'other windows need definePolicy()',
  windowMs: 'other windows need definePolicy()',
  categories: 'other categories need definePolicy()',
  layers: 'other layers need definePolicy()',
}

const DEFAULT_BASE: LimitTable = {
  personal: { read: { '1h': 120, '5h': 400, '1d': 1_200 }, write: { '1h': 60, '5h': 200, '1d': 600 } },
  site: { read: { '1h': 3_000, '5h': 10_000, '1d': 36_000 }, write: { '1h': 1_500, '5h': 5_000, '1d': 18_000 } },
}

/**
 * Three windows (1 hour, 5 hours, 1 day), two categories (read, write), two layers (personal, site).
 *
 * @throws {QuotaError} `invalid_options` for other options than these
 * @example
 * defaultPolicy({ operations: { 'music.upsert': { category: 'write', cost: 15 } } })
 */
export function defaultPolicy<Operation extends string = 'read' | 'write'>(
  options: DefaultPolicyOptions<Operation> = {},
): Policy<Operation> {
  const strangers = Object.keys(options).filter((key) => !OPTIONS.includes(key))
  if (strangers.length > 0) {
    const faults = strangers.map((path) => ({ path, message: unknownKey(path, OPTIONS, WORDS) }))
    throw faultyDocument('invalid_options', 'options of defaultPolicy()', faults)
  }
  const operations = options.operations ?? {
    read: { category: 'read', cost: 1 },
    write: { category: 'write', cost: 1 },
  }
  return {
    windows: [
      { label: '1h', lengthMs: 3_600_000 },
      { label: '5h', lengthMs: 18_000_000 },
      { label: '1d', lengthMs: 86_400_000 },
    ],
    categories: ['read', 'write'],
    layers: [
      { name: 'personal', scope: 'Personal', shared: false },
      { name: 'site', scope: 'Site', shared: true },
    ],
    operations: operations as Readonly<Record<Operation, OperationDefinition>>,
    base: options.base ?? DEFAULT_BASE,
  }
}
