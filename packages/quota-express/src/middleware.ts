import { QuotaError } from '@scoregw/quota'
import type { RequestHandler } from 'express'
import { meter } from './meter.ts'
import {
  invalidOptions,
  type ParsedOptions,
  parseOptions,
  type QuotaAppOptions,
  type QuotaMiddlewareOptions,
  type QuotaRouteOptions,
} from './options.ts'
import { Warnings } from './warnings.ts'

/** Middleware for single routes. */
export interface QuotaRoutes<Operation extends string = string> {
  /**
   * Meters every request of a route as one operation.
   *
   * @param overrides what this route does in its own way
   * @throws {QuotaError} `unknown_operation`; `invalid_options` naming every fault
   * @example
   * app.post('/music', metered.operation('music.upsert'), handler)
   */
  operation(name: Operation, overrides?: Partial<QuotaRouteOptions>): RequestHandler
}

/** Middleware for a whole app, and for single routes. */
export interface QuotaMiddleware<Operation extends string = string> extends RequestHandler, QuotaRoutes<Operation> {}

/**
 * Express middleware that meters requests: with `operation(req)` for a whole app, without it for single routes by
 * `.operation(name)`.
 *
 * A request is charged before its handler and settled by the status of its response: below 400 it stays charged, from
 * 400 on the tokens go back before the head leaves. A refused request is answered with 429.
 *
 * @throws {QuotaError} `invalid_options` naming every fault
 * @example
 * const metered = quotaMiddleware({ quota, subject: (req) => req.get('x-user') })
 * app.post('/music', metered.operation('music.upsert'), handler)
 */
export function quotaMiddleware<Operation extends string>(
  options: QuotaAppOptions<Operation>,
): QuotaMiddleware<Operation>
export function quotaMiddleware<Operation extends string>(
  options: QuotaMiddlewareOptions<Operation>,
): QuotaRoutes<Operation>
export function quotaMiddleware(options: QuotaMiddlewareOptions): QuotaRoutes {
  const parsed = parseOptions(options)
  const warnings = new Warnings(parsed.logger, parsed.validate)
  checkPlace(warnings)
  const routes: QuotaRoutes = {
    operation(name, overrides = {}) {
      checkOperation(parsed, name)
      return meter(parseRoute(options, overrides), () => name, warnings)
    },
  }
  return parsed.operation === undefined ? routes : Object.assign(meter(parsed, parsed.operation, warnings), routes)
}

function checkOperation({ quota }: ParsedOptions, name: string): void {
  if (Object.hasOwn(quota.policy.operations, name)) return
  const known = Object.keys(quota.policy.operations).join(', ')
  throw new QuotaError('unknown_operation', `unknown operation "${name}"; the policy has ${known}`)
}

const ROUTE_OPTIONS = ['subject', 'cost', 'settle', 'skip', 'anonymous', 'handler']

function parseRoute(options: QuotaMiddlewareOptions, overrides: Partial<QuotaRouteOptions>): ParsedOptions {
  const strangers = Object.keys(overrides).filter((key) => !ROUTE_OPTIONS.includes(key))
  if (strangers.length === 0) return parseOptions({ ...options, ...overrides })
  throw invalidOptions(
    strangers.map((path) => ({ path, message: `not an option of one route; those are ${ROUTE_OPTIONS.join(', ')}` })),
  )
}

/** Frames of Express 5 and 4 on the stack of a handler. */
const HANDLING = /Layer\.handleRequest|Layer\.handle \[as handle_request\]/

/** A middleware made for each request would check everything anew and never say a thing twice. */
function checkPlace(warnings: Warnings): void {
  if (!HANDLING.test(new Error('where was this called').stack ?? '')) return
  warnings.tell(
    'created_in_handler',
    'quotaMiddleware() was called while a request was handled; call it once, at start',
  )
}
