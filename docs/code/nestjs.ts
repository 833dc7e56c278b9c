import {
  type CanActivate,
  type ExecutionContext,
  HttpException,
  type Type,
} from '@nestjs/common'
import {
  type HttpAdapter,
  type HttpMeter,
  type HttpMeterOptions,
  httpMeter,
  watchResponse,
} from '@scoregw/quota/http'
import type { Request, Response } from 'express'

/** How a request of Nest's Express platform is read. */
const NEST: HttpAdapter<Request> = {
  name: 'quotaGuard()',
  method: ({ method }) => method,
  languages: ({ headers }) => headers['accept-language'],
  address: ({ ip }) => ip,
}

/** What handlers and controllers are charged as. */
const operations = new WeakMap<object, string>()

/** Decorates a handler or a controller: `@Quota('write')`. */
export function Quota(operation: string) {
  return (
    target: object,
    _key?: string | symbol,
    descriptor?: PropertyDescriptor,
  ): void => {
    operations.set(
      (descriptor?.value as object | undefined) ?? target,
      operation,
    )
  }
}

/**
 * A guard for `app.useGlobalGuards()`: requests of handlers without
 * `@Quota()` are not metered.
 */
export function quotaGuard(
  options: Omit<HttpMeterOptions<Request>, 'operation'>,
): CanActivate {
  const whole = httpMeter(options, NEST)
  const meters = new Map<string, HttpMeter<Request>>()

  function meterOf(
    handler: object,
    controller: Type,
  ): HttpMeter<Request> | undefined {
    const operation =
      operations.get(handler) ?? operations.get(controller)
    if (operation === undefined) return undefined
    const meter = meters.get(operation) ?? whole.operation(operation)
    meters.set(operation, meter)
    return meter
  }

  return {
    async canActivate(context: ExecutionContext): Promise<boolean> {
      const meter = meterOf(context.getHandler(), context.getClass())
      if (meter === undefined) return true
      const [req, res] = [
        context.switchToHttp().getRequest<Request>(),
        context.switchToHttp().getResponse<Response>(),
      ]
      const admission = await meter.admit(req)
      if (admission.kind === 'answer') {
        res.set(admission.headers)
        throw new HttpException(admission.body, admission.status)
      }
      if (admission.kind === 'metered') {
        Object.assign(req, { quota: admission.quota })
        watchResponse(admission, req, res)
      }
      return true
    },
  }
}
