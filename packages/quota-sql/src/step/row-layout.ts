import { QuotaError } from '@scoregw/quota'
import { CLOSED, cellOfIdentity, hash32 } from '@scoregw/quota/internal'

/** The limits whose pairs a row contains, in order. */
export interface RowLayout {
  readonly identities: readonly string[]
  /** The stored form: one identity per line. */
  readonly list: string
  /** The hash of {@link list}, which rows store. */
  readonly hash: number
}

/** A row as it is stored. */
export interface StoredRow {
  readonly layout: RowLayout | undefined
  /** `[startedAt, used]` of each cell; `undefined` if they cannot be read. */
  readonly pairs: readonly number[] | undefined
  /** When it may be deleted, epoch milliseconds; `null` for not before the next write. */
  readonly endsAt: number | null
}

/** The layouts in one database. Rows store their hash, and a table has the lists. */
export class Layouts {
  readonly #byList = new Map<string, RowLayout>()
  /** Layouts of rows that were read, by hash. */
  readonly #read = new Map<number, RowLayout>()
  /** Layouts that are certainly stored, even if the current transaction fails. */
  readonly #kept = new Set<RowLayout>()

  /** The layout of a list: always the same object for the same list. */
  of(identities: readonly string[]): RowLayout {
    const list = identities.join('\n')
    const known = this.#byList.get(list)
    if (known !== undefined) return known
    const layout = { identities, list, hash: hash32(list) }
    this.#byList.set(list, layout)
    return layout
  }

  isKept(layout: RowLayout): boolean {
    return this.#kept.has(layout)
  }

  /** Remembers that a layout was committed. */
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

  /** Adds a stored list. One whose hash doesn't match, or with an unknown limit, makes its rows unreadable. */
  learn(hash: number, list: string): void {
    const identities = list === '' ? [] : list.split('\n')
    const isKnown = identities.every((identity) => cellOfIdentity(identity) !== undefined)
    if (isKnown && hash32(list) === hash) this.#read.set(hash, this.of(identities))
  }

  /** @param pairs the stored numbers, which may be anything */
  row(hash: number, pairs: readonly unknown[], endsAt: number | null): StoredRow {
    const layout = this.#read.get(hash)
    const isReadable = layout !== undefined && pairs.length === 2 * layout.identities.length && pairs.every(isCount)
    return { layout, pairs: isReadable ? pairs : undefined, endsAt }
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= CLOSED
}
