import type { Counting, Quota, SimpleQuota } from '@scoregw/quota'
import type { HttpMeterOptions, QuotaAnswer, RequestQuota, RouteOptions } from '@scoregw/quota/http'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Answers a request that may not go on; the header fields are already on `reply`, status and body are not. */
export type QuotaHandler = (request: FastifyRequest, reply: FastifyReply, answer: QuotaAnswer) => unknown

interface FastifyOptions {
  /**
   * Answers in place of the plugin: 429, 401 of an anonymous request, 503 when the store is away.
   * @default JSON with the answer's status and body
   */
  readonly handler?: QuotaHandler | undefined
}

/** What one route may set for itself, in its `config.quota`. */
export interface QuotaRouteOptions extends RouteOptions<FastifyRequest>, FastifyOptions {}

/** A route's `config.quota`: the operation it is charged as; `false`: it is not metered. */
export type QuotaRouteConfig = string | false | ({ readonly operation: string } & Partial<QuotaRouteOptions>)

/** The options of {@link quotaFastify}. */
export interface QuotaFastifyOptions<Operation extends string = string>
  extends Omit<HttpMeterOptions<FastifyRequest, Operation>, 'quota'>,
    FastifyOptions {
  /** The engine that decides. */
  readonly quota: Quota<Operation, Counting> | SimpleQuota
  /**
   * The property of a metered request that holds its `RequestQuota`, and of a route's `config` that names its operation.
   * @default 'quota'
   */
  readonly requestPropertyName?: string | undefined
  /**
   * When requests are metered. The later, the more is known: `preHandler` comes after the body is parsed and validated.
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
