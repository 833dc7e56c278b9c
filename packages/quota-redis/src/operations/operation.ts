import type { Layout, Subject } from '@scoregw/quota/store'
import type { TakeRequest } from '../one-unit.ts'
import type { TariffTerms } from './tariffs.ts'

/** The rows of a batch while its operations are replayed, in order, on this side of the wire. */
export interface Replay {
  readonly now: number
  readonly layout: Layout
  /** Whether all windows of all rows are open, with room for what is charged. */
  readonly areOpen: boolean
  /** One row behind the other; those that cannot be read as a reset would leave them. */
  readonly cells: Float64Array
  /** States kept with ids, for the operations answered `m`; and what operations on holds tell. */
  readonly stored: Iterator<Buffer>
  /** Revision of the settings that the store knows. */
  readonly settingsRevision: string
  /** Why an operation was answered `b`. */
  damage(rows: readonly number[]): Error
  /** A row that could not be read can be, from here on. */
  mended(row: number): void
}

/** What an operation is told to: the keys, codes and words of one script call. */
export interface Call {
  readonly layout: Layout
  /** All layers of the schema. */
  readonly layers: readonly number[]
  isShared(layer: number): boolean
  /** The place of a row among the keys. */
  row(layer: number, category: number, subject: Subject): number
  /** The place of an id's record. */
  record(category: number, subject: Subject, id: string): number
  /** The place of the index of all holds. */
  holds(): number
  /** The place of the index of an owner's holds. */
  holdsOf(subject: Subject): number
  /** The place of a key by what it has behind the prefix. */
  named(name: string): number
  /** Where the row of a place begins in a replay. */
  cellsAt(place: number): number
  /** The number of what the request has in common with others. */
  tariff(request: TariffTerms): number
  /** Adds to the codes: an operation, ... */
  code(code: number): void
  /** ... a row or record, ... */
  place(place: number): void
  /** ... or the rows of categories and layers; where they begin in a replay, the layers of each category in turn. */
  rows(layers: readonly number[], categories: readonly number[], subject: Subject): number[]
  /** Adds what the operation needs besides. */
  words(...words: readonly (string | number)[]): void
}

/** One operation of a batch. It is answered with its letter (see `lua/decide.lua`), or fails. */
export interface Operation {
  /** Whether it may be sent again when nobody knows if it was carried out. */
  readonly repeatable: boolean
  /** What it asks for if it is a take of more than nothing. Such ones need not be encoded. */
  readonly plainTake?: TakeRequest | undefined
  /** Tells a plain take that was not encoded where its rows begin in the replay; they are not there for long. */
  standAt?(rows: readonly number[]): void
  /** Says what is to be done. */
  encode(call: Call): void
  answer(replay: Replay, letter: string): void
  fail(error: unknown): void
}

/** Who waits for an operation. */
export interface Waiter<T> {
  readonly resolve: (value: T) => void
  readonly reject: (error: unknown) => void
}
