import type { AdmittedDecision, Decision, RefusedDecision } from '../decision/decision.ts'
import type { Asked } from '../decision/outcome.ts'
import { QuotaError } from '../errors/quota-error.ts'
import type { Answer } from '../store/answer.ts'
import { isNotDone } from '../store/not-done.ts'
import { checkTokens } from './check.ts'
import { commitAbove } from './held-tokens.ts'
import { keepAlive } from './keep-alive.ts'
import type {
  CommitResult,
  EmptyReservation,
  HeldReservation,
  RefusedReservation,
  RepeatedReservation,
  ReservationCalls,
  Synchronous,
} from './requests.ts'

/** How a reservation ends. */
export type SettleAs = 'committed' | 'cancelled'

/** What a handle does, whichever way its store answers. */
interface HandleWork<R, N, D> {
  /** What is wrong with a settle can be told before anything is asked. @throws {QuotaError} */
  readonly check: (as: SettleAs, actual: number | undefined) => void
  /** @param actual tokens that the work cost; default: all of them */
  readonly settle: (as: SettleAs, actual: number | undefined) => R
  readonly extend: (ttlMs: number | undefined) => N
  readonly add: (tokens: number) => D
  /** Whether a settle that failed may be made again. */
  readonly mayRepeat: (error: unknown) => boolean
  /** The hold, if it is one. */
  readonly hold: HoldSeen | undefined
}

/** What can be seen of a hold. */
interface HoldSeen {
  readonly token: string
  readonly endsAt: number
  readonly ttlMs: number
}

/** The calls of a reservation whose store answers at once. */
export type CallsNow = Synchronous<ReservationCalls>

type WorkNow = HandleWork<CommitResult, number, Decision>
type WorkLater = HandleWork<Promise<CommitResult>, Promise<number>, Promise<Decision>>

/** Who carries out what the handles of reservations without a hold are asked; answers at once. */
export interface PlainOwner<R> {
  /** @throws {QuotaError} what is wrong with a settle, before anything is asked */
  check(reserved: R, as: SettleAs, actual: number | undefined): void
  settle(reserved: R, as: SettleAs, actual: number | undefined): CommitResult
  extend(reserved: R, ttlMs: number | undefined): number
  add(reserved: R, tokens: number): Decision
}

/** What a handle without a hold was reserved as. */
interface PlainReserved {
  readonly decision: AdmittedDecision
  readonly hasId: boolean
}

/** The handle of a reservation without a hold, whose store answers at once: one for each request, so that it is small. */
export class PlainReservation<R extends PlainReserved> implements Synchronous<HeldReservation> {
  readonly status = 'reserved'
  readonly allowed = true
  readonly decision: AdmittedDecision
  readonly token: undefined
  readonly endsAt: undefined
  readonly #owner: PlainOwner<R>
  readonly #reserved: R
  #result: CommitResult | undefined
  /** A settle that nobody knows the outcome of. */
  #failure: { readonly error: unknown } | undefined

  constructor(owner: PlainOwner<R>, reserved: R) {
    this.decision = reserved.decision
    this.#owner = owner
    this.#reserved = reserved
  }

  commit(actual?: number): CommitResult {
    return this.#settle('committed', actual)
  }

  cancel(): void {
    this.#settle('cancelled', undefined)
  }

  extend(ttlMs?: number): number {
    return this.#owner.extend(this.#reserved, ttlMs)
  }

  add(tokens: number): Decision {
    return this.#owner.add(this.#reserved, tokens)
  }

  keepAlive(): () => void {
    return () => undefined
  }

