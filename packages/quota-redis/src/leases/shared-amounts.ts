import {
  type Amounts,
  amountsIn,
  type CellDefinition,
  cellOfIdentity,
  cellsIn,
  Deadline,
  inRowOrder,
  type Layout,
  NOT_OPEN,
  type StoreSchema,
  type WindowStates,
} from '@scoregw/quota/store'
import { newMark, type SharedRows } from '../counters/record.ts'
import type { UnitAmounts } from './amounts.ts'
import type { FreedAmounts, SharedCharge } from './hold-records.ts'
import type { Shard } from './shard.ts'
import { startsOf } from './shared-cells.ts'
import type { SharedPool } from './shared-pool.ts'
import { type SplitLayers, statesOf } from './split.ts'

/** A take that is not charged at the shared layers yet. */
export const UNSAID: Omit<SharedCharge, 'mark'> = { of: '', cells: [] }

/** The rows and windows, by names, because the process that refunds them may have another policy. */
type RowNames = readonly [category: string, layers: readonly string[], windows: readonly string[]]

/**
 * A hold's charge at the shared layers, for its record.
 *
 * @param states of the shared rows after the charge
 */
export function chargeOf(
  { schema, layout }: { readonly schema: StoreSchema; readonly layout: Layout },
  { shared }: SplitLayers,
  category: number,
  states: WindowStates,
  costs: UnitAmounts,
): SharedCharge {
  const layers = shared.map((layer) => schema.layers[layer]!.name)
  const names: RowNames = [schema.categories[category]!, layers, windowsOf(layout)]
  const cells = startsOf(states).flatMap((start, at) => {
    const cell = at % layout.size
    return cell < layout.width ? [start, costs[layout.units[cell]!]!] : []
  })
  return { mark: newMark(), of: JSON.stringify(names), cells }
}

function windowsOf({ identities, width }: Layout): readonly string[] {
  return identities.slice(0, width)
}

/** The dependencies of {@link SharedAmounts}. */
export interface SharedAmountsDeps {
  readonly schema: StoreSchema
  readonly layout: Layout
  readonly pool: (category: number, layers: readonly number[]) => SharedPool
  /** Counts tokens that stay charged because nothing will refund them. */
  readonly strand: (amounts: UnitAmounts) => void
  /** Creates the shared layers' shard under another schema. */
  readonly sharedOf: (schema: StoreSchema) => Shard
  /** How long the end of a hold waits for the refund, in milliseconds. */
  readonly mostWaitMs: number
}

/** Refunds the shared tokens of holds that ended in their own slots. Each refund is sent once, never repeated. */
export class SharedAmounts {
  readonly #deps: SharedAmountsDeps
  /** Shards for the shared rows of other policies, by their names. */
  readonly #others = new Map<string, Shard>()

  constructor(deps: SharedAmountsDeps) {
    this.#deps = deps
  }

