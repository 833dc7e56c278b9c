import type { HoldRef, WindowStates } from '@scoregw/quota/store'
import { CODES, DAMAGE } from './codes.ts'
import { type FreedTokens, readFreed } from './hold-shared.ts'
import type { Call, Operation, Replay, Waiter } from './operation.ts'
import { unpackRowsInto } from './row-bytes.ts'
import { viewOf } from './states.ts'
import type { TariffTerms } from './tariffs.ts'

/** The script's answer where a hold has rows that the operation did not name; its facts are their names. */
const MORE_ROWS = 'k'

/** The script's answer to a take that was admitted earlier. */
export const STORED = 'm'

/** What the script tells of a hold beside its letter. */
export type HoldFacts = readonly (number | string)[]

/** Where operations on holds leave what is not for their callers. */
export interface HoldDesk {
  /** Asks for an operation once more. */
  readonly askAgain: (operation: Operation) => void
  /** A hold was ended by an operation, whatever that was for, and had tokens in another slot. */
  readonly freed: (freed: FreedTokens) => void
}

/**
 * Something done with a hold. What the hold has in which rows is known to its record alone: an operation names the rows that
 * it likely has, and is asked for again, with the others, where there are any.
 */
export abstract class HoldOperation<T> implements Operation {
  readonly repeatable: boolean = true
  readonly #waiter: Waiter<T>
  readonly #desk: HoldDesk
  #moreRows: readonly string[] = []
  /** It was sent, and not answered since. */
  #isOut = false
  #isRepeated = false
  #rows: readonly number[] = []

  constructor(waiter: Waiter<T>, desk: HoldDesk) {
    this.#waiter = waiter
    this.#desk = desk
  }

  abstract encode(call: Call): void

  /**
   * What the caller hears; every row that the operation named is in the replay as it is thereafter.
   *
   * @param told of {@link STORED}: the states that the record keeps
   */
  protected abstract reply(replay: Replay, letter: string, facts: HoldFacts, told: Buffer): T

  /** An earlier sending of it may be carried out yet, after this one was answered. */
  protected get isRepeated(): boolean {
    return this.#isRepeated
  }

  answer(replay: Replay, letter: string): void {
    this.#isOut = false
    const facts = JSON.parse((replay.stored.next().value as Buffer).toString()) as HoldFacts
    const told = replay.stored.next().value as Buffer
    const freed = readFreed(replay.stored.next().value as Buffer)
    if (freed !== undefined) this.#desk.freed(freed)
    if (letter === MORE_ROWS) {
      this.#moreRows = [...this.#moreRows, ...(facts as readonly string[])]
      this.#desk.askAgain(this)
      return
    }
    if (letter === DAMAGE) {
      this.fail(replay.damage(this.#rows))
      return
    }
    if (letter !== STORED) unpackRowsInto(replay.cells, this.#rows, told, replay.layout)
    this.#waiter.resolve(this.reply(replay, letter, facts, told))
  }

  fail(error: unknown): void {
    this.#waiter.reject(error)
  }

  /** Names the rows, the record and both indexes. */
  protected target(call: Call, rows: readonly number[], record: number, holdsOfOwner: number): void {
    this.#isRepeated ||= this.#isOut
    this.#isOut = true
    const all = [...new Set([...rows, ...this.#moreRows.map((name) => call.named(name))])]
    call.place(all.length)
    for (const place of all) call.place(place)
    for (const place of [record, call.holds(), holdsOfOwner]) call.place(place)
    this.#rows = all.map((place) => call.cellsAt(place))
  }

  /** The same for the hold of a reference: the rows of some layers, then those of all others that the schema has. */
  protected targetOf(call: Call, { subject, category, id }: HoldRef, layers: readonly number[]): void {
    const rows = [...layers, ...call.layers].map((layer) => call.row(layer, category, subject))
    this.target(call, rows, call.record(category, subject, id.id), call.holdsOf(subject))
  }

  /** The states of the first rows that it named. */
  protected states(replay: Replay, rows: number, periods: readonly number[] | undefined): WindowStates {
    return viewOf(replay, this.#rows.slice(0, rows), periods) ?? []
  }
}

/** Names a tariff, and the rows that it leaves open. */
export function encodeTariff(call: Call, code: number, request: TariffTerms): void {
  const tariff = call.tariff(request)
  call.code(code)
  call.code(CODES.FIRST_TARIFF + tariff)
  for (const layer of request.quotas.layers) {
    if (!call.isShared(layer)) call.place(call.row(layer, request.category, request.subject))
  }
}
