import type { Decision } from '@scoregw/quota'
import { AdmittedRequest, Exchange, MeteredRequest, watchResponse } from '@scoregw/quota/http'
import type { Request, Response } from 'express'
import { FIELDS, type MeteringOptions, meterLogger } from './metering.ts'

/**
 * Attaches a decision to its request, as a meter does with its own. An admission, by a transaction that is over, also adds
 * header fields to the response: a status of 400 and above says that the transaction was rolled back, and the tokens with
 * it.
 */
export function attachingDecisions({
  quota,
  logger,
}: MeteringOptions): (req: Request, res: Response, decision: Decision) => void {
  const options = {
    quota,
    settle: 'outcome',
    abortGraceMs: 0,
    abortedAs: 'commit',
    ...FIELDS,
    logger: meterLogger(logger),
  } as const
  return (req, res, decision) => {
    const metered = new MeteredRequest(options, decision, decision.allowed ? settledBy(decision) : undefined)
    req.quota = metered
    if (!decision.allowed) return
    const exchange = Exchange.of(req)
    exchange.add(metered)
    watchResponse(new AdmittedRequest(metered, exchange, options), req, res)
  }
}

/** The tokens of a transaction that is over: committed or rolled back, there is nothing left to do. */
function settledBy({ cost }: Decision) {
  const never = (): never => {
    throw new TypeError('tokens charged within a transaction are not a hold')
  }
  return {
    commit: () => ({ charged: cost, uncharged: 0 }),
    cancel: () => undefined,
    add: never,
    extend: never,
    keepAlive: never,
  }
}
