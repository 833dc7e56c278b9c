import type { Counting, Quota } from '@scoregw/quota'
import type { HttpMeterOptions, QuotaAnswer, RouteOptions } from '@scoregw/quota/http'
import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * Answers a request. The header fields are already on `reply`; send status and body before you return, or return a
 * promise. If you send nothing, that is logged, and the request gets the default answer.
 */
export type QuotaHandler<Status extends QuotaAnswer['status'] = 429> = (
  request: FastifyRequest,
  reply: FastifyReply,
  answer: QuotaAnswer<Status>,
) => unknown

interface FastifyOptions {
  /**
   * Answers a refused request instead of the plugin, with a 429.
   *
   * @default JSON with the response's status and body
   */
  readonly handler?: QuotaHandler | undefined
  /**
   * Answers an anonymous request instead of the plugin, with a 401.
   *
   * @default JSON with the response's status and body
   */
  readonly onUnauthenticated?: QuotaHandler<401> | undefined
  /**
   * Answers a request instead of the plugin if the store is unavailable, with a 503.
   *
   * @default JSON with the response's status and body
   */
  readonly onUnavailable?: QuotaHandler<503> | undefined
}

/** Options that a route can set, in its `config.quota`. */
export interface QuotaRouteOptions extends RouteOptions<FastifyRequest>, FastifyOptions {}

/**
 * A route's `config.quota`: the operation to charge, and options; `false`: the route isn't metered. An engine with one
 * limit needs no operation.
 */
export type QuotaRouteConfig = string | false | (OperationOfRoute & Partial<QuotaRouteOptions>)

interface OperationOfRoute {
  readonly operation?: string
  /**
   * Whether the handler charges its request in the transaction of the work, by `charge(request, transaction)`. A refusal
   * is thrown, so that the transaction is rolled back, and answered when it leaves the handler. Options that settle are
   * then invalid. Loading fails with `store_unsupported` if the store has no transactions.
   *
   * @default false
   */
  readonly inTransaction?: boolean
}

/** The options of {@link quotaFastify}. */
export interface QuotaFastifyOptions<Operation extends string = string>
  extends Omit<HttpMeterOptions<FastifyRequest, Operation>, 'quota'>,
    FastifyOptions {
  /** The engine that decides. */
  readonly quota: Quota<Operation, Counting>
  /**
   * The property of a metered request that holds its `RequestQuota`. In a route's `config` it names the operation.
   *
   * @default 'quota'
   */
  readonly requestPropertyName?: string | undefined
  /**
   * The hook that meters requests. Later hooks have more data: at `preHandler`, the body is parsed and validated.
   *
   * @default 'preHandler'
   */
  readonly hook?: 'onRequest' | 'preParsing' | 'preValidation' | 'preHandler' | undefined
}
