import type { Limit, LimitTable, Policy, QuotaStore } from '@scoregw/quota'
import type { OperationDefinition, RollingWindow, WindowDefinition } from '@scoregw/quota/store'
import { ConfigError } from '../start/start-error.ts'

/** The gateway's operations with their default prices in tokens. */
const OPERATIONS = {
  'user.data': { category: 'read', cost: 2 },
  'user.charge': { category: 'read', cost: 2 },
  'user.items': { category: 'read', cost: 2 },
  'user.gates': { category: 'read', cost: 2 },
  'user.music': { category: 'read', cost: 4 },
  'source.lx': { category: 'read', cost: 5 },
  'source.fish': { category: 'read', cost: 5 },
  'ticket.clear': { category: 'write', cost: 5 },
  'music.delete': { category: 'write', cost: 10 },
  'music.upsert': { category: 'write', cost: 15 },
  'user.clear': { category: 'write', cost: 20 },
  'charge.2': { category: 'write', cost: 10 },
  'charge.3': { category: 'write', cost: 15 },
  'charge.5': { category: 'write', cost: 25 },
} as const satisfies Record<string, OperationDefinition>

export type OperationName = keyof typeof OPERATIONS

/** A policy with the gateway's operations, and any windows and layers. */
export type GatewayPolicy = Policy<OperationName>

export const OPERATION_NAMES = Object.keys(OPERATIONS) as OperationName[]

/** A window, and the tokens per user by category. */
export type WindowLine = WindowDefinition & { readonly tokens: Readonly<Record<string, number>> }

/**
 * A layer, and by how much it multiplies the tokens of each window. A window's own factor overrides `every`.
 * `unlimited`: the window is counted and refuses nothing.
 */
export interface LayerLine {
  readonly name: string
  /** The layer's name for people. */
  readonly scope: string
  readonly shared: boolean
  readonly times: Readonly<Record<string, number | 'unlimited'>> & { readonly every: number }
}

/** How many requests of these operations each user of a layer may run at the same time. All have the same category. */
interface SlotsLine {
  readonly label: string
  readonly layer: string
  readonly operations: readonly OperationName[]
  readonly slots: number
}

const HOUR_MS = 3_600_000

/** Labels of windows that a configuration can add. See {@link configuredPolicy}. */
const MONTH = 'month'
const MINUTE = 'minute'

/** To add a window, add a line. Documents, reference and console follow. */
export const WINDOWS: readonly (WindowLine & RollingWindow)[] = [
  { label: '1h', lengthMs: HOUR_MS, tokens: { read: 120, write: 60 } },
  { label: '5h', lengthMs: 5 * HOUR_MS, tokens: { read: 400, write: 200 } },
  { label: '1d', lengthMs: 24 * HOUR_MS, tokens: { read: 1_200, write: 600 } },
]

/** To add a layer, add a line. Users are the subjects of each layer that isn't shared. */
export const LAYERS: readonly LayerLine[] = [
  { name: 'personal', scope: 'Personal', shared: false, times: { every: 1 } },
  {
    name: 'site',
    scope: 'Site',
    shared: true,
    times: { every: 25, '1d': 30, [MONTH]: 'unlimited', [MINUTE]: 'unlimited' },
  },
]

/** Returns a policy with the gateway's operations. */
export function gatewayPolicyOf(
  windows: readonly WindowLine[],
  layers: readonly LayerLine[],
  slots?: SlotsLine,
): GatewayPolicy {
  const categories = [...new Set(Object.values(OPERATIONS).map(({ category }) => category))]
  const base = layers.map(({ name, times }) => [
    name,
    Object.fromEntries(
      categories.map((category) => [
        category,
        { ...tokensOf(windows, category, times), ...slotsOf(slots, name, category) },
      ]),
    ),
  ])
  return {
    windows: windows.map(({ tokens: _, ...window }) => window),
    categories,
    layers: layers.map(({ name, scope, shared }) => ({ name, scope, shared })),
    operations: OPERATIONS,
    base: Object.fromEntries(base) as LimitTable,
    ...(slots === undefined ? {} : { concurrency: { label: slots.label, operations: slots.operations } }),
  }
}

function tokensOf(windows: readonly WindowLine[], category: string, times: LayerLine['times']): Record<string, Limit> {
  return Object.fromEntries(
    windows.map(({ label, tokens }) => {
      const factor = times[label] ?? times.every
      return [label, factor === 'unlimited' ? factor : (tokens[category] ?? 0) * factor]
    }),
  )
}

function slotsOf(line: SlotsLine | undefined, layer: string, category: string): Record<string, Limit> {
  const isLimited = line?.layer === layer && line.operations.some((name) => OPERATIONS[name].category === category)
  return isLimited ? { [line.label]: line.slots } : {}
}

/** The gateway's default policy. */
export const gatewayPolicy: GatewayPolicy = gatewayPolicyOf(WINDOWS, LAYERS)

/** Limits that a configuration adds to the gateway's policy. */
export interface ConfiguredLimits {
  /** Tokens of each user per calendar month, by category. */
  readonly monthly: Readonly<Record<string, number>> | undefined
  /** Tokens of each user per minute, by category, and the fraction of them that can be saved up. */
  readonly minutely: Readonly<Record<string, number>> | undefined
  readonly minuteBurst: number
  /** How many imports from score sources each user may run at the same time. */
  readonly concurrentImports: number | undefined
}

/** The time zone of months, also that of times in refusals. */
const MONTH_ZONE = 'Asia/Shanghai'

/** The operations that wait for a source. */
const IMPORTS: readonly OperationName[] = ['source.lx', 'source.fish']

/** Returns the gateway's policy with the configured limits. */
export function configuredPolicy(limits: ConfiguredLimits): GatewayPolicy {
  const { monthly, minutely, minuteBurst, concurrentImports: slots } = limits
  if (monthly === undefined && minutely === undefined && slots === undefined) return gatewayPolicy
  const minute: WindowLine[] =
    minutely === undefined ? [] : [{ label: MINUTE, lengthMs: 60_000, burst: { share: minuteBurst }, tokens: minutely }]
  const month: WindowLine[] =
    monthly === undefined ? [] : [{ label: MONTH, every: 'month', timeZone: MONTH_ZONE, tokens: monthly }]
  const imports: SlotsLine | undefined =
    slots === undefined ? undefined : { label: 'imports', layer: 'personal', operations: IMPORTS, slots }
  return gatewayPolicyOf([...minute, ...WINDOWS, ...month], LAYERS, imports)
}

/**
 * Checks that the store supports the configured limits.
 *
 * @throws {ConfigError} naming the variables that it doesn't support
 */
export function checkConfigured(
  { monthly, minutely, concurrentImports }: ConfiguredLimits,
  { can = {} }: Pick<QuotaStore, 'can'>,
): void {
  const faults: string[] = []
  if (monthly !== undefined && can.calendar !== true) {
    faults.push('QUOTA_MONTHLY_LIMIT: the counters at REDIS_URL cannot keep calendar months; leave it out')
  }
  if (minutely !== undefined && can.bucket !== true) {
    faults.push('QUOTA_MINUTE_LIMIT: the counters at REDIS_URL cannot keep buckets; leave it out')
  }
  if (concurrentImports !== undefined && (can.concurrency === undefined || can.holds !== true)) {
    faults.push('QUOTA_MAX_CONCURRENT_IMPORTS: the counters at REDIS_URL cannot keep slots; leave it out')
  }
  if (faults.length > 0) throw new ConfigError(faults)
}
