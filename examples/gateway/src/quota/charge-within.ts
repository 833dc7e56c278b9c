import { type Decision, type Quota, QuotaError } from '@scoregw/quota'
import type { Request, RequestHandler, Response } from 'express'
import type { Charge, ChargedWork, WithinMeter } from '../http/charged-work.ts'
import { contextOf } from '../http/request-context.ts'
import { attachingDecisions } from './attach-decision.ts'
import { chargingBefore, type MeterOptions } from './meter.ts'
import type { OperationName } from './policy.ts'
import { subjectsOf } from './subjects.ts'

/** Nothing was charged within the transaction: it is rolled back, and the request is charged before its work as others are. */
class NotCharged extends Error {}

/**
 * Charges requests within the transactions of their work, so that both are committed or neither is. Answers are those of
 * requests that are charged before their work, which is also what happens where a refusal is to be foreseen, where the
 * transaction found one, and where the counters are unavailable within it: then the failure policy decides.
 */
export function createWithinMeter(options: MeterOptions): WithinMeter {
  const { quota, logger, observe } = options
  const before = chargingBefore(options)
  const attach = attachingDecisions(options)
  const subjectOf = subjectsOf(quota.policy)

  /** Also has the subject's settings read, which is impossible while the transaction has the only connection. */
  async function isForeseen({ subject, operation }: Asked): Promise<boolean> {
    try {
      const { allowed, source } = await quota.peek({ subject, operation })
      return allowed && source === 'store'
    } catch {
      return false
    }
  }

  async function workWithin(req: Request, res: Response, next: Next, asked: Asked, work: ChargedWork): Promise<void> {
    const charged = new ChargedOnce(quota, asked)
    let send: () => void
    try {
      send = await work(req, res, charged.charge)
    } catch (error) {
      if (error instanceof NotCharged) return workAfter(before[asked.operation], req, res, next, work)
      await contextOf(req).abandon?.()
      if (charged.decision !== undefined) attach(req, res, charged.decision)
      return next(error)
    }
    if (charged.decision === undefined) {
      // The work is done already: a late charge is better than none.
      logger.error({ err: new TypeError(`the work of ${asked.operation} was not charged by itself`) }, 'charged late')
      const done = send
      return workAfter(before[asked.operation], req, res, next, async () => done)
    }
    attach(req, res, charged.decision)
    send()
  }

  return (operation, work) => async (req, res, next) => {
    const { user, input } = contextOf(req)
    const name = typeof operation === 'string' ? operation : operation(input)
    if (name === undefined) return workAfter(free, req, res, next, work)
    observe?.(req, res, name, quota.policy.operations[name].category)
    if (user === undefined) return workAfter(before[name], req, res, next, work)
    const asked = { subject: subjectOf(user.id), operation: name }
    if (await isForeseen(asked)) await workWithin(req, res, next, asked, work)
    else workAfter(before[name], req, res, next, work)
  }
}

type Next = (error?: unknown) => void

/** A subject and the operation to charge. */
interface Asked {
  readonly subject: Parameters<Quota<OperationName>['peek']>[0]['subject']
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
    if (!decision.allowed) throw new NotCharged('refused')
    this.decision = decision
    return decision
  }

  async #consume(transaction: unknown): Promise<Decision> {
    try {
      return await this.#quota.within(transaction).consume(this.#asked)
    } catch (error) {
      if (!(error instanceof QuotaError) || error.code !== 'quota_unavailable') throw error
      throw new NotCharged('the counters gave no answer', { cause: error })
    }
  }
}

const free: RequestHandler = (_req, _res, next) => next()

/** Charges first, and then works. */
function workAfter(charged: RequestHandler, req: Request, res: Response, next: Next, work: ChargedWork): void {
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