  #settle(as: SettleAs, actual: number | undefined): CommitResult {
    this.#owner.check(this.#reserved, as, actual)
    // As a promise would: what nobody knows the outcome of does not turn into a success.
    if (this.#failure !== undefined) throw this.#failure.error
    if (this.#result !== undefined) return this.#result
    try {
      this.#result = this.#owner.settle(this.#reserved, as, actual)
    } catch (error) {
      if (!mayRepeat(this.#reserved.hasId)(error)) this.#failure = { error }
      throw error
    }
    return this.#result
  }
}

/** The calls of a handle that answers at once; settled once. */
export function callsNow(work: WorkNow): CallsNow {
  let settled: { readonly result: CommitResult } | { readonly error: unknown } | undefined

  function settle(as: SettleAs, actual?: number): CommitResult {
    work.check(as, actual)
    if (settled === undefined) {
      try {
        settled = { result: work.settle(as, actual) }
      } catch (error) {
        if (!work.mayRepeat(error)) settled = { error }
        throw error
      }
    }
    // As a promise would: what nobody knows the outcome of does not turn into a success.
    if ('error' in settled) throw settled.error
    return settled.result
  }

  const isSettled = (): boolean => settled !== undefined
  return Object.assign(
    seen(work, async (ttlMs) => work.extend(ttlMs), isSettled),
    {
      commit: (actual?: number): CommitResult => settle('committed', actual),
      cancel: (): void => void settle('cancelled'),
      extend: (ttlMs?: number): number => work.extend(ttlMs),
      add: (tokens: number): Decision => work.add(tokens),
    },
  )
}

/** The same of a store that answers later; calls while a settle is under way share its promise. */
export function callsLater(work: WorkLater): ReservationCalls {
  let settling: Promise<CommitResult> | undefined

  function settle(as: SettleAs, actual?: number): Promise<CommitResult> {
    work.check(as, actual)
    if (settling !== undefined) return settling
    const mine = work.settle(as, actual)
    settling = mine
    mine.catch((error: unknown) => {
      if (work.mayRepeat(error)) settling = undefined
    })
    return mine
  }

  const isSettled = (): boolean => settling !== undefined
  return Object.assign(seen(work, work.extend, isSettled), {
    commit: async (actual?: number): Promise<CommitResult> => settle('committed', actual),
    cancel: async (): Promise<void> => void (await settle('cancelled')),
    extend: async (ttlMs?: number): Promise<number> => work.extend(ttlMs),
    add: async (tokens: number): Promise<Decision> => work.add(tokens),
  })
}

/** The same calls, answered by promises. */
export function awaitedCalls(calls: CallsNow): ReservationCalls {
  return {
    token: calls.token,
    // It moves.
    get endsAt() {
      return calls.endsAt
    },
    keepAlive: () => calls.keepAlive(),
    commit: async (actual) => calls.commit(actual),
    cancel: async () => calls.cancel(),
    extend: async (ttlMs) => calls.extend(ttlMs),
    add: async (tokens) => calls.add(tokens),
  }
}

const keepsNothing = () => () => undefined

/** What can be seen of a reservation, and the one call that answers at once either way. */
function seen(
  { hold }: Pick<WorkNow, 'hold'>,
  extend: (ttlMs: number | undefined) => Promise<number>,
  isSettled: () => boolean,
): Pick<ReservationCalls, 'token' | 'endsAt' | 'keepAlive'> {
  // One literal, so that all handles share a shape: an accessor or a spread gives each its own, at twice the time of a reservation.
  if (hold === undefined) return { token: undefined, endsAt: undefined, keepAlive: keepsNothing }
  return {
    token: hold.token,
    get endsAt(): number | undefined {
      return hold.endsAt
    },
    keepAlive: (): (() => void) => keepAlive(() => extend(undefined), hold.ttlMs, isSettled),
  }
}

/** What the end of a reservation comes to, in tokens. */
interface Ending {
  readonly giveBack: number
  readonly uncharged: number
}

/** Of what is no hold. @throws {QuotaError} `invalid_cost`, `commit_above_reservation` */
export function giveBackOfPlain(as: SettleAs, cost: number, actual: number = cost): Ending {
  if (as === 'cancelled') return { giveBack: cost, uncharged: 0 }
  checkTokens(actual, 'commit', 0)
  if (actual > cost) throw commitAbove(actual, cost, 'it is no hold (`ttlMs`)')
  return { giveBack: cost - actual, uncharged: 0 }
}

/** Of what was to be a hold, and was admitted without the store. @throws {QuotaError} `invalid_cost` */
export function giveBackOfUnrecorded(as: SettleAs, cost: number, actual: number = cost): Ending {
  if (as === 'cancelled') return { giveBack: cost, uncharged: 0 }
  checkTokens(actual, 'commit', 0)
  return { giveBack: Math.max(0, cost - actual), uncharged: Math.max(0, actual - cost) }
}

/** What is asked to grow a reservation that the store has no hold of. @throws {QuotaError} `hold_required`, `invalid_cost` */
export function moreOf(asked: Asked, tokens: number, isUnrecorded: boolean): Asked {
  if (!isUnrecorded) throw holdRequired('add')
  checkTokens(tokens, 'add', 1)
  return { ...asked, cost: tokens, slot: false }
}

/** Under an id a repeat is harmless; without one it is only where nothing was done for certain. */
export function mayRepeat(hasId: boolean): (error: unknown) => boolean {
  return (error) => hasId || isNotDone(error)
}

/** The error of what only a hold can. */
export function holdRequired(call: 'extend' | 'add'): QuotaError {
  return new QuotaError('hold_required', `${call}: only a hold can; reserve with \`ttlMs\``)
}

/** What a held reservation says of itself. */
export function heldFacts(decision: AdmittedDecision): Pick<HeldReservation, 'status' | 'allowed' | 'decision'> {
  return { status: 'reserved', allowed: true, decision }
}

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
  const nothing: CommitResult = { charged: 0, uncharged: 0 }
  return {
    status,
    allowed: false,
    commit: () => nothing,
    cancel: () => undefined,
  }
}

/** A handle that holds nothing, with calls that always answer by a promise. */
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
