import type { AdmittedDecision, Decision, RefusedDecision } from '../../decision/decision.ts'
import { QuotaError } from '../../errors/quota-error.ts'
import type { Answer } from '../../store/answer.ts'
import { isNotDone } from '../../store/not-done.ts'
import { promised, type Steps } from '../decide/driver.ts'
import type {
  CommitResult,
  EmptyReservation,
  HeldReservation,
  RefusedReservation,
  RepeatedReservation,
  Synchronous,
} from '../requests.ts'
import { keepAlive } from './keep-alive.ts'

/** How a reservation ends. */
export type SettleAs = 'committed' | 'cancelled'

/** What a handle does, whichever way its store answers. */
export interface HandleWork<R> {
  readonly steps: Steps
  /** @throws {QuotaError} what is wrong with a settle, before the store hears of it */
  check(reserved: R, actual: number | undefined): void
  settle(reserved: R, as: SettleAs, actual: number | undefined): Answer<CommitResult>
  extend(reserved: R, ttlMs: number | undefined): Answer<number>
  add(reserved: R, tokens: number): Answer<Decision>
}

/** What a handle is of. */
export interface Handled {
  readonly decision?: AdmittedDecision | undefined
  /** Whether it may be settled again whatever went wrong: it is a hold, or has an id. */
  readonly isNamed: boolean
  /** The hold, if it is one. */
  readonly hold?: { readonly token: string; readonly endsAt: number; readonly ttlMs: number } | undefined
}

/** A reservation, settled once; two faces below answer at once or by promises. */
abstract class Handle<R extends Handled> {
  readonly status = 'reserved'
  readonly allowed = true
  readonly decision: AdmittedDecision
  readonly token: string | undefined
  readonly #reserved: R
  readonly #work: HandleWork<R>
  #settling: Answer<CommitResult> | undefined
  /** A settle that nobody knows the outcome of. */
  #failure: { readonly error: unknown } | undefined

  constructor(work: HandleWork<R>, reserved: R) {
    this.decision = reserved.decision!
    this.token = reserved.hold?.token
    this.#work = work
    this.#reserved = reserved
  }

  get endsAt(): number | undefined {
    return this.#reserved.hold?.endsAt
  }

  keepAlive(): () => void {
    const { hold } = this.#reserved
    if (hold === undefined) return () => undefined
    const isSettled = (): boolean => this.#settling !== undefined || this.#failure !== undefined
    return keepAlive(() => promised(() => this.extendIt(undefined)), hold.ttlMs, isSettled)
  }

  protected settleIt(as: SettleAs, actual: number | undefined): Answer<CommitResult> {
    const work = this.#work
    work.check(this.#reserved, actual)
    // As a promise would: what nobody knows the outcome of does not turn into a success.
    if (this.#failure !== undefined) throw this.#failure.error
    if (this.#settling !== undefined) return this.#settling
    const settling = work.steps.ask(
      () => work.settle(this.#reserved, as, actual),
      itself,
      (error) => {
        this.#settling = undefined
        if (!this.#reserved.isNamed && !isNotDone(error)) this.#failure = { error }
        throw error
      },
    )
    this.#settling = settling
    return settling
  }

  protected extendIt(ttlMs: number | undefined): Answer<number> {
    return this.#work.extend(this.#reserved, ttlMs)
  }

  protected addTo(tokens: number): Answer<Decision> {
    return this.#work.add(this.#reserved, tokens)
  }
}

const itself = (result: CommitResult): CommitResult => result

/** What its store answers at once, it answers at once. */
export class HandleNow<R extends Handled> extends Handle<R> implements Synchronous<HeldReservation> {
  commit(actual?: number): CommitResult {
    return this.settleIt('committed', actual) as CommitResult
  }

  cancel(): void {
    this.settleIt('cancelled', undefined)
  }

  extend(ttlMs?: number): number {
    return this.extendIt(ttlMs) as number
  }

  add(tokens: number): Decision {
    return this.addTo(tokens) as Decision
  }
}

/** The same by promises. */
export class HandleLater<R extends Handled> extends Handle<R> implements HeldReservation {
  commit(actual?: number): Promise<CommitResult> {
    return promised(() => this.settleIt('committed', actual))
  }

  async cancel(): Promise<void> {
    await this.settleIt('cancelled', undefined)
  }

  extend(ttlMs?: number): Promise<number> {
    return promised(() => this.extendIt(ttlMs))
  }

  add(tokens: number): Promise<Decision> {
    return promised(() => this.addTo(tokens))
  }
}

/** The error of what only a hold can. */
export function holdRequired(call: 'extend' | 'add'): QuotaError {
  return new QuotaError('hold_required', `${call}: only a hold can; reserve with \`ttlMs\``)
}

const NOTHING: CommitResult = { charged: 0, uncharged: 0 }

/** The handle of a refused request. */
export function refusedReservation(decision: RefusedDecision): Synchronous<RefusedReservation> {
  return {
    status: 'refused',
    allowed: false,
    decision,
    commit() {
      throw new QuotaError('commit_refused', `"${decision.operation}" was refused: look at \`allowed\` before the work`)
    },
    cancel: () => undefined,
  }
}

/** The handle of a request whose id somebody else holds, or that is over; it settles nothing. */
export function repeatedReservation(status: RepeatedReservation['status']): Synchronous<RepeatedReservation> {
  return { status, allowed: false, commit: () => NOTHING, cancel: () => undefined }
}

/** A handle that holds nothing, with calls that answer by a promise. */
export function awaited<T extends Synchronous<EmptyReservation>>(
  reservation: T,
): Omit<T, 'commit' | 'cancel'> & Pick<EmptyReservation, 'commit' | 'cancel'> {
  return {
    ...reservation,
    commit: async () => reservation.commit(),
    cancel: async () => reservation.cancel(),
  }
}

/** What can be settled, as those see it who only wait for it. */
export interface PendingReservation {
  cancel(): Answer<void>
}
