import { type Decision, type Quota, QuotaError, type RefusedDecision, type Subject } from '@scoregw/quota'
import { AdmittedRequest, Exchange, MeteredRequest, watchResponse } from '@scoregw/quota/http'
import type { Request, Response } from 'express'
import { contextOf } from '../http/request-context.ts'
import type { Charge, Work } from '../http/route.ts'
import { sharedLayers, subjectsOf } from './layer-members.ts'
import { FIELDS, type MeteringOptions, meterLogger, refusalReply } from './metering.ts'
import type { OperationName } from './policy.ts'

/** One request that is to be charged within the transaction of its work. */
interface Charging {
  readonly req: Request
  readonly res: Response
  readonly next: (error?: unknown) => void
  readonly work: Work
  readonly userId: string
  readonly operation: OperationName
  /** Charges before the work as other requests are; for another work than its own, too. */
  beforeWork(done?: Work): void
}

/** Nothing was charged within the transaction, which is rolled back. */
class NotCharged extends Error {
  /** Absent: the counters gave no answer. */
  readonly refusal: RefusedDecision | undefined

  constructor(refusal?: RefusedDecision, options?: ErrorOptions) {
    super(refusal === undefined ? 'the counters gave no answer' : 'refused', options)
    this.refusal = refusal
  }
}

/**
 * Charges requests within the transactions of their work, so that both are committed or neither is. A request is decided
 * once: in its transaction, or before it where a refusal is likely, so that a refusal takes no lock. Where the counters
 * give no answer, the request is charged before its work, and the failure policy decides.
 */
export function chargingWithin(options: MeteringOptions): (charging: Charging) => Promise<void> {
  const { quota, logger, supportForumUrl } = options
  const attach = attachingDecisions(options)
  const outlook = new Outlook(quota)
  const subjectOf = subjectsOf(quota.policy)

  async function refuse(req: Request, res: Response, decision: RefusedDecision): Promise<void> {
    await contextOf(req).abandon?.()
    attach(req, res, decision)
    const { headers, body } = refusalReply(req, decision, supportForumUrl)
    res.set(headers).status(429).json(body)
  }

  async function workWithin(charging: Charging, asked: Asked): Promise<void> {
    const { req, res, next, work, userId, operation, beforeWork } = charging
    const charged = new ChargedOnce(quota, asked)
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
      outlook.saw(userId, operation, refusal)
      return refusal === undefined ? beforeWork() : refuse(req, res, refusal)
    }
    const { decision } = charged
    if (decision === undefined) {
      // The work is done already: a late charge is better than none.
      logger.error({ err: new TypeError(`the work of ${operation} was not charged by itself`) }, 'charged late')
      return beforeWork(async () => send)
    }
    outlook.saw(userId, operation, decision)
    attach(req, res, decision)
    send()
  }

  return async (charging) => {
    const { req, res, userId, operation, beforeWork } = charging
    const asked = { subject: subjectOf(userId), operation }
    if (!outlook.isTight(userId, operation)) return workWithin(charging, asked)
    let ahead: Decision
    try {
      ahead = await quota.peek(asked, { reportsRefusal: true })
    } catch {
      return beforeWork()
    }
    return ahead.allowed ? workWithin(charging, asked) : refuse(req, res, ahead)
  }
}

/** A subject and the operation to charge. */
interface Asked {
  readonly subject: Subject
  readonly operation: OperationName
}

/** One request, which its work charges once. */
class ChargedOnce {
  readonly #quota: Quota<OperationName>
  readonly #asked: Asked
  #isAsked = false
  /** That the request was charged; it stays so if the transaction is committed. */
  decision: Decision | undefined

  constructor(quota: Quota<OperationName>, asked: Asked) {
    this.#quota = quota
    this.#asked = asked
  }

  readonly charge: Charge = async (transaction) => {
    if (this.#isAsked) throw new TypeError(`${this.#asked.operation}: a request is charged once`)
    this.#isAsked = true
    const decision = await this.#consume(transaction)
    if (!decision.allowed) throw new NotCharged(decision)
    this.decision = decision
    return decision
  }

  async #consume(transaction: unknown): Promise<Decision> {
    try {
      return await this.#quota.within(transaction).consume(this.#asked)
    } catch (error) {
      if (!(error instanceof QuotaError) || error.code !== 'quota_unavailable') throw error
      throw new NotCharged(undefined, { cause: error })
    }
  }
}

/**
 * Attaches a decision to its request, as a meter does with its own. An admission, by a transaction that is over, also adds
 * header fields to the response: a status of 400 and above says that the transaction was rolled back, and the tokens with
 * it.
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

/** Most users by category that are remembered. */
const MAX_REMEMBERED = 10_000

/**
 * How many tokens the last decision about each user left. It's a guess, which decides nothing: other processes charge too,
 * and settings change. It only says where a refusal is likely, and so is better decided before a transaction begins.
 */
class Outlook {
  readonly #quota: Quota<OperationName>
  readonly #shared: ReadonlySet<string>
  /** By user and category; of shared layers only by category. */
  readonly #left = new Map<string, number>()

  constructor(quota: Quota<OperationName>) {
    this.#quota = quota
    this.#shared = new Set(sharedLayers(quota.policy))
  }

  /** Whether a charge may well be refused; so it is for a user of whom nothing is known. */
  isTight(userId: string, operation: OperationName): boolean {
    const { category, cost } = this.#quota.policy.operations[operation]
    const price = Number(this.#quota.inForce().settings.prices[operation] ?? cost)
    const own = this.#left.get(`${userId} ${category}`) ?? 0
    return Math.min(own, this.#left.get(category) ?? own) < price
  }

  /** @param decision absent: the counters gave no answer */
  saw(userId: string, operation: OperationName, decision: Decision | undefined): void {
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
