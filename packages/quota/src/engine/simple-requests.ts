import type { Decision } from '../decision/decision.ts'
import type { OneUnit } from '../policy/units.ts'
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
type Unnamed<Request extends QuotaRequest<SimpleOperation, OneUnit>> = Omit<Request, 'operation'> & {
  readonly operation?: SimpleOperation | undefined
}

type SimpleRequest = Unnamed<QuotaRequest<SimpleOperation, OneUnit>>
type SimpleReserveRequest = Unnamed<ReserveRequest<SimpleOperation, OneUnit>>

/** An engine with one limit and one operation, `request`, which requests need not name. */
export interface SimpleQuota extends Quota<SimpleOperation, OneUnit> {
  /** What its requests are: middleware without an `operation` meters every request as that. */
  readonly operation: SimpleOperation
  consume(request: SimpleRequest): Promise<Decision<OneUnit>>
  peek(request: SimpleRequest): Promise<Decision<OneUnit>>
  reserve(request: SimpleReserveRequest): Promise<Reservation<OneUnit>>
  run<T>(
    request: SimpleReserveRequest,
    work: (reservation: HeldReservation<OneUnit>) => T | PromiseLike<T>,
  ): Promise<RunResult<T, OneUnit>>
  within(transaction: unknown): QuotaWithin<SimpleOperation, OneUnit> & {
    consume(request: SimpleRequest): Promise<Decision<OneUnit>>
  }
}

/** The same where both stores answer at once. */
export interface SyncSimpleQuota extends SimpleQuota, Omit<SyncQuota<SimpleOperation, OneUnit>, keyof Quota> {
  readonly sync: true
  consumeSync(request: SimpleRequest): Decision<OneUnit>
  peekSync(request: SimpleRequest): Decision<OneUnit>
  reserveSync(request: SimpleReserveRequest): SyncReservation<OneUnit>
}
