import {
  type CanActivate,
  type ExecutionContext,
  HttpException,
  Inject,
  Injectable,
  type OnModuleInit,
  Optional,
} from '@nestjs/common'
import { HttpAdapterHost } from '@nestjs/core'
import { QuotaError } from '@scoregw/quota'
import {
  type Admission,
  type AdmittedRequest,
  Exchange,
  type HttpMeter,
  type NodeResponse,
  type QuotaAnswer,
  watchResponse,
} from '@scoregw/quota/http'
import { isPromiseLike } from '@scoregw/quota/internal'
import { type ChargeInTransaction, type NestRequest, rawOf } from './adapter.ts'
import { QuotaMeters } from './meters.ts'

const JSON_TYPE = 'application/json'

/**
 * Thrown for a refused request: 429, 401 for an anonymous request, 503 if the store is unavailable. Its response is the
 * body, and the header fields are already set. An exception filter can respond differently.
 */
export class QuotaException extends HttpException {
  readonly answer: QuotaAnswer

  constructor(answer: QuotaAnswer) {
    super(answer.content, answer.status)
    this.answer = answer
  }
}

/**
 * Meters requests. `@Quota()` adds it to a route. As a global guard, it meters every route if the module has
 * `operation(request)` or the engine has a single operation.
 *
 * @example
 * providers: [{ provide: APP_GUARD, useClass: QuotaGuard }]
 */
export class QuotaGuard implements CanActivate, OnModuleInit {
  readonly #meters: QuotaMeters | undefined
  readonly #host: HttpAdapterHost

  /** @param meters of `QuotaModule`; absent in unit tests of a controller */
  constructor(meters: QuotaMeters | undefined, host: HttpAdapterHost) {
    this.#meters = meters
    this.#host = host
  }

  /** @throws {QuotaError} `invalid_options` without `QuotaModule`, so that the app doesn't start */
  onModuleInit(): void {
    this.#metersOfModule()
  }

  /** @throws {QuotaException} for a refused request */
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const meter = this.#metersOfModule().of(context.getHandler() as () => unknown, context.getClass())
    if (meter === undefined) return true
    checkType(context)
    const request = context.switchToHttp().getRequest<NestRequest>()
    // If a global guard and the route's guard run, the request is metered once.
    if (Exchange.find(request)?.isMeteredBy(meter.options.quota) === true) return true
    if (this.#metersOfModule().isInTransaction(meter)) {
      this.#chargeLater(context, meter)
      return true
    }
    const response = rawOf<NodeResponse>(context.switchToHttp().getResponse<object>())
    const admission = meter.admit(request, response)
    return isPromiseLike(admission) ? this.#goesOnLater(context, admission) : this.#goesOn(context, admission)
  }

  async #goesOnLater(context: ExecutionContext, deciding: PromiseLike<Admission>): Promise<boolean> {
    const admission = await deciding
    return this.#goesOn(context, admission)
  }

  /** Lets the handler charge. A refusal leaves its transaction as an exception. */
  #chargeLater(context: ExecutionContext, meter: HttpMeter<NestRequest>): void {
    const request = context.switchToHttp().getRequest<NestRequest & { charge?: ChargeInTransaction }>()
    request.charge = async (transaction) => {
      const admission = await meter.admitInTransaction(request, transaction)
      if (admission.kind === 'pass' || admission.kind === 'gone') return undefined
      this.#admitted(context, admission)
      return admission.kind === 'metered' ? admission.decision : undefined
    }
  }

  #metersOfModule(): QuotaMeters {
    if (this.#meters !== undefined) return this.#meters
    throw new QuotaError(
      'invalid_options',
      '@Quota() needs QuotaModule: import QuotaModule.forRoot({ ... }) in the app',
    )
  }

  #goesOn(context: ExecutionContext, admission: Admission): boolean | Promise<boolean> {
    if (admission.kind === 'pass') return true
    // `false` would make Nest answer a second time, and an exception would make a filter do so.
    if (admission.kind === 'gone') return new Promise(() => undefined)
    this.#admitted(context, admission)
    return true
  }

  /** @throws {QuotaException} for a refused request */
  #admitted(context: ExecutionContext, admission: AdmittedRequest | QuotaAnswer): void {
    const http = context.switchToHttp()
    const request = http.getRequest<NestRequest & { quota?: unknown }>()
    const response = http.getResponse<object>()
    if (admission.kind === 'metered') {
      request.quota = admission.quota
      watchResponse(admission, rawOf(request), rawOf(response), { ownsHeads: 'raw' in response })
      return
    }
    if (admission.status === 429) request.quota = admission.quota
    const { httpAdapter } = this.#host
    for (const [name, value] of Object.entries(admission.headers)) httpAdapter.setHeader(response, name, value)
    // Nest sends JSON by default. An exception filter may send something else.
    if (admission.contentType !== JSON_TYPE) httpAdapter.setHeader(response, 'Content-Type', admission.contentType)
    throw new QuotaException(admission)
  }
}

Injectable()(QuotaGuard)
Inject(QuotaMeters)(QuotaGuard, undefined, 0)
Optional()(QuotaGuard, undefined, 0)
Inject(HttpAdapterHost)(QuotaGuard, undefined, 1)

function checkType(context: ExecutionContext): void {
  const type: string = context.getType()
  if (type === 'http') return
  const where = `${context.getClass().name}.${context.getHandler().name}()`
  const message = `${where} handles ${type}, but QuotaGuard only meters HTTP: inject the engine there and call its consume()`
  throw new QuotaError('invalid_options', message)
}
