import type { UnitAmounts } from './amounts.ts'
import grant from './grant.lua'
import type { Lease } from './lease.ts'
import { batchScripts } from './lua/batch-script.ts'
import type { ScriptOfShape } from './lua/script.ts'
import type { LeaseBatch, LeaseOperation } from './operations/batch.ts'
import { DAMAGE, type Waiter } from './operations/operation.ts'
import type { LeaseReplay } from './operations/replay.ts'
import type { Terms } from './shared-answer.ts'

/** The script of batches, with leases. */
export const leaseScript: ScriptOfShape = batchScripts(grant)

/** Which rows a call is about: those of one category and some shared layers. */
export interface SharedRowsAt {
  readonly category: number
  readonly layers: readonly number[]
}

/** What a grant is asked for. */
export interface GrantRequest extends Terms {
  /** Of each request. */
  readonly costs: readonly UnitAmounts[]
  /** Wanted beyond the costs, at the most. */
  readonly wanted: UnitAmounts
  /** What the process has left in its leases. */
  readonly idle: UnitAmounts
  readonly mayOpen: boolean
  readonly leaseId: string
}

/** How leases are counted, in milliseconds. */
export interface LeaseTimes {
  /** How long one that was not returned is remembered. */
  readonly rememberedMs: number
  /** How long a process counts as one of those that share, after it last asked. */
  readonly countedMs: number
  /** How long one can be used. */
  readonly usableMs: number
}

/** What a grant came to. */
export interface Granted {
  readonly now: number
  /** One a request: see `grant.lua`. */
  readonly letters: string
  /** Charged and leased in all, of each unit. */
  readonly amounts: UnitAmounts
  /** What live leases of other processes may have left, of each unit. */
  readonly leasedByOthers: UnitAmounts
  /** Of the settings that the shared layers know, if it was asked. */
  readonly settingsRevision: string
  /** Cells of the rows before the grant. */
  readonly cells: Float64Array
}

/** Charges requests on the shared rows, and leases more. */
export class GrantOperation implements LeaseOperation {
  readonly repeatable = false
  readonly #at: SharedRowsAt
  readonly #request: GrantRequest
  readonly #process: string
  readonly #times: LeaseTimes
  readonly #waiter: Waiter<Granted>
  #rows: readonly number[] = []
  #units = 0

  constructor(at: SharedRowsAt, request: GrantRequest, process: string, times: LeaseTimes, waiter: Waiter<Granted>) {
    this.#at = at
    this.#request = request
    this.#process = process
    this.#times = times
    this.#waiter = waiter
  }

  encode(batch: LeaseBatch): void {
    const { category, layers } = this.#at
    const { limits, settingsRevision, periods, mayOpen, wanted, idle, costs, leaseId } = this.#request
    const { rememberedMs, countedMs, usableMs } = this.#times
    const terms = batch.terms({ subject: '', category, quotas: { layers, limits }, settingsRevision, periods })
    this.#rows = terms.shared.map((place) => place - 1)
    this.#units = batch.keys.schema.units.length
    batch.code('GRANT')
    batch.numbers([terms.number, batch.other(batch.keys.book(category, layers)), mayOpen ? 1 : 0])
    batch.amounts(wanted)
    batch.amounts(idle)
    batch.numbers([rememberedMs, countedMs, usableMs, costs.length])
    for (const each of costs) batch.amounts(each)
    batch.text(this.#process, leaseId)
  }

  answer(replay: LeaseReplay, letter: string): void {
    const letters = replay.answer().toString()
    const facts = JSON.parse(replay.answer().toString()) as readonly number[]
    if (letter === DAMAGE) {
      this.fail(replay.damage(this.#rows))
      return
    }
    const { now, settingsRevision } = replay
    const [amounts, leasedByOthers] = [facts.slice(0, this.#units), facts.slice(this.#units)]
    const cells = replay.cellsOf(this.#rows)
    this.#waiter.resolve({ now, letters, amounts, leasedByOthers, settingsRevision, cells })
  }

  fail(error: unknown): void {
    this.#waiter.reject(error)
  }
}

/** Takes back the rest of a lease: once, and never more than was leased. */
export class ReturnOperation implements LeaseOperation {
  readonly repeatable = false
  readonly #at: SharedRowsAt
  readonly #lease: Lease['terms']
  readonly #amounts: UnitAmounts
  readonly #waiter: Waiter<UnitAmounts>

  constructor(at: SharedRowsAt, lease: Lease['terms'], amounts: UnitAmounts, waiter: Waiter<UnitAmounts>) {
    this.#at = at
    this.#lease = lease
    this.#amounts = amounts
    this.#waiter = waiter
  }

  encode(batch: LeaseBatch): void {
    const { category, layers } = this.#at
    const { size, width } = batch.layout
    batch.code('RETURN')
    batch.rows(layers.map((layer) => batch.row(layer, category, '')))
    batch.number(batch.other(batch.keys.book(category, layers)))
    batch.amounts(this.#amounts)
    batch.numbers(this.#lease.starts.filter((_, cell) => cell % size < width))
    batch.text(this.#lease.id)
  }

  answer(replay: LeaseReplay): void {
    this.#waiter.resolve(JSON.parse(replay.answer().toString()) as UnitAmounts)
  }

  fail(error: unknown): void {
    this.#waiter.reject(error)
  }
}
