import type { TakeReply, TakeRequest } from '@scoregw/quota/store'
import type { Batch } from './batch.ts'
import type { LoneCall, LoneCalls } from './lone-calls.ts'
import type { Status } from './numbers.ts'
import type { Replay } from './replay.ts'
import type { Row } from './rows.ts'

/** Sends operations to the server. */
export interface Caller {
  /** Sends an operation with the others of this tick. It receives an answer or fails. */
  call(operation: Operation): void
  /** Repeats an operation of a call in flight. */
  again(operation: Operation): void
}

/** One kind of operation: how it is written, and how its answer is read. */
export interface OperationForm<T> {
  /** Whether it may be sent again when its outcome is unknown. */
  readonly repeatable: boolean
  /** Whether it is sent to a server that just answered even while the breaker is open. */
  readonly anyway?: boolean | undefined
  /** Writes it. @returns its rows */
  readonly encode: (batch: Batch) => readonly Row[]
  /** Writes it as a call of its own, if it may have one. */
  readonly alone?: ((calls: LoneCalls, until: number) => LoneCall | undefined) | undefined
  /** The value of an answer, or `AGAIN` to call `encode` again and send the result. */
  readonly read: (replay: Replay, answer: Answered) => T | typeof AGAIN
  /** Whether it contains a step `list`. */
  readonly hasList?: boolean | undefined
  /** Receives the value if it arrives after the caller's deadline. */
  readonly late?: ((value: T) => void) | undefined
}

/** The answer to an operation. */
export interface Answered {
  readonly status: Status
  readonly rows: readonly Row[]
  /** The record that was found, for status `other_record`; the list, for a step `list`. */
  readonly found: Buffer | undefined
}

export const AGAIN: unique symbol = Symbol('again')

/** Carries out an operation. @throws {QuotaError} as a rejection: `store_error`, `damaged_row` */
export function called<T>(caller: Caller, form: OperationForm<T>): Promise<T> {
  return new Promise((resolve, reject) => caller.call(new Call(caller, form, { resolve, reject })))
}

/** One operation of a call. It receives the replies and its place among them, or fails. */
export interface Operation extends Pick<Call<unknown>, keyof Call<unknown>> {}

/** The ends of a promise. */
interface Ends<T> {
  readonly resolve: (value: T) => void
  readonly reject: (error: unknown) => void
}

class Call<T> {
  readonly repeatable: boolean
  readonly anyway: boolean
  readonly #caller: Caller
  readonly #form: OperationForm<T>
  readonly #ends: Ends<T>
  #rows: readonly Row[] = []
  #isFailed = false

  constructor(caller: Caller, form: OperationForm<T>, ends: Ends<T>) {
    this.repeatable = form.repeatable
    this.anyway = form.anyway === true
    this.#caller = caller
    this.#form = form
    this.#ends = ends
  }

  encode(batch: Batch): void {
    this.#rows = this.#form.encode(batch)
  }

  /** The call of a script for this operation without others; `undefined`: it needs a batch. */
  alone(calls: LoneCalls, until: number): LoneCall | undefined {
    return this.#form.alone?.(calls, until)
  }

  /** Receives the reply to that call. */
  answerAlone(replay: Replay, rows: readonly Row[]): void {
    this.#rows = rows
    this.answer(replay, 0)
  }

  answer(replay: Replay, place: number): void {
    try {
      const status = replay.statusOf(place)
      // Not carried out: it, or an operation before it, uses a row with an unknown list of limits.
      if (status === 'stopped') {
        this.#caller.again(this)
        return
      }
      const found = status === 'other_record' || this.#form.hasList ? replay.found() : undefined
      const value = this.#form.read(replay, { status, rows: this.#rows, found })
      if (value === AGAIN) this.#caller.again(this)
      else if (status === 'unreadable') this.fail(replay.damage(this.#rows))
      else if (this.#isFailed) this.#form.late?.(value)
      else this.#ends.resolve(value)
    } catch (error) {
      this.fail(error)
    }
  }

  fail(error: unknown): void {
    this.#isFailed = true
    this.#ends.reject(error)
  }
}

/** The reply to a take. It advances the replay. */
export function takeReply(replay: Replay, { status, rows }: Answered, request: TakeRequest): TakeReply {
  const { now } = replay
  if (status === 'done') {
    replay.charge(rows, request)
    return { outcome: 'admitted', now, states: replay.view(rows, request, request.costs) ?? [] }
  }
  if (status === 'refused' || status === 'unreadable') {
    replay.reanchor(rows, request)
    return { outcome: 'refused', now, states: replay.view(rows, request) ?? [] }
  }
  if (status === 'other_settings')
    return { outcome: 'stale', now, states: [], settingsRevision: replay.settingsRevision }
  return { outcome: 'stale', now, states: [] }
}
