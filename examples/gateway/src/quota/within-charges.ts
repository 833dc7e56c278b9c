import { type Decision, type Quota, QuotaError, type RefusedDecision, type Subject } from '@scoregw/quota'
import { AdmittedRequest, Exchange, MeteredRequest, watchResponse } from '@scoregw/quota/http'
import type { Request, Response } from 'express'
import { contextOf } from '../http/request-context.ts'
import type { Charge, Work } from '../http/route.ts'
import { FIELDS, type MeteringOptions, meterLogger, refusalReply } from './metering.ts'
import type { OperationName } from './policy.ts'

/** A request to charge in the transaction of its work. */
interface Charging {
  readonly req: Request
  readonly res: Response
  readonly next: (error?: unknown) => void
  readonly work: Work
  readonly userId: string
  readonly operation: OperationName
  /** Charges before the work, like other requests. `done` replaces the request's own work. */
  beforeWork(done?: Work): void
}

/** Thrown if the transaction charged nothing, so that it is rolled back. */
class NotCharged extends Error {
  /** Absent: the counters were unavailable. */
  readonly refusal: RefusedDecision | undefined

  constructor(refusal?: RefusedDecision, options?: ErrorOptions) {
    super(refusal === undefined ? 'the counters gave no answer' : 'refused', options)
    this.refusal = refusal
  }
}

/**
 * Charges requests in the transactions of their work, so that both commit or neither does. A request is decided once.
 * If a refusal is likely, it is decided before the transaction, so that refusals take no lock. If the counters are
 * unavailable, it is charged before the work, and the failure policy decides.
 */
export function chargingWithin(options: MeteringOptions): (charging: Charging) => Promise<void> {
  const { quota, logger, supportForumUrl } = options
  const attach = attachingDecisions(options)
  const outlook = new Outlook(quota)

  async function refuse(req: Request, res: Response, decision: RefusedDecision): Promise<void> {
    await contextOf(req).abandon?.()
    attach(req, res, decision)
    const { headers, body } = refusalReply(req, decision, supportForumUrl)
    res.set(headers).status(429).json(body)
  }

  async function workWithin(charging: Charging, request: ChargeRequest): Promise<void> {
    const { req, res, next, work, userId, operation, beforeWork } = charging
    const charged = new ChargedOnce(quota, request)
    let send: () => void
    try {
      send = await work(req, res, charged.charge)
    } catch (error) {
      if (!(error instanceof NotCharged)) {
        await contextOf(req).abandon?.()
        if (charged.decision !== undefined) attach(req, res, charged.decision)
        return next(error)
      }
      const { refusal } = error
      outlook.remember(userId, operation, refusal)
      return refusal === undefined ? beforeWork() : refuse(req, res, refusal)
    }
    const { decision } = charged
    if (decision === undefined) {
      // The work is already done, and a late charge is better than none.
      logger.error({ err: new TypeError(`the work of ${operation} was not charged by itself`) }, 'charged late')
      return beforeWork(async () => send)
    }
    outlook.remember(userId, operation, decision)
    attach(req, res, decision)
    send()
  }

  return async (charging) => {
    const { req, res, userId, operation, beforeWork } = charging
    const request = { subject: userId, operation }
    if (!outlook.isTight(userId, operation)) return workWithin(charging, request)
    let ahead: Decision
    try {
      ahead = await quota.peek(request, { reportsRefusal: true })
    } catch {
      return beforeWork()
    }
    return ahead.allowed ? workWithin(charging, request) : refuse(req, res, ahead)
  }
}

/** A subject, and the operation to charge. */
interface ChargeRequest {
  readonly subject: Subject
  readonly operation: OperationName
}

/** A request that its work charges once. */
class ChargedOnce {
  readonly #quota: Quota<OperationName>
  readonly #request: ChargeRequest
  #isCharging = false
  /** The decision of the charge. It is final once the transaction commits. */
  decision: Decision | undefined

  constructor(quota: Quota<OperationName>, request: ChargeRequest) {
    this.#quota = quota
    this.#request = request
  }

  readonly charge: Charge = async (transaction) => {
    if (this.#isCharging) throw new TypeError(`${this.#request.operation}: a request is charged once`)
    this.#isCharging = true
    const decision = await this.#consume(transaction)
    if (!decision.allowed) throw new NotCharged(decision)
    this.decision = decision
    return decision
  }

  async #consume(transaction: unknown): Promise<Decision> {
    try {
      return await this.#quota.inTransaction(transaction).consume(this.#request)
    } catch (error) {
      if (!(error instanceof QuotaError) || error.code !== 'quota_unavailable') throw error
      throw new NotCharged(undefined, { cause: error })
    }
  }
}

/**
 * Attaches a decision to its request, as a meter does. For an admission whose transaction is over, it also adds header
 * fields to the response. A status of 400 and above means that the transaction was rolled back, tokens included.
 */
function attachingDecisions({
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

/** The settlement of a finished transaction: nothing is left to do, whether it was committed or rolled back. */
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

/** The most users remembered per category. */
const MAX_REMEMBERED = 10_000

/**
 * Remembers how many tokens the last decision left each user. This is only an estimate, because other processes also
 * charge and settings change. If a refusal is likely, the decision is made before a transaction starts.
 */
class Outlook {
  readonly #quota: Quota<OperationName>
  readonly #shared: ReadonlySet<string>
  /** By user and category; for shared layers only by category. */
  readonly #left = new Map<string, number>()

  constructor(quota: Quota<OperationName>) {
    this.#quota = quota
    this.#shared = new Set(['site'])
  }

  /** Whether a refusal is likely. It is for unknown users. */
  isTight(userId: string, operation: OperationName): boolean {
    const { category, cost } = this.#quota.policy.operations[operation]
    const price = Number(this.#quota.inForce().settings.prices[operation] ?? cost)
    const own = this.#left.get(`${userId} ${category}`) ?? 0
    return Math.min(own, this.#left.get(category) ?? own) < price
  }

  /** @param decision absent: the counters were unavailable */
  remember(userId: string, operation: OperationName, decision: Decision | undefined): void {
    const { category } = this.#quota.policy.operations[operation]
    const key = `${userId} ${category}`
    this.#left.delete(key)
    if (decision === undefined) return
    const left = (isShared: boolean): number =>
      decision.windows.reduce((least, { layer, enforced, remaining }) => {
        const counts = enforced && typeof remaining === 'number' && this.#shared.has(layer) === isShared
        return counts ? Math.min(least, remaining) : least
      }, Number.POSITIVE_INFINITY)
    this.#left.set(key, left(false))
    if (decision.windows.some(({ layer }) => this.#shared.has(layer))) this.#left.set(category, left(true))
    const [oldest = key] = this.#left.keys()
    if (this.#left.size > MAX_REMEMBERED) this.#left.delete(oldest)
  }
}
