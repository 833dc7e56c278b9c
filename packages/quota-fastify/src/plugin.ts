import { QuotaError } from '@scoregw/quota'
import { HttpMeter, type HttpMeterOptions } from '@scoregw/quota/http'
import type { FastifyInstance, FastifyPluginCallback, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { FASTIFY } from './adapter.ts'
import { answerRefusal, chargeInTransaction } from './in-transaction.ts'
import { cancelFailed, meterRequest } from './meter-requests.ts'
import type { QuotaFastifyOptions, QuotaRouteConfig } from './options.ts'

/** Meters by route, made from the route's `config`. */
class RouteMeters {
  readonly #whole: HttpMeter<FastifyRequest>
  readonly #name: string
  /** `null`: the route isn't metered. */
  readonly #known = new WeakMap<object, HttpMeter<FastifyRequest> | null>()
  /** Those whose routes charge in a transaction. */
  readonly #inTransaction = new WeakSet<HttpMeter<FastifyRequest>>()

  constructor(options: QuotaFastifyOptions) {
    this.#whole = new HttpMeter(options as HttpMeterOptions<FastifyRequest>, FASTIFY)
    this.#name = options.requestPropertyName ?? 'quota'
  }

  /** Returns the meter of a route; `undefined`: the route isn't metered. */
  of(config: object | undefined): HttpMeter<FastifyRequest> | undefined {
    if (config === undefined) return this.#of(undefined)
    const known = this.#known.get(config)
    if (known !== undefined) return known ?? undefined
    const meter = this.#of((config as Readonly<Record<string, QuotaRouteConfig | undefined>>)[this.#name])
    this.#known.set(config, meter ?? null)
    return meter
  }

  /** Whether the routes of a meter charge in a transaction. */
  isInTransaction(meter: HttpMeter<FastifyRequest> | undefined): boolean {
    return meter !== undefined && this.#inTransaction.has(meter)
  }

  #of(said: QuotaRouteConfig | undefined): HttpMeter<FastifyRequest> | undefined {
    if (said === false) return undefined
    if (said === undefined) return this.#whole.options.operation === undefined ? undefined : this.#whole
    if (typeof said === 'string') return this.#whole.operation(said)
    const { operation = onlyOperation(this.#whole.options.quota), inTransaction = false, ...overrides } = said
    if (operation !== undefined && inTransaction) {
      const meter = this.#whole.inTransaction(operation, overrides)
      this.#inTransaction.add(meter)
      return meter
    }
    if (operation !== undefined) return this.#whole.operation(operation, overrides)
    const message = `config.${this.#name}: operation is missing, and the policy has several: ${Object.keys(this.#whole.options.quota.policy.operations).join(', ')}`
    throw new QuotaError('unknown_operation', message)
  }
}

/** The only operation of a policy; `undefined`: it has several. */
function onlyOperation({ policy }: { readonly policy: { readonly operations: object } }): string | undefined {
  const names = Object.keys(policy.operations)
  return names.length === 1 ? names[0] : undefined
}

const plugin: FastifyPluginCallback<QuotaFastifyOptions> = (app, options, loaded) => {
  if (typeof loaded !== 'function') {
    const message = 'quotaFastify was called: pass it to Fastify, app.register(quotaFastify, { quota, ... })'
    throw new QuotaError('invalid_options', message)
  }
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
  app.addHook('onRoute', (route) => {
    if (meters.isInTransaction(meters.of(route.config))) route.errorHandler = answerRefusal(route.errorHandler)
  })
  // A hook of the scope, not of each route: it also covers routes that were declared before this plugin loaded.
  const meter = (request: FastifyRequest, reply: Parameters<typeof meterRequest>[2], done: () => void): void => {
    const found = meters.of(configOf(request))
    if (found === undefined) done()
    else if (meters.isInTransaction(found)) chargeInTransaction(found, request, reply, done)
    else meterRequest(found, request, reply, done)
  }
  if (hook === 'preParsing') app.addHook(hook, (request, reply, _payload, done) => meter(request, reply, done))
  // These three hooks have the same arguments.
  else app.addHook(hook as 'preHandler', meter)
  app.addHook('onError', (request, _reply, _error, done) => cancelFailed(request, done))
}

/** What Fastify before 4.23 has instead of `routeOptions.config`: first `context`, and `routeConfig` since 4.10. */
interface OldRequest {
  readonly routeConfig?: object
  readonly context: { readonly config?: object }
}

/** The `config` of the request's route. */
function configOf(request: Partial<Pick<FastifyRequest, 'routeOptions'>>): object | undefined {
  const { routeOptions } = request
  if (routeOptions !== undefined && 'config' in routeOptions) return routeOptions.config
  const old = request as unknown as OldRequest
  // Reading `context` since 4.10 is a deprecation warning.
  return 'routeConfig' in old ? old.routeConfig : old.context.config
}

/**
 * Fastify plugin that meters requests of the scope that registers it. Each route is the operation that its
 * `config.quota` names. With `operation(request)`, or with a policy that has one operation, all routes are metered.
 *
 * A request is charged before its handler. The status of the response settles it. Below 400 it stays charged. From 400
 * on it is refunded before the head is sent. A refused request gets a 429.
 *
 * Loading fails with a {@link QuotaError}: `invalid_options` naming every fault, or `unknown_operation`.
 *
 * @example
 * await app.register(quotaFastify, { quota, subject: (request) => request.user?.id })
 * app.post('/music', { config: { quota: 'music.upsert' } }, handler)
 */
export const quotaFastify: FastifyPluginCallback<QuotaFastifyOptions> = fastifyPlugin(plugin, {
  fastify: '4.x || 5.x',
  name: '@scoregw/quota-fastify',
})
