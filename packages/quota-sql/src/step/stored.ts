import { QuotaError } from '@scoregw/quota'
import { CLOSED, cellOfIdentity, hash32, isNamedRecord } from '@scoregw/quota/internal'
import type { IdPlace, NamedRecord } from '@scoregw/quota/store'

/** The first character of a name that is not stored unchanged. */
const MARK = '\u0001'
/** PostgreSQL has no text with these, and no database distinguishes lone surrogates. */
const NOT_TEXT = /\0|\p{Surrogate}/u

/** Text that a column can store. Different texts stay different, and most stay unchanged. */
export function keptText(text: string): string {
  if (!text.startsWith(MARK) && !NOT_TEXT.test(text)) return text
  return `${MARK}${Buffer.from(text, 'utf16le').toString('hex')}`
}

/** The original of a {@link keptText}. */
export function textOf(kept: string): string {
  return kept.startsWith(MARK) ? Buffer.from(kept.slice(1), 'hex').toString('utf16le') : kept
}

/** The key of an id's record, as its three columns hold it. */
export type Key = readonly [string, string, string]

/** A key as one text. No column holds a NUL. */
export function nameOf([first, second, third]: Key): string {
  return `${first}\0${second}\0${third}`
}

export function placeOf([by, owner, id]: Key): IdPlace {
  return { by, owner: textOf(owner), id: textOf(id) }
}

// Rows ----------------------------------------------------------------------------------------------------------------

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

// Records -------------------------------------------------------------------------------------------------------------

/** @throws {QuotaError} `damaged_row` */
export function recordOf(text: string): NamedRecord {
  const record = parsed(text)
  if (isNamedRecord(record)) return record as NamedRecord
  throw new QuotaError('damaged_row', 'the record of the id cannot be read')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A hold's record as it is stored. */
export interface StoredHold {
  readonly key: Key
  readonly record: string
}

/** A record; empty if it cannot be read. */
export function readable(text: string): Partial<NamedRecord> {
  try {
    return recordOf(text)
  } catch {
    return {}
  }
}
