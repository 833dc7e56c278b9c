import { QuotaError } from '@scoregw/quota'
import { type CellDefinition, CLOSED, cellOfIdentity, hash32 } from '@scoregw/quota/store'

/** What the pairs of a row count, in their order. */
export interface RowLayout {
  readonly identities: readonly string[]
  /** As it is stored: one identity a line. */
  readonly list: string
  /** What rows have of it: a hash of {@link list}. */
  readonly hash: number
  /** The limits; `undefined` for those that this version does not know. */
  readonly cells: readonly (CellDefinition | undefined)[]
  readonly isKnown: boolean
}

/** A row as it is stored. */
export interface StoredRow {
  readonly layout: RowLayout | undefined
  /** `[startedAt, used]` of each cell; `undefined` where they cannot be read. */
  readonly pairs: readonly number[] | undefined
  /** When it may be forgotten, epoch milliseconds; `null`: not before it was written again. */
  readonly endsAt: number | null
}

/** The layouts of one database: a row says by a hash which it has, and the lists are stored beside the rows. */
export class Layouts {
  readonly #byList = new Map<string, RowLayout>()
  /** Those that rows were read with, by their hash. */
  readonly #read = new Map<number, RowLayout>()
  /** Those that are stored whatever becomes of a transaction at hand. */
  readonly #kept = new Set<RowLayout>()
  readonly #cells = new Map<string, CellDefinition | undefined>()

  /** The limit that an identity names; `undefined`: this version knows none. */
  cellOf(identity: string): CellDefinition | undefined {
    if (!this.#cells.has(identity)) this.#cells.set(identity, cellOfIdentity(identity))
    return this.#cells.get(identity)
  }

  /** The same object for the same list. */
  of(identities: readonly string[]): RowLayout {
    const list = identities.join('\n')
    const known = this.#byList.get(list)
    if (known !== undefined) return known
    const cells = identities.map((identity) => this.cellOf(identity))
    const layout = { identities, list, hash: hash32(list), cells, isKnown: cells.every((cell) => cell !== undefined) }
    this.#byList.set(list, layout)
    return layout
  }

  isKept(layout: RowLayout): boolean {
    return this.#kept.has(layout)
  }

  /** Takes note of what was committed. */
  keep(layout: RowLayout): void {
    this.#kept.add(layout)
    this.#read.set(layout.hash, layout)
  }

  /**
   * @param list the list stored under its hash
   * @throws {QuotaError} `store_mismatch`
   */
  check({ list, hash }: RowLayout, stored: unknown): void {
    if (stored === list) return
    const message = `the list of limits ${JSON.stringify(list)} and another one that is stored have the same hash ${hash}`
    throw new QuotaError('store_mismatch', `${message}: rename one of the limits`)
  }

  get(hash: number): RowLayout | undefined {
    return this.#read.get(hash)
  }

  /** Registers a stored list; a list that is not that of its hash makes its rows unreadable. */
  learn(hash: number, list: string): void {
    const layout = this.of(list === '' ? [] : list.split('\n'))
    if (layout.hash === hash) this.#read.set(hash, layout)
  }

  /** @param cells as a column has them: numbers in brackets of whatever kind */
  row(hash: number, cells: string, endsAt: number | null): StoredRow {
    const layout = this.#read.get(hash)
    return { layout, pairs: layout && pairsOf(cells, layout), endsAt }
  }
}

function pairsOf(text: string, { identities }: RowLayout): readonly number[] | undefined {
  if (!/^[[{].*[\]}]$/.test(text)) return undefined
  try {
    const pairs = JSON.parse(`[${text.slice(1, -1)}]`) as unknown[]
    return pairs.length === 2 * identities.length && pairs.every(isCount) ? pairs : undefined
  } catch {
    return undefined
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= CLOSED
}
