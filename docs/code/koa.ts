import {
  Exchange,
  type HttpAdapter,
  type HttpMeterOptions,
  httpMeter,
  watchResponse,
} from '@scoregw/quota/http'
import type { Context, Middleware } from 'koa'

/** Reads a Koa request. */
const KOA: HttpAdapter<Context> = {
  name: 'quotaKoa()',
  method: ({ method }) => method,
  languages: (ctx) => ctx.get('accept-language'),
  address: ({ ip }) => ip,
  carrier: ({ req }) => req,
}

/**
 * Middleware for Koa: `ctx.state.quota` has the decision,
 * `commit(actual)` and `cancel()`.
 */
export function quotaKoa<Operation extends string>(
  options: HttpMeterOptions<Context, Operation>,
): Middleware {
  const meter = httpMeter(options, KOA)
  return async (ctx, next) => {
    const admission = await meter.admit(ctx, ctx.res)
    if (admission.kind === 'gone') return
    if (admission.kind === 'answer') {
      ctx.set(admission.headers)
      ctx.status = admission.status
      ctx.body = admission.body
      return
    }
    if (admission.kind === 'metered') {
      ctx.state.quota = admission.quota
      watchResponse(admission, ctx.req, ctx.res)
    }
    try {
      await next()
    } catch (error) {
      await Exchange.find(ctx.req)?.fail()
      throw error
    }
  }
}
