import type { AdmittedDecision, Decision, RefusedDecision } from '../../decision/decision.ts'
import { QuotaError } from '../../errors/quota-error.ts'
import { kindOf } from '../../errors/shown.ts'
import { onAbort } from '../../options/promise.ts'
import type { Amount, Cost } from '../../policy/units.ts'
import { type Answer, isNotDone } from '../../store/quota-store.ts'
import type { Subject } from '../../store/subjects.ts'
import { answered, type Run, runAsync, runSync, type Task } from '../decide/store-call.ts'
import type {
  CommitResult,
  HeldReservation,
  RefusedReservation,
  RepeatedReservation,
  ResumedReservation,
} from '../requests.ts'

/** How to settle a reservation. */
export type SettleAs = 'committed' | 'cancelled'

/** The target of a handle: a hold, or a charge that only its holder can refund. */
export interface Settleable {
  /** Whether a failed settlement can be repeated: it is a hold, or has an id. */
  readonly isNamed: boolean
  /** Present for a hold. */
  readonly hold?: { readonly token: string; readonly endsAt: number; readonly ttlMs: number } | undefined
  /** Validates a commit before any call to the store. @throws {QuotaError} if it is invalid */
  checkCommit(actual: Cost | undefined): void
  settle(as: SettleAs, actual: Cost | undefined): Task<CommitResult>
  extend(ttlMs: number | undefined): Task<number>
  add(cost: Cost): Task<Decision>
}

/** The calls of a reservation. They settle it once, and still work after destructuring. */
class Handle {
  readonly #held: Settleable
  readonly #run: Run
  /** The settlement in flight or done. Later calls share it. */
  #settling: Answer<CommitResult> | undefined
  /** The error of a settlement whose outcome is unknown. Later calls throw it, too. */
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

  /**
   * Returns the settlement in flight or done. @throws errors of the commit's check; the error of a settlement whose
   * outcome is unknown
   */
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

  constructor(held: Settleable, subject: Subject, operation: string) {
    super(held, runAsync)
    this.subject = subject
    this.operation = operation
  }
}

/** Makes the handle of a reservation. @param run whether its calls return promises */
export function reservedHandle(held: Settleable, run: Run, decision: AdmittedDecision): HeldReservation {
  return new ReservedHandle(held, run, decision) as unknown as HeldReservation
}

/** Makes the handle of a hold that was reserved elsewhere or earlier. */
export function resumedHandle(held: Settleable, subject: Subject, operation: string): ResumedReservation {
  return new ResumedHandle(held, subject, operation) as unknown as ResumedReservation
}

/** The error of calls that need a hold. */
export function holdRequired(call: 'extend' | 'add'): QuotaError {
  return new QuotaError('hold_required', `${call}: only a hold can; reserve with \`ttlMs\``)
}

/** Makes the handle of a refused request. */
export function refusedReservation(run: Run, decision: RefusedDecision): RefusedReservation {
  return { status: 'refused', allowed: false, decision, ...refusedCalls(run, decision.operation) }
}

/** The calls of a refused request. */
export function refusedCalls(run: Run, operation: string): Pick<RefusedReservation, 'commit' | 'cancel'> {
  return emptyCalls(run, () => {
    throw new QuotaError('commit_refused', `"${operation}" was refused: check \`allowed\` before the work`)
  })
}

/**
 * Makes the handle of a request whose id is in use or used up. It settles nothing.
 *
 * @param nothing a zero amount
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

/** A reservation that can be cancelled while someone waits for it. */
interface PendingReservation {
  cancel(): Answer<void>
}

/** A hold is extended after this share of its lifetime, so that two extensions may fail before it expires. */
const EXTEND_AFTER = 1 / 3
/** Longest that a timer can wait, in milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1

/**
 * Extends a hold repeatedly, until it is settled or expired, or the returned function is called. After a failed
 * extension, the next one follows as usual.
 *
 * @param ttlMs the lifetime that each extension requests
 */
function keepAlive(extend: () => Promise<unknown>, ttlMs: number, isSettled: () => boolean): () => void {
  const everyMs = Math.min(Math.max(1, Math.floor(ttlMs * EXTEND_AFTER)), MAX_TIMER_MS)
  const timer = setInterval(() => {
    if (isSettled()) stop()
    else extend().catch(endIfExpired)
  }, everyMs)
  // Only the work itself keeps the process alive.
  ;(timer as { unref?: () => void }).unref?.()

  function stop(): void {
    clearInterval(timer)
  }

  function endIfExpired(error: unknown): void {
    if (error instanceof QuotaError && error.code === 'reservation_expired') stop()
  }

  return stop
}

/** The polling interval for expired holds while there is a listener, in milliseconds. */
const EVERY_MS = 1_000

/** Polls for expired holds while there is a listener. */
export class HoldWatch {
  readonly #sweep: () => Promise<unknown>
  #timer: ReturnType<typeof setInterval> | undefined

  constructor(sweep: () => Promise<unknown>) {
    this.#sweep = sweep
  }

  /** Starts polling, unless it has started. */
  start(): void {
    // After a failed poll, the next one follows as usual.
    this.#timer ??= setInterval(() => void this.#sweep().catch(() => undefined), EVERY_MS)
    ;(this.#timer as { unref?: () => void }).unref?.()
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

/**
 * Waits for a reservation or the signal; the first one wins. A reservation that arrives later is cancelled. A later
 * signal changes nothing.
 */
export function orAborted<R extends PendingReservation>(pending: PromiseLike<R>, signal: AbortSignal): Promise<R> {
  return new Promise((resolve, reject) => {
    let isDecided = false
    /** Returns true for the first caller only. */
    const first = (): boolean => {
      if (isDecided) return false
      isDecided = true
      stopListening()
      return true
    }
    const leave = (): void => {
      if (first()) reject(signal.reason as Error)
    }
    const stopListening = onAbort(signal, leave)
    // An already aborted signal doesn't fire.
    if (signal.aborted) leave()
    pending.then(
      (reservation) => {
        if (first()) resolve(reservation)
        // No one has the handle. If the cancel fails, the tokens stay charged, like those of an unsettled reservation.
        else Promise.resolve(reservation.cancel()).catch(() => undefined)
      },
      (error: unknown) => {
        if (first()) reject(error)
      },
    )
  })
}

/**
 * Checks the arguments of `run`. A request that is a function has its own error.
 *
 * @throws {QuotaError} `invalid_options` if there is no work
 */
export function checkWork(request: unknown, work: unknown): void {
  if (typeof work === 'function' || typeof request === 'function') return
  const message = `run(request, work): expected a function for the work, got ${kindOf(work)}`
  throw new QuotaError('invalid_options', message)
}

/** Runs work with a reservation and settles by the outcome: commits if the work returns, cancels if it throws. */
export async function worked<T>(
  reservation: HeldReservation,
  work: (reservation: HeldReservation) => T | PromiseLike<T>,
): Promise<{ readonly allowed: true; readonly decision: AdmittedDecision; readonly value: T }> {
  const stop = reservation.keepAlive()
  let value: T
  try {
    value = await work(reservation)
  } catch (error) {
    stop()
    // The caller gets the error of the work. If the cancel fails, the tokens stay charged.
    await reservation.cancel().catch(() => undefined)
    throw error
  }
  stop()
  await reservation.commit()
  return { allowed: true, decision: reservation.decision, value }
}
