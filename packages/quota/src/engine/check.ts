import type { Asked } from '../decision/outcome.ts'
import { QuotaError } from '../errors/quota-error.ts'
import { kindOf, shown } from '../errors/shown.ts'
import { listed, noSuchName } from '../options/names.ts'
import type { Policy } from '../policy/policy.ts'
import type { ReservationId } from '../store/quota-store.ts'
import type { CompiledSettings } from './compiled-settings.ts'
import type { QuotaRequest, ReserveRequest } from './requests.ts'
import { checkSubject, checkText, ownLayerNames } from './text.ts'

/** Turns what a caller wrote into what is asked. Errors for the programmer are thrown here and nowhere later. */
export class RequestCheck {
  readonly #policy: Policy
  readonly #ownLayers: readonly string[]
  readonly #idTtlMs: number
  readonly #createNonce: () => string

  constructor(policy: Policy, idTtlMs: number, createNonce: () => string) {
    this.#policy = policy
    this.#ownLayers = ownLayerNames(policy.layers)
    this.#idTtlMs = idTtlMs
    this.#createNonce = createNonce
  }

  /** @throws {QuotaError} `unknown_operation`, `invalid_subject`, `invalid_cost` */
  request(request: QuotaRequest, { operations }: CompiledSettings): Asked {
    const operation = operations.get(request?.operation)
    if (operation === undefined) throw unknownOperation(request, this.#policy)
    checkSubject(request.subject, this.#ownLayers)
    const cost = request.cost === undefined ? operation.cost : request.cost
    if (!Number.isSafeInteger(cost) || cost < 0) throw invalidCost(cost)
    return { subject: request.subject, operation: operation.name, category: operation.category, cost }
  }

  /** @throws {QuotaError} `invalid_subject` */
  subject(subject: unknown): void {
    checkSubject(subject, this.#ownLayers)
  }

  /**
   * What the id was used for is the operation and a cost that the caller gave; never the price, which may have changed
   * between two tries.
   *
   * @throws {QuotaError} `invalid_id`
   */
  id({ id, cost }: ReserveRequest, { operation }: Asked): ReservationId | undefined {
    if (id === undefined) return undefined
    checkText(id, 'invalid_id', 'id')
    return { id, nonce: this.#createNonce(), fingerprint: `${operation}:${cost ?? ''}`, ttlMs: this.#idTtlMs }
  }
}

function unknownOperation(request: unknown, { operations }: Policy): QuotaError {
  if (typeof request !== 'object' || request === null) {
    return new QuotaError('unknown_operation', `expected a request, { subject, operation }, got ${kindOf(request)}`)
  }
  const { operation } = request as Partial<QuotaRequest>
  const names = Object.keys(operations)
  if (operation === undefined) {
    return new QuotaError('unknown_operation', `operation: missing; the policy has ${listed(names)}`)
  }
  return new QuotaError('unknown_operation', `unknown operation ${noSuchName(operation, names, 'the policy has')}`)
}

function invalidCost(cost: unknown): QuotaError {
  return new QuotaError('invalid_cost', `cost: expected a whole number of tokens, 0 or more, got ${shown(cost)}`)
}
