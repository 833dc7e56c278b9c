import { type Decision, type Quota, QuotaError, type RefusedDecision, type Subject } from '@scoregw/quota'
import type { Request, Response } from 'express'
import type { Charge, Work } from '../http/charge-step.ts'
import { contextOf } from '../http/request-context.ts'
import { attachingDecisions } from './attach-decision.ts'
import type { MeteringOptions } from './metering.ts'
import { Outlook } from './outlook.ts'
import type { OperationName } from './policy.ts'
import { refusalReply } from './refusal-reply.ts'
import { subjectsOf } from './subjects.ts'

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
