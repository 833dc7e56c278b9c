import type { Counting, Quota, SimpleQuota } from '@scoregw/quota'
import type { HttpMeterOptions, QuotaAnswer, RequestQuota, RouteOptions } from '@scoregw/quota/http'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Answers a refused request. The header fields are already on `reply`; set status and body. */
export type QuotaHandler = (request: FastifyRequest, reply: FastifyReply, answer: QuotaAnswer) => unknown

interface FastifyOptions {
  /**
   * Answers instead of the plugin: 429, 401 for an anonymous request, 503 if the store is unavailable.
   *
   * @default JSON with the response's status and body
   */
  readonly handler?: QuotaHandler | undefined
}

/** Options that a route can set, in its `config.quota`. */
export interface QuotaRouteOptions extends RouteOptions<FastifyRequest>, FastifyOptions {}

/** A route's `config.quota`: the operation that it is charged as; `false`: it is not metered. */
export type QuotaRouteConfig = string | false | ({ readonly operation: string } & Partial<QuotaRouteOptions>)

/** The options of {@link quotaFastify}. */
export interface QuotaFastifyOptions<Operation extends string = string>
  extends Omit<HttpMeterOptions<FastifyRequest, Operation>, 'quota'>,
    FastifyOptions {
  /** The engine that decides. */
  readonly quota: Quota<Operation, Counting> | SimpleQuota
  /**
   * The property of a metered request that holds its `RequestQuota`. In a route's `config` it names the operation.
   *
   * @default 'quota'
   */
  readonly requestPropertyName?: string | undefined
  /**
   * When requests are metered. Later hooks know more: `preHandler` runs after the body is parsed and validated.
   *
   * @default 'preHandler'
   */
  readonly hook?: 'onRequest' | 'preParsing' | 'preValidation' | 'preHandler' | undefined
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What requests of this route are charged as. */
    quota?: QuotaRouteConfig
  }
  interface FastifyRequest {
    /** The quota of a metered request. */
    quota: RequestQuota | null
  }
}
