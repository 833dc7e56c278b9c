import type { AdmittedDecision, Decision, RefusedDecision } from '../../decision/decision.ts'
import { QuotaError } from '../../errors/quota-error.ts'
import type { Amount, Cost } from '../../policy/units.ts'
import { type Answer, isNotDone } from '../../store/quota-store.ts'
import type { Subject } from '../../store/schema.ts'
import { answered, type Run, runAsync, runSync, type Task } from '../decide/task.ts'
import type {
  CommitResult,
  HeldReservation,
  RefusedReservation,
  RepeatedReservation,
  ResumedReservation,
} from '../requests.ts'

/** How a reservation ends. */
export type SettleAs = 'committed' | 'cancelled'

/** What a handle is of, and the calls that it makes: of a hold, or of a charge that its holder alone can give back. */
export interface Settleable {
  /** Whether it may be settled again whatever went wrong: it is a hold, or has an id. */
  readonly isNamed: boolean
  /** The hold, if it is one. */
  readonly hold?: { readonly token: string; readonly endsAt: number; readonly ttlMs: number } | undefined
  /** @throws {QuotaError} if the commit is invalid, before the store is called */
  checkCommit(actual: Cost | undefined): void
  settle(as: SettleAs, actual: Cost | undefined): Task<CommitResult>
  extend(ttlMs: number | undefined): Task<number>
  add(cost: Cost): Task<Decision>
}

/** The calls of a reservation, which is settled once. They are functions of the handle's own, which survive destructuring. */
class Handle {
  readonly #held: Settleable
  readonly #run: Run
  /** The settle in flight or done, which later calls share. */
  #settling: Answer<CommitResult> | undefined
  /** A settle whose outcome is unknown: it does not turn into a success later. */
  #failure: { readonly error: unknown } | undefined

  constructor(held: Settleable, run: Run) {
    this.#held = held
    this.#run = run
  }

  get token(): string | undefined {
    return this.#held.hold?.token
  }

  get endsAt(): number | undefined {
    return this.#held.hold?.endsAt
  }

  readonly commit = (actual?: Cost): Answer<CommitResult> =>
    this.#run === runSync ? this.#settleSync('committed', actual) : this.#settle('committed', actual)

  readonly cancel = (): Answer<void> =>
    this.#run === runSync ? void this.#settleSync('cancelled', undefined) : this.#cancel()

  readonly extend = (ttlMs?: number): Answer<number> => this.#run(this.#held.extend(ttlMs))

  readonly add = (cost: Cost): Answer<Decision> => this.#run(this.#held.add(cost))

  readonly keepAlive = (): (() => void) => {
    const { hold } = this.#held
    if (hold === undefined) return () => undefined
    const isSettled = (): boolean => this.#settling !== undefined || this.#failure !== undefined
    return keepAlive(() => runAsync(this.#held.extend(undefined)), hold.ttlMs, isSettled)
  }

  async #cancel(): Promise<void> {
    await this.#settle('cancelled', undefined)
  }

  async #settle(as: SettleAs, actual: Cost | undefined): Promise<CommitResult> {
    const settling = this.#begun(actual)
    if (settling !== undefined) return settling
    try {
      this.#settling = runAsync(this.#held.settle(as, actual))
      return await this.#settling
    } catch (error) {
      throw this.#failed(error)
    }
  }

  #settleSync(as: SettleAs, actual: Cost | undefined): CommitResult {
    const settling = this.#begun(actual)
    if (settling !== undefined) return settling as CommitResult
    try {
      const result = runSync(this.#held.settle(as, actual))
      this.#settling = result
      return result
    } catch (error) {
      throw this.#failed(error)
    }
  }

  /** The settle in flight or done. @throws what checks of the commit throw; the error of a settle whose outcome is unknown */
  #begun(actual: Cost | undefined): Answer<CommitResult> | undefined {
    this.#held.checkCommit(actual)
    if (this.#failure !== undefined) throw this.#failure.error
    return this.#settling
  }

  #failed(error: unknown): unknown {
    this.#settling = undefined
    if (!this.#held.isNamed && !isNotDone(error)) this.#failure = { error }
    return error
  }
}

class ReservedHandle extends Handle {
  readonly status = 'reserved'
  readonly allowed = true
  readonly decision: AdmittedDecision

  constructor(held: Settleable, run: Run, decision: AdmittedDecision) {
    super(held, run)
    this.decision = decision
  }
}

class ResumedHandle extends Handle {
  readonly status = 'resumed'
  readonly subject: Subject
  readonly operation: string

  constructor(held: Settleable, run: Run, subject: Subject, operation: string) {
    super(held, run)
    this.subject = subject
    this.operation = operation
  }
}

/** The handle of what was reserved. @param run how its calls answer: at once, or by promises */
export function reservedHandle(held: Settleable, run: Run, decision: AdmittedDecision): HeldReservation {
  return new ReservedHandle(held, run, decision) as unknown as HeldReservation
}

