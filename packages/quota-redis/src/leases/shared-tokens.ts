import {
  type CellSchema,
  cellOfIdentity,
  type Layout,
  NOT_OPEN,
  type StoreSchema,
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
  readonly #others = new Map<string, Shard | undefined>()

  constructor(parts: SharedTokensParts) {
    this.#parts = parts
  }

  /** Waits for what is under way, a deadline at most. */
  async close(): Promise<void> {
    await Promise.all([...this.#others.values()].map((shard) => shard?.close()))
  }

  /** Never throws. */
  giveBack({ tokens, rows }: FreedTokens): void {
    for (const each of rows) {
      for (const [amount, starts] of amountsOf(each, tokens)) {
        this.#send(each.of, amount, starts).catch(() => this.#parts.strand(amount))
      }
    }
  }

  async #send(of: string, tokens: number, starts: readonly number[]): Promise<void> {
    const [category, layers, windows] = JSON.parse(of) as RowNames
    const { schema, layout } = this.#parts
    const own = {
      category: schema.categories.indexOf(category),
      layers: layers.map((name) => schema.layers.findIndex((layer) => layer.shared && layer.name === name)),
    }
    const isOwn = own.category >= 0 && !own.layers.includes(-1) && windows.join('\n') === windowsOf(layout).join('\n')
    if (isOwn) {
      const cells = starts.flatMap((start, at) => (isLast(at, layout) && layout.hasSlots ? [start, NOT_OPEN] : [start]))
      return this.#parts.pool(own.category, own.layers).putBack(cells, tokens)
    }
    const shard = this.#otherSite(of, [category, layers, windows])
    const all = layers.map((_, layer) => layer)
    const states = statesOf(starts)
    await shard?.settle({ subject: '', category: 0, layers: all, states, giveBack: tokens, as: 'cancelled' })
  }

  #otherSite(of: string, [category, names, windows]: RowNames): Shard | undefined {
    if (this.#others.has(of)) return this.#others.get(of)
    const cells = windows.map(cellOfIdentity)
    const layers = names.map((name) => ({ name, shared: true }))
    const isKnown = cells.every((cell): cell is CellSchema => cell !== undefined)
    // Windows that this version does not know: another process may have been meant to give back.
    const shard = isKnown ? this.#parts.siteOf({ cells, categories: [category], layers }) : undefined
    this.#others.set(of, shard)
    return shard
  }
}

function isLast(at: number, { width }: Layout): boolean {
  return at % width === width - 1
}

/** How much goes back to windows with which starts: one amount for each, as a window has at most what it was charged. */
function amountsOf({ cells }: FreedRows, tokens: number): ReadonlyMap<number, readonly number[]> {
  const amounts = new Map<number, number[]>()
  const count = cells.length / 2
  for (let window = 0; window < count; window++) {
    const amount = Math.min(tokens, cells[2 * window + 1]!)
    if (amount === 0) continue
    const starts = amounts.get(amount) ?? new Array<number>(count).fill(NOT_OPEN)
    starts[window] = cells[2 * window]!
    amounts.set(amount, starts)
  }
  return amounts
}
