import type { Limit, LimitTable, Policy } from '@scoregw/quota'
import type { OperationDefinition, RollingWindow, WindowDefinition } from '@scoregw/quota/store'

/** What the gateway meters, with the prices in tokens that hold until an administrator sets others. */
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

/** What a gateway decides by: its operations, under any windows and layers. */
export type GatewayPolicy = Policy<OperationName>

export const OPERATION_NAMES = Object.keys(OPERATIONS) as OperationName[]

/** One window, rolling or of the calendar, and the tokens by category of one user. */
export type WindowLine = WindowDefinition & { readonly tokens: Readonly<Record<string, number>> }

/**
 * One layer, and how many times the tokens of a window it has; a window's own number goes before `every`. `unlimited`: it
 * is counted there and refuses nobody.
 */
export interface LayerLine {
  readonly name: string
  /** As people read it. */
  readonly scope: string
  readonly shared: boolean
  readonly times: Readonly<Record<string, number | 'unlimited'>> & { readonly every: number }
}

/** How many requests of some operations, all of one category, each user of a layer may run at once. */
export interface SlotsLine {
  readonly label: string
  readonly layer: string
  readonly operations: readonly OperationName[]
  readonly slots: number
}

const HOUR_MS = 3_600_000

/** The labels of the windows that a configuration may add: see `configured-policy.ts`. */
export const MONTH = 'month'
export const MINUTE = 'minute'

/** A window more is a line more: documents, reference and console follow. */
export const WINDOWS: readonly (WindowLine & RollingWindow)[] = [
  { label: '1h', lengthMs: HOUR_MS, tokens: { read: 120, write: 60 } },
  { label: '5h', lengthMs: 5 * HOUR_MS, tokens: { read: 400, write: 200 } },
  { label: '1d', lengthMs: 24 * HOUR_MS, tokens: { read: 1_200, write: 600 } },
]

/** A layer more is a line more, too. Users are the subjects: each has a window of every layer that is not shared. */
export const LAYERS: readonly LayerLine[] = [
  { name: 'personal', scope: 'Personal', shared: false, times: { every: 1 } },
  {
    name: 'site',
    scope: 'Site',
    shared: true,
    times: { every: 25, '1d': 30, [MONTH]: 'unlimited', [MINUTE]: 'unlimited' },
  },
]

/** The gateway's operations under windows and layers. */
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
