import type {
  EndedHold,
  ExtendRequest,
  HoldOutcome,
  HoldRecord,
  HoldRef,
  HoldReply,
  Subject,
  WindowStates,
} from '@scoregw/quota/store'
import type { LeaseBatch } from './batch.ts'
import {
  HOLD_OUTCOMES,
  type HoldDesk,
  type HoldFacts,
  HoldOperation,
  type NamedRecord,
  readAmounts,
} from './hold-operation.ts'
import type { Waiter } from './operation.ts'
import type { LeaseReplay } from './replay.ts'

/** A later end. */
export class ExtendOperation extends HoldOperation<HoldReply> {
  readonly #request: ExtendRequest

  constructor(request: ExtendRequest, waiter: Waiter<HoldReply>, desk: HoldDesk) {
    super(waiter, desk)
    this.#request = request
  }

  encode(batch: LeaseBatch): void {
    const { id, ttlMs } = this.#request
    batch.code('EXTEND')
    this.targetOf(batch, this.#request, [])
    batch.number(ttlMs)
    batch.text(id.nonce)
  }

  protected reply({ now }: LeaseReplay, letter: string, [endsAt]: HoldFacts): HoldReply {
    const outcome = HOLD_OUTCOMES[letter]!
    return outcome === 'held' ? { outcome, now, endsAt: Number(endsAt), states: [] } : { outcome, now, states: [] }
  }
}

/** The end of a hold whose time has come; `undefined` where it has not, or another process was first. */
export class SweepOperation extends HoldOperation<EndedHold | undefined> {
  readonly #record: NamedRecord

  constructor(record: NamedRecord, waiter: Waiter<EndedHold | undefined>, desk: HoldDesk) {
    super(waiter, desk)
    this.#record = record
  }

  encode(batch: LeaseBatch): void {
    batch.code('SWEEP')
    this.targetNamed(batch, [], this.#record)
  }

  protected reply(_: LeaseReplay, letter: string, facts: HoldFacts): EndedHold | undefined {
    if (letter !== 'y') return undefined
    const [category, owner, fingerprint, endsAt, ...costs] = facts as [string, string, string, number, ...HoldFacts]
    return { category, owner, fingerprint, costs: readAmounts(costs), endsAt }
  }
}

/** A look at a hold; `undefined` where it is not open any more. */
export class ShowOperation extends HoldOperation<HoldRecord | undefined> {
  readonly #record: NamedRecord
  readonly #subject: Subject
  #numbers = 0

  constructor(record: NamedRecord, subject: Subject, waiter: Waiter<HoldRecord | undefined>, desk: HoldDesk) {
    super(waiter, desk)
    this.#record = record
    this.#subject = subject
  }

  encode(batch: LeaseBatch): void {
    const ownLayer = batch.keys.schema.layers.findIndex(({ shared }) => !shared)
    this.#numbers = batch.layout.rowCells
    batch.code('SHOW')
    this.targetNamed(batch, [batch.row(ownLayer, this.#record.category, this.#subject)], this.#record)
  }

  protected reply(_: LeaseReplay, letter: string, facts: HoldFacts): HoldRecord | undefined {
    if (letter !== 'y') return undefined
    const { category, id } = this.#record
    const [nonce, fingerprint, takenAt, endsAt, ...more] = facts as [string, string, number, number, ...HoldFacts]
    const charged = more.slice(0, this.#numbers) as number[]
    const costs = readAmounts(more.slice(this.#numbers))
    return { category, id, nonce, fingerprint, costs, takenAt, endsAt, charged }
  }
}

/** A take or a growth to be undone. */
export interface UndoHoldRequest extends HoldRef {
  /** Of the growth; `undefined`: the take, and the hold with it. */
  readonly growth: string | undefined
  readonly costs: readonly number[]
  /** When it was charged, epoch milliseconds: windows that start no earlier were opened by it. */
  readonly takenAt: number
  /** Layers whose rows are shown as they are then. */
  readonly layers: readonly number[]
  readonly periods?: readonly number[] | undefined
}

/** `held` where it was undone, and the states of the rows then. */
export interface Undone {
  readonly outcome: HoldOutcome
  readonly states: WindowStates
}

/** A charge taken back, windows that it opened in vain included. Of a take, slots and the id as well. */
export class UndoHoldOperation extends HoldOperation<Undone> {
  readonly #request: UndoHoldRequest

  constructor(request: UndoHoldRequest, waiter: Waiter<Undone>, desk: HoldDesk) {
    super(waiter, desk)
    this.#request = request
  }

  encode(batch: LeaseBatch): void {
    const { id, growth, costs, takenAt, layers } = this.#request
    batch.code('UNDO_HOLD')
    this.targetOf(batch, this.#request, layers)
    batch.amounts(costs)
    batch.number(takenAt)
    batch.text(id.nonce, growth ?? '')
  }

  protected reply(replay: LeaseReplay, letter: string): Undone {
    const { layers, periods } = this.#request
    const outcome = HOLD_OUTCOMES[letter]!
    return { outcome, states: outcome === 'held' ? this.states(replay, layers.length, periods) : [] }
  }
}