  /** Waits for calls in flight, at most one deadline. */
  async close(): Promise<void> {
    await Promise.all([...this.#others.values()].map((shard) => shard.close()))
  }

  /** Resolves when the refund is done, or after `mostWaitMs`. Never rejects. */
  async refund({ amounts, rows }: FreedAmounts): Promise<void> {
    const { names, cells } = folded(rows)
    const of = JSON.stringify(names)
    const sent = refundsOf(names, cells, amounts).map(({ back, starts }) =>
      this.#send(of, names, back, starts).catch(() => this.#deps.strand(Object.values(back))),
    )
    const limit = new Deadline(this.#deps.mostWaitMs)
    await Promise.race([Promise.all(sent), limit.settled])
    limit.met()
  }

  async #send(of: string, names: RowNames, back: Amounts, starts: readonly number[]): Promise<void> {
    const [category, layers, windows] = names
    const { schema, layout } = this.#deps
    const own = {
      category: schema.categories.indexOf(category),
      layers: layers.map((name) => schema.layers.findIndex((layer) => layer.shared && layer.name === name)),
    }
    const isOwn = own.category >= 0 && !own.layers.includes(-1) && windows.join('\n') === windowsOf(layout).join('\n')
    if (isOwn) {
      const isLast = (at: number): boolean => layout.hasSlots && at % layout.width === layout.width - 1
      const cells = starts.flatMap((start, at) => (isLast(at) ? [start, NOT_OPEN] : [start]))
      return this.#deps.pool(own.category, own.layers).putBack(cells, amountsIn(schema.units, back))
    }
    const all = [...layers.keys()]
    const shared = this.#otherShared(of, names)
    const refunds = amountsIn(shared.keys.schema.units, back)
    const settle = { subject: '', category: 0, layers: all, states: statesOf(starts), refunds } as const
    await shared.settle({ ...settle, as: 'cancelled' })
  }

  #otherShared(of: string, [category, names, windows]: RowNames): Shard {
    const layers = names.map((name) => ({ name, shared: true }))
    const limits = limitsOf(windows)
    const units = [...new Set(limits.map(({ unit }) => unit))]
    const schema = { units, cells: cellsIn(units, limits), categories: [category], layers }
    const shard = this.#others.get(of) ?? this.#deps.sharedOf(schema)
    this.#others.set(of, shard)
    return shard
  }
}

function limitsOf(identities: readonly string[]): CellDefinition[] {
  return identities.flatMap((identity) => cellOfIdentity(identity) ?? [])
}

/** A hold's charge in one window: when that opened, and the amount. */
interface Charged {
  readonly start: number
  readonly tokens: number
}

/**
 * A hold's charges in all rows. If they were made under several policies, it merges their layers and windows, so that
 * each window gets at most the hold's tokens back. As in a record, a newer opening replaces an older one, which has
 * ended.
 */
function folded(rows: readonly SharedRows[]): { readonly names: RowNames; readonly cells: readonly Charged[] } {
  const known = new Map<string, Charged>()
  const [layers, identities] = [new Set<string>(), new Set<string>()]
  let category = ''
  for (const { of, cells } of rows) {
    const [itsCategory, itsLayers, windows] = JSON.parse(of) as RowNames
    category = itsCategory
    for (const [index, name] of itsLayers.flatMap((layer) => windows.map((window) => [layer, window])).entries()) {
      const [layer, window] = name as [string, string]
      const [start, tokens] = [cells[2 * index]!, cells[2 * index + 1]!]
      const had = known.get(keyOf(layer, window)) ?? NOTHING
      const isOlder = start < had.start
      const more = start === had.start ? { start, tokens: tokens + had.tokens } : { start, tokens }
      known.set(keyOf(layer, window), isOlder ? had : more)
      layers.add(layer)
      identities.add(window)
    }
  }
  // Windows of an unknown kind are left out: their tokens are lost.
  const windows = inRowOrder(limitsOf([...identities])).map(({ identity }) => identity)
  const cells = [...layers].flatMap((layer) => windows.map((window) => known.get(keyOf(layer, window)) ?? NOTHING))
  return { names: [category, [...layers], windows], cells }
}

const NOTHING: Charged = { start: NOT_OPEN, tokens: 0 }

function keyOf(layer: string, window: string): string {
  return `${layer}\n${window}`
}

/** A refund to the windows with these starts, per unit. */
interface Refund {
  readonly back: Amounts
  readonly starts: readonly number[]
}

/** One refund per amount and unit, as each window gets at most what it was charged. */
function refundsOf([, layers, windows]: RowNames, cells: readonly Charged[], amounts: Amounts): readonly Refund[] {
  const units = layers.flatMap(() => limitsOf(windows).map(({ unit }) => unit))
  const refunds = new Map<string, { readonly back: Amounts; readonly starts: number[] }>()
  for (const [index, { start, tokens: charged }] of cells.entries()) {
    const unit = units[index]!
    const amount = Math.min(amounts[unit] ?? 0, charged)
    if (amount === 0) continue
    const name = `${unit} ${amount}`
    const starts = new Array<number>(cells.length).fill(NOT_OPEN)
    const refund = refunds.get(name) ?? { back: { [unit]: amount }, starts }
    refund.starts[index] = start
    refunds.set(name, refund)
  }
  return [...refunds.values()]
}
