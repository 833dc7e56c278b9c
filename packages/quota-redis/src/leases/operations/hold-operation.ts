import type { Amounts, HoldOutcome, HoldRef, WindowStates } from '@scoregw/quota/store'
import type { RecordName } from '../../store/keys.ts'
import type { LeaseBatch, LeaseOperation } from './batch.ts'
import { type FreedAmounts, readFreed } from './hold-shared.ts'
import { DAMAGE, STORED, type Waiter } from './operation.ts'
import type { LeaseReplay } from './replay.ts'
import type { LeaseTermsRequest } from './terms.ts'

/** The letter of an operation on a hold that has rows which it did not name; its facts are their names. */
const MORE_ROWS = 'k'

/** What letters say of an open hold. */
export const HOLD_OUTCOMES: Readonly<Record<string, HoldOutcome>> = {
  y: 'held',
  r: 'refused',
  e: 'expired',
  z: 'settled',
  n: 'unknown',
  s: 'stale',
  t: 'stale',
}

/** What the script answers of a hold beside its letter. */
export type HoldFacts = readonly (number | string)[]

/** Where operations on holds leave results that are not for their callers. */
export interface HoldDesk {
  /** Requests an operation once more. */
  readonly askAgain: (operation: LeaseOperation) => void
  /** A hold was ended by an operation, whatever that was for, and had something in another slot. */
  readonly freed: (freed: FreedAmounts) => void
}

/** Which record, by what its key has behind the prefix. */
export interface NamedRecord extends RecordName {
  readonly name: string
}

/**
 * Something done with a hold. What the hold has in which rows is known to its record alone: an operation names the rows that
 * it likely has, and is sent again, with the others, where there are any.
 */
export abstract class HoldOperation<T> implements LeaseOperation {
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

  abstract encode(batch: LeaseBatch): void

  /**
   * The reply to the caller; every row that the operation named is in the replay as it is then.
   *
   * @param stored of {@link STORED}: the states that the record keeps
   */
  protected abstract reply(replay: LeaseReplay, letter: string, facts: HoldFacts, stored: Buffer): T

  /** An earlier sending of it may be carried out yet, after this one was answered. */
  protected get isRepeated(): boolean {
    return this.#isRepeated
  }

  answer(replay: LeaseReplay, letter: string): void {
    this.#isOut = false
    const rows = replay.answer()
    const facts = JSON.parse(replay.answer().toString()) as HoldFacts
    const freed = readFreed(replay.answer())
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
    if (letter !== STORED) replay.put(this.#rows, rows)
    this.#waiter.resolve(this.reply(replay, letter, facts, rows))
  }

  fail(error: unknown): void {
    this.#waiter.reject(error)
  }

  /** Names the rows, the record and both indexes. */
  protected target(batch: LeaseBatch, rows: readonly number[], record: string, holdsOfOwner: string): void {
    this.#isRepeated ||= this.#isOut
    this.#isOut = true
    const all = [...new Set([...rows, ...this.#moreRows.map((name) => batch.named(name))])]
    this.#rows = batch.rows(all)
    batch.numbers([batch.record(record), batch.other(batch.keys.holds), batch.other(holdsOfOwner)])
  }

  /** The same for the hold of a reference: the rows of some layers, then those of all others that the schema has. */
  protected targetOf(batch: LeaseBatch, { subject, category, id }: HoldRef, layers: readonly number[]): void {
    const { keys } = batch
    const all = [...layers, ...keys.schema.layers.keys()]
    const rows = all.map((layer) => batch.row(layer, category, subject))
    this.target(batch, rows, keys.oldRecord(category, subject, id.id), keys.holdsOf(subject))
  }

  /** The same for a record that an index names. */
  protected targetNamed(batch: LeaseBatch, rows: readonly number[], { name, indexOfOwner }: NamedRecord): void {
    this.target(batch, rows, batch.keys.named(name), batch.keys.named(indexOfOwner))
  }

  /** The states of the first rows that it named. */
  protected states(
    replay: LeaseReplay,
    rows: number,
    periods: readonly number[] | undefined,
    costs: readonly number[] | undefined = undefined,
  ): WindowStates {
    return replay.view(this.#rows.slice(0, rows), periods, costs) ?? []
  }
}

/** Names terms, and the own rows of a request under them. */
export function encodeTerms(batch: LeaseBatch, request: LeaseTermsRequest): void {
  const terms = batch.terms(request)
  batch.number(terms.number)
  batch.ownRows(terms, request.category, request.subject)
}

/** Names and amounts in turn. */
export function readAmounts(facts: HoldFacts): Amounts {
  const entries = facts.flatMap((fact, at) => (at % 2 === 0 ? [[String(fact), Number(facts[at + 1])] as const] : []))
  return Object.fromEntries(entries)
}