/** The handle of a hold that was reserved elsewhere, or earlier. */
export function resumedHandle(held: Settleable, subject: Subject, operation: string): ResumedReservation {
  return new ResumedHandle(held, runAsync, subject, operation) as unknown as ResumedReservation
}

/** The error of what only a hold can. */
export function holdRequired(call: 'extend' | 'add'): QuotaError {
  return new QuotaError('hold_required', `${call}: only a hold can; reserve with \`ttlMs\``)
}

/** The handle of a refused request. */
export function refusedReservation(run: Run, decision: RefusedDecision): RefusedReservation {
  return { status: 'refused', allowed: false, decision, ...refusedCalls(run, decision.operation) }
}

/** The calls of a refused request. */
export function refusedCalls(run: Run, operation: string): Pick<RefusedReservation, 'commit' | 'cancel'> {
  return emptyCalls(run, () => {
    throw new QuotaError('commit_refused', `"${operation}" was refused: look at \`allowed\` before the work`)
  })
}

/**
 * The handle of a request whose id another holder has, or that is over; it settles nothing.
 *
 * @param nothing an amount of nothing
 */
export function repeatedReservation(
  run: Run,
  status: RepeatedReservation['status'],
  nothing: Amount,
): RepeatedReservation {
  return { status, allowed: false, ...emptyCalls(run, () => ({ charged: nothing, uncharged: nothing })) }
}

function emptyCalls(run: Run, commit: () => CommitResult): Pick<RefusedReservation, 'commit' | 'cancel'> {
  function* committed(): Task<CommitResult> {
    return yield* answered(true, commit())
  }
  return { commit: () => run(committed()), cancel: () => run(answered(true, undefined)) } as Pick<
    RefusedReservation,
    'commit' | 'cancel'
  >
}

/** What can be settled, for those who only wait for it. */
export interface PendingReservation {
  cancel(): Answer<void>
}

/** A hold is extended when this share of its life has passed: two extensions may fail before it ends. */
const EXTEND_AFTER = 1 / 3
/** Longest that a timer can wait, in milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1

/**
 * Extends a hold again and again, until the returned function is called, the hold is settled, or it has ended. An extension
 * that fails is followed by the next.
 *
 * @param ttlMs what each extension requests
 */
function keepAlive(extend: () => Promise<unknown>, ttlMs: number, isSettled: () => boolean): () => void {
  const everyMs = Math.min(Math.max(1, Math.floor(ttlMs * EXTEND_AFTER)), MAX_TIMER_MS)
  const timer = setInterval(() => {
    if (isSettled()) stop()
    else extend().catch(endIfExpired)
  }, everyMs)
  // The work keeps the process alive, not the hold.
  ;(timer as { unref?: () => void }).unref?.()

  function stop(): void {
    clearInterval(timer)
  }

  function endIfExpired(error: unknown): void {
    if (error instanceof QuotaError && error.code === 'reservation_expired') stop()
  }

  return stop
}

/** How often ended holds are polled for while there is a listener, in milliseconds. */
const EVERY_MS = 1_000

/** Polls for ended holds while there is a listener. */
export class HoldWatch {
  readonly #sweep: () => Promise<unknown>
  #timer: ReturnType<typeof setInterval> | undefined

  constructor(sweep: () => Promise<unknown>) {
    this.#sweep = sweep
  }

  /** Begins, if it has not. */
  start(): void {
    // A failed look is followed by the next.
    this.#timer ??= setInterval(() => void this.#sweep().catch(() => undefined), EVERY_MS)
    ;(this.#timer as { unref?: () => void }).unref?.()
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

/**
 * Waits for a reservation or the signal. Whichever comes first decides, for good: a reservation that comes later is
 * cancelled, a signal that comes later changes nothing.
 */
export function orAborted<R extends PendingReservation>(pending: PromiseLike<R>, signal: AbortSignal): Promise<R> {
  return new Promise((resolve, reject) => {
    let isDecided = false
    /** Whether the caller comes first, and no one else will. */
    const first = (): boolean => {
      if (isDecided) return false
      isDecided = true
      signal.removeEventListener('abort', onAbort)
      return true
    }
    const onAbort = (): void => {
      if (first()) reject(signal.reason as Error)
    }
    signal.addEventListener('abort', onAbort)
    // A signal that was aborted before the listener was added does not fire again.
    if (signal.aborted) onAbort()
    pending.then(
      (reservation) => {
        if (first()) resolve(reservation)
        // Nobody holds the handle any more. A cancel that fails leaves the tokens charged, as an unsettled one does.
        else Promise.resolve(reservation.cancel()).catch(() => undefined)
      },
      (error: unknown) => {
        if (first()) reject(error)
      },
    )
  })
}
