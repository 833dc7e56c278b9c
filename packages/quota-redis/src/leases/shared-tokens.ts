import {
  type CellSchema,
  cellOfIdentity,
  cellsIn,
  inRowOrder,
  type Layout,
  NOT_OPEN,
  type StoreSchema,
  TOKENS,
  type WindowStates,
} from '@scoregw/quota/store'
import { newMark } from '../operations/hold-grow.ts'
import type { FreedRows, FreedTokens, SharedCharge } from '../operations/hold-shared.ts'
import type { Shard } from '../store/shard.ts'
import { type Parts, statesOf } from './parts.ts'
import type { SitePool } from './site-pool.ts'
import { startsOf } from './site-rows.ts'

/** Of a take that is yet to be charged at the site. */
export const UNSAID: Omit<SharedCharge, 'mark'> = { of: '', tokens: 0, starts: [] }

/** Which rows and windows, by names: whoever gives tokens back may have another policy. */
type RowNames = readonly [category: string, layers: readonly string[], windows: readonly string[]]

/**
 * What a hold was charged at the site, for its record.
 *
 * @param states of the shared rows after the charge
 */
export function chargeOf(
  { schema, layout }: { readonly schema: StoreSchema; readonly layout: Layout },
  { shared }: Parts,
  category: number,
  states: WindowStates,
  tokens: number,
): SharedCharge {
  const layers = shared.map((layer) => schema.layers[layer]!.name)
  const names: RowNames = [schema.categories[category]!, layers, windowsOf(layout)]
  const starts = startsOf(states).filter((_, cell) => cell % layout.size < layout.width)
  return { mark: newMark(), of: JSON.stringify(names), tokens, starts }
}

function windowsOf({ identities, width }: Layout): readonly string[] {
  return identities.slice(0, width)
}

/** What {@link SharedTokens} works with. */
export interface SharedTokensParts {
  readonly schema: StoreSchema
  readonly layout: Layout
  readonly pool: (category: number, layers: readonly number[]) => SitePool
  /** Tokens stay charged that nobody will give back. */
  readonly strand: (tokens: number) => void
  /** Makes the site's shard under another schema. */
  readonly siteOf: (schema: StoreSchema) => Shard
}

/** Gives back at the site what holds had there that ended in slots of their own: sent once, as what is lost is lost. */
export class SharedTokens {
  readonly #parts: SharedTokensParts
  /** The site's rows as other policies name them, by those names. */
  readonly #others = new Map<string, Shard>()

  constructor(parts: SharedTokensParts) {
    this.#parts = parts
  }

  /** Waits for what is under way, a deadline at most. */
  async close(): Promise<void> {
    await Promise.all([...this.#others.values()].map((shard) => shard.close()))
  }

  /** Never throws. */
  giveBack({ tokens, rows }: FreedTokens): void {
    const { names, cells } = folded(rows)
    const of = JSON.stringify(names)
    for (const [amount, starts] of amountsOf(cells, tokens)) {
      this.#send(of, names, amount, starts).catch(() => this.#parts.strand(amount))
    }
  }

  async #send(of: string, names: RowNames, tokens: number, starts: readonly number[]): Promise<void> {
    const [category, layers, windows] = names
    const { schema, layout } = this.#parts
    const own = {
      category: schema.categories.indexOf(category),
      layers: layers.map((name) => schema.layers.findIndex((layer) => layer.shared && layer.name === name)),
    }
    const isOwn = own.category >= 0 && !own.layers.includes(-1) && windows.join('\n') === windowsOf(layout).join('\n')
    if (isOwn) {
      const isLast = (at: number): boolean => layout.hasSlots && at % layout.width === layout.width - 1
      const cells = starts.flatMap((start, at) => (isLast(at) ? [start, NOT_OPEN] : [start]))
      return this.#parts.pool(own.category, own.layers).putBack(cells, tokens)
    }
    const all = [...layers.keys()]
    const settle = { subject: '', category: 0, layers: all, states: statesOf(starts), giveBack: tokens } as const
    await this.#otherSite(of, names).settle({ ...settle, as: 'cancelled' })
  }

  #otherSite(of: string, [category, names, windows]: RowNames): Shard {
    const layers = names.map((name) => ({ name, shared: true }))
    const shard =
      this.#others.get(of) ??
      this.#parts.siteOf({ units: [TOKENS], cells: cellsOf(windows), categories: [category], layers })
    this.#others.set(of, shard)
    return shard
  }
}

function cellsOf(identities: readonly string[]): readonly CellSchema[] {
  return cellsIn(
    [TOKENS],
    identities.flatMap((identity) => cellOfIdentity(identity) ?? []),
  )
}

/** What a hold has in one window: when that was opened, and how much was charged to it. */
interface Charged {
  readonly start: number
  readonly tokens: number
}

/**
 * What a hold has in all rows, though it was charged under several policies: layers and windows of all of them, so that of
 * each window no more goes back than the hold's tokens. As in a record a newer opening takes the place of an older one, which
 * has ended.
 */
function folded(rows: readonly FreedRows[]): { readonly names: RowNames; readonly cells: readonly Charged[] } {
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
  // Windows of a kind that this version does not know are left out: what is lost is lost.
  const windows = inRowOrder(cellsOf([...identities])).map(({ identity }) => identity)
  const cells = [...layers].flatMap((layer) => windows.map((window) => known.get(keyOf(layer, window)) ?? NOTHING))
  return { names: [category, [...layers], windows], cells }
}

const NOTHING: Charged = { start: NOT_OPEN, tokens: 0 }

function keyOf(layer: string, window: string): string {
  return `${layer}\n${window}`
}

/** How much goes back to windows with which starts: one amount for each, as a window has at most what it was charged. */
function amountsOf(cells: readonly Charged[], tokens: number): ReadonlyMap<number, readonly number[]> {
  const amounts = new Map<number, number[]>()
  for (const [index, { start, tokens: charged }] of cells.entries()) {
    const amount = Math.min(tokens, charged)
    if (amount === 0) continue
    const starts = amounts.get(amount) ?? new Array<number>(cells.length).fill(NOT_OPEN)
    starts[index] = start
    amounts.set(amount, starts)
  }
  return amounts
}
