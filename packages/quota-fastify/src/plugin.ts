import { HttpMeter, type HttpMeterOptions } from '@scoregw/quota/http'
import type { FastifyInstance, FastifyPluginCallback, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { FASTIFY } from './adapter.ts'
import { cancelFailed, meterRequest } from './meter-requests.ts'
import type { QuotaFastifyOptions, QuotaRouteConfig } from './options.ts'

/** Meters of routes, made from their `config`. */
class RouteMeters {
  readonly #whole: HttpMeter<FastifyRequest>
  readonly #name: string
  /** `null`: not metered. */
  readonly #known = new WeakMap<object, HttpMeter<FastifyRequest> | null>()

  constructor(options: QuotaFastifyOptions) {
    this.#whole = new HttpMeter(options as HttpMeterOptions<FastifyRequest>, FASTIFY)
    this.#name = options.requestPropertyName ?? 'quota'
  }

  /** The meter of a route; `undefined`: its requests are not metered. */
  of(config: object | undefined): HttpMeter<FastifyRequest> | undefined {
    if (config === undefined) return this.#of(undefined)
    const known = this.#known.get(config)
    if (known !== undefined) return known ?? undefined
    const meter = this.#of((config as Readonly<Record<string, QuotaRouteConfig | undefined>>)[this.#name])
    this.#known.set(config, meter ?? null)
    return meter
  }

  #of(said: QuotaRouteConfig | undefined): HttpMeter<FastifyRequest> | undefined {
    if (said === false) return undefined
    if (said === undefined) return this.#whole.options.operation === undefined ? undefined : this.#whole
    if (typeof said === 'string') return this.#whole.operation(said)
    const { operation, ...overrides } = said
    return this.#whole.operation(operation, overrides)
  }
}

const plugin: FastifyPluginCallback<QuotaFastifyOptions> = (app, options, loaded) => {
  try {
    serve(app, options)
  } catch (error) {
    // An error thrown by such a plugin ends the process, even if a caller awaits the registration.
    loaded(error as Error)
    return
  }
  loaded()
}

function serve(app: FastifyInstance, options: QuotaFastifyOptions): void {
  const meters = new RouteMeters(options)
  const { requestPropertyName = 'quota', hook = 'preHandler' } = options
  if (!app.hasRequestDecorator(requestPropertyName)) app.decorateRequest(requestPropertyName, null)

  // A faulty route throws where it is declared, not on its first request.
  app.addHook('onRoute', ({ config }) => void meters.of(config))
  // A hook of the scope, not of each route: it also covers routes that were declared before this plugin loaded.
  const meter = (request: FastifyRequest, reply: Parameters<typeof meterRequest>[2], done: () => void): void => {
    const found = meters.of(request.routeOptions.config)
    if (found === undefined) done()
    else meterRequest(found, request, reply, done)
  }
  if (hook === 'preParsing') app.addHook(hook, (request, reply, _payload, done) => meter(request, reply, done))
  // These three hooks have the same arguments.
  else app.addHook(hook as 'preHandler', meter)
  app.addHook('onError', (request, _reply, _error, done) => cancelFailed(request, done))
}

/**
 * Fastify plugin that meters requests of the scope it is registered in: each route as the operation that its
 * `config.quota` names, or all by `operation(request)`; on an engine of `simpleQuota()` all without a word.
 *
 * A request is charged before its handler and settled by the status of its response: below 400 it stays charged, from
 * 400 on the tokens go back before the head leaves. A refused request is answered with 429.
 *
 * Loading it fails with a {@link QuotaError}: `invalid_options` naming every fault, `unknown_operation`.
 *
 * @example
 * await app.register(quotaFastify, { quota, subject: (request) => request.user?.id })
 * app.post('/music', { config: { quota: 'music.upsert' } }, handler)
 */
export const quotaFastify: FastifyPluginCallback<QuotaFastifyOptions> = fastifyPlugin(plugin, {
  fastify: '5.x',
  name: '@scoregw/quota-fastify',
})
