import type { Decision } from '../decision/decision.ts'
import type { Quota } from '../engine/quota.ts'
import type { CommitResult, QuotaRequest } from '../engine/requests.ts'
import { QuotaError } from '../errors/quota-error.ts'
import { refusedOptions } from '../options/options-parser.ts'
import { combined } from '../policy/units.ts'
import type { QuotaAnswer } from './answers.ts'
import type { HeldTokens, Taken } from './metered-request.ts'

/** Options of a route that say how a request is settled. The transaction does that. */
const SETTLING = ['settle', 'isFailure', 'ttlMs', 'abortGraceMs', 'abortedAs', 'maxWaitMs'] as const

/**
 * A request that is charged in the transaction of its work was refused. Let it leave the transaction, which is then
 * rolled back, and pass it on: the adapter answers with it.
 */
export class QuotaRefusal extends Error {
  override readonly name = 'QuotaRefusal'
  /** The answer: 429, 401 or 503. */
  readonly answer: QuotaAnswer
  /** Of the answer, as frameworks read it from errors. */
  readonly statusCode: QuotaAnswer['status']
  readonly status: QuotaAnswer['status']
  readonly headers: QuotaAnswer['headers']

  constructor(answer: QuotaAnswer) {
    super(`the request is answered with ${answer.status} by its quota`)
    this.answer = answer
    this.statusCode = answer.status
    this.status = answer.status
    this.headers = answer.headers
  }
}

/**
 * Checks that a route can be charged in transactions.
 *
 * @throws {QuotaError} `invalid_options` for options that settle; `store_unsupported`
 */
export function checkInTransaction(name: string, quota: Pick<Quota, 'inTransaction'>, overrides: object): void {
  const faults = SETTLING.filter((path) => Object.hasOwn(overrides, path)).map((path) => {
    return { path, message: 'not for inTransaction(): the transaction keeps or undoes the charge' }
  })
  if (faults.length > 0) throw refusedOptions(name, faults)
  try {
    quota.inTransaction(undefined)
  } catch (error) {
    // Without a transaction, every store that has them throws another error.
    if (error instanceof QuotaError && error.code === 'store_unsupported') throw error
  }
}

/** Decides in a transaction. */
export async function takenInTransaction(
  quota: Pick<Quota, 'inTransaction'>,
  transaction: unknown,
  request: QuotaRequest,
): Promise<Taken> {
  const decision = await quota.inTransaction(transaction).consume(request)
  return { decision, held: decision.allowed ? heldByTransaction(decision) : undefined }
}

/**
 * Tokens that a transaction keeps or undoes. A response of 400 or above counts as a transaction that was rolled back, so
 * that its fields show nothing charged.
 */
function heldByTransaction({ cost }: Decision): HeldTokens {
  const never = (): never => {
    throw new QuotaError('hold_required', 'tokens charged in a transaction are not a hold')
  }
  return {
    commit: (): CommitResult => ({ charged: cost, uncharged: combined(cost, cost, () => 0) }),
    cancel: () => undefined,
    add: never,
    extend: never,
    keepAlive: never,
  }
}
