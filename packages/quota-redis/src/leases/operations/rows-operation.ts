import type { Layout, ReadReply, ReadRequest, ResetRequest, SettleRequest, Subject } from '@scoregw/quota/store'
import type { CODES } from '../lua/batch-script.ts'
import type { LeaseBatch, LeaseOperation } from './batch.ts'
import { DAMAGE, type Waiter } from './operation.ts'
import type { LeaseReplay } from './replay.ts'

/** What makes an operation on rows. */
interface RowsTerms<T> {
  readonly repeatable: boolean
  readonly code: keyof typeof CODES
  readonly subject: Subject
  readonly categories: readonly number[]
  readonly layers: readonly number[]
  /** Writes what it needs behind its rows. */
  readonly encode?: (batch: LeaseBatch) => void
  /** @param rows where they are in the replay, the layers of each category in turn */
  readonly reply: (replay: LeaseReplay, rows: readonly number[], letter: string) => T
}

/** Something done with rows, answered with the rows as they are then. */
class RowsOperation<T> implements LeaseOperation {
  readonly repeatable: boolean
  readonly #terms: RowsTerms<T>
  readonly #waiter: Waiter<T>
  #rows: readonly number[] = []

  constructor(terms: RowsTerms<T>, waiter: Waiter<T>) {
    this.#terms = terms
    this.repeatable = terms.repeatable
    this.#waiter = waiter
  }

  encode(batch: LeaseBatch): void {
    const { code, subject, categories, layers, encode } = this.#terms
    batch.code(code)
    const places = categories.flatMap((category) => layers.map((layer) => batch.row(layer, category, subject)))
    this.#rows = batch.rows(places)
    encode?.(batch)
  }

  answer(replay: LeaseReplay, letter: string): void {
    replay.put(this.#rows, replay.answer())
    if (letter === DAMAGE) this.fail(replay.damage(this.#rows))
    else this.#waiter.resolve(this.#terms.reply(replay, this.#rows, letter))
  }

  fail(error: unknown): void {
    this.#waiter.reject(error)
  }
}

/** A look at the rows, as they are between the operations before and after it. */
export function readOperation(request: ReadRequest, waiter: Waiter<ReadReply>): LeaseOperation {
  const { categories, layers, periods } = request
  const reply = (replay: LeaseReplay, all: readonly number[]): ReadReply => {
    const { now } = replay
    const states = categories.flatMap((_, index) => {
      const state = replay.view(all.slice(index * layers.length, (index + 1) * layers.length), periods)
      return state === undefined ? [] : [state]
    })
    return states.length < categories.length ? { now, states: [], isStale: true } : { now, states }
  }
  return new RowsOperation({ ...request, repeatable: true, code: 'LOOK', reply }, waiter)
}

/** Windows closed by an administrator; closing twice does no harm but to what was charged in between. */
export function resetOperation(request: ResetRequest, waiter: Waiter<void>): LeaseOperation {
  return new RowsOperation({ ...request, repeatable: false, code: 'RESET', reply: () => undefined }, waiter)
}

/** The end of a reservation; whether it was this nonce's to settle, and open. */
export function settleOperation(request: SettleRequest, waiter: Waiter<boolean>): LeaseOperation {
  const { subject, category, layers, giveBack, as, id } = request
  const terms = {
    subject,
    categories: [category],
    layers,
    reply: (_: LeaseReplay, __: unknown, letter: string) => letter === 'y',
  }
  if (id === undefined) {
    const encode = (batch: LeaseBatch): void => {
      batch.amounts(giveBack)
      batch.numbers(startsOf(request, batch.layout))
    }
    return new RowsOperation({ ...terms, repeatable: false, code: 'SETTLE', encode }, waiter)
  }
  const encode = (batch: LeaseBatch): void => {
    batch.amounts(giveBack)
    batch.numbers([batch.record(batch.keys.oldRecord(category, subject, id.id)), id.ttlMs])
    batch.text(as === 'committed' ? 'C' : 'X', id.nonce, id.fingerprint)
  }
  return new RowsOperation({ ...terms, repeatable: true, code: 'SETTLE_ID', encode }, waiter)
}

/**
 * An admission taken back, windows that it opened and its id included.
 *
 * @param takenAt when it was admitted: windows that start no earlier were opened by it
 */
export function undoOperation(request: SettleRequest, takenAt: number, waiter: Waiter<void>): LeaseOperation {
  const { subject, category, layers, giveBack, id } = request
  const encode = (batch: LeaseBatch): void => {
    batch.amounts(giveBack)
    batch.numbers([...startsOf(request, batch.layout), takenAt])
    if (id === undefined) return
    batch.number(batch.record(batch.keys.oldRecord(category, subject, id.id)))
    batch.text(id.nonce)
  }
  const terms = { subject, categories: [category], layers, encode, reply: () => undefined }
  return new RowsOperation({ ...terms, repeatable: false, code: id === undefined ? 'UNDO' : 'UNDO_ID' }, waiter)
}

/** A start that no window has: of windows whose states are not known. */
const NO_START = -2

/** Starts of the windows that were charged, one for each window of each layer. */
function startsOf({ layers, states }: SettleRequest, { width, size }: Layout): number[] {
  return layers.flatMap((_, slot) =>
    Array.from({ length: width }, (__, window) => states[2 * (slot * size + window)] ?? NO_START),
  )
}
