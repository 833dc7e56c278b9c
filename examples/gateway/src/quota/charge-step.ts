import type { Policy } from '@scoregw/quota'
import { operationOf } from '@scoregw/quota/http'
import type { Request, RequestHandler, Response } from 'express'
import { contextOf } from '../http/request-context.ts'
import type { Charge, ChargedRoute, ChargeStep, Work } from '../http/route.ts'
import { chargingBefore, type MeteringOptions } from './metering.ts'
import type { OperationName } from './policy.ts'
import { chargingWithin } from './within-charges.ts'

export interface ChargeStepOptions extends MeteringOptions {
  /** Whether requests are charged in the transactions of their work, if they have one. */
  readonly chargesWithin: boolean
}

/** Charges requests to their user, before the work or in its transaction. Each request is decided once. */
export function chargeStep(options: ChargeStepOptions): ChargeStep {
  const { quota, observe } = options
  const before = chargingBefore(options)
  const within = options.chargesWithin ? chargingWithin(options) : undefined

  return (route, work) => {
    const nameOf = naming(quota.policy, route)
    return (req, res, next) => {
      const { user, input } = contextOf(req)
      const name = nameOf(input)
      if (name === undefined) return workAfter(free, req, res, next, work)
      observe?.(req, res, name, quota.policy.operations[name].category)
      const beforeWork = (done = work): void => workAfter(before[name], req, res, next, done)
      if (user === undefined || within === undefined || !route.chargesWithin) beforeWork()
      else within({ req, res, next, work, userId: user.id, operation: name, beforeWork }).catch(next)
    }
  }
}

/**
 * Returns a function that names a request's operation.
 *
 * @throws {QuotaError} `unknown_operation` if the policy lacks a route's operation
 */
function naming(policy: Policy<OperationName>, { operation }: ChargedRoute) {
  if (typeof operation === 'string') operationOf(policy, operation)
  return (input: unknown) => (typeof operation === 'string' ? operation : operation(input)) as OperationName | undefined
}

const free: RequestHandler = (_req, _res, next) => next()

/** Charges before the work. */
function workAfter(
  charged: RequestHandler,
  req: Request,
  res: Response,
  next: (error?: unknown) => void,
  work: Work,
): void {
  const charge: Charge = () => Promise.resolve(req.quota?.decision)
  const goOn = async (): Promise<void> => {
    try {
      const send = await work(req, res, charge)
      send()
    } catch (error) {
      await contextOf(req).abandon?.()
      next(error)
    }
  }
  void charged(req, res, (error?: unknown) => (error === undefined ? void goOn() : next(error)))
}
