import type { Decision } from '../decision/decision.ts'
import type { Quota, QuotaWithin, SyncQuota } from './quota.ts'
import type {
  HeldReservation,
  QuotaRequest,
  Reservation,
  ReserveRequest,
  RunResult,
  SyncReservation,
} from './requests.ts'

/** The operation of {@link simpleQuota}, for what has to name one. */
export type SimpleOperation = 'request'

/** A request that need not name its operation, since there is one. */
type Unnamed<Request extends QuotaRequest<SimpleOperation>> = Omit<Request, 'operation'> & {
  readonly operation?: SimpleOperation | undefined
}

type SimpleRequest = Unnamed<QuotaRequest<SimpleOperation>>
type SimpleReserveRequest = Unnamed<ReserveRequest<SimpleOperation>>

/** An engine with one limit and one operation, `request`, which requests need not name. */
export interface SimpleQuota extends Quota<SimpleOperation> {
  /** What its requests are: middleware without an `operation` meters every request as that. */
  readonly operation: SimpleOperation
  consume(request: SimpleRequest): Promise<Decision>
  peek(request: SimpleRequest): Promise<Decision>
  reserve(request: SimpleReserveRequest): Promise<Reservation>
  run<T>(
    request: SimpleReserveRequest,
    work: (reservation: HeldReservation) => T | PromiseLike<T>,
  ): Promise<RunResult<T>>
  within(transaction: unknown): QuotaWithin<SimpleOperation> & {
    consume(request: SimpleRequest): Promise<Decision>
  }
}

/** The same where both stores answer at once. */
export interface SyncSimpleQuota extends SimpleQuota, Omit<SyncQuota<SimpleOperation>, keyof Quota> {
  readonly sync: true
  consumeSync(request: SimpleRequest): Decision
  peekSync(request: SimpleRequest): Decision
  reserveSync(request: SimpleReserveRequest): SyncReservation
}
