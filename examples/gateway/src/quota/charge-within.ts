import { AsyncLocalStorage } from 'node:async_hooks'
import { type Decision, type Quota, QuotaError, type Reservation } from '@scoregw/quota'
import type { Request, RequestHandler, Response } from 'express'
import type { Charge, ChargedWork, WithinMeter } from '../http/charged-work.ts'
import { contextOf } from '../http/request-context.ts'
import { createMeter, type MeterOptions } from './meter.ts'
import type { OperationName } from './policy.ts'
import { subjectsOf } from './subjects.ts'

/** The charge was refused: its transaction is rolled back, and the caller gets the answer to the decision. */
class Refused extends Error {}

/** The counters could not be asked within the transaction, in which nothing was done yet. */
class ChargeUnavailable extends Error {}

/**
 * Charges requests within the transactions of their work, so that both are committed or neither is. Answers are those of
 * {@link createMeter}, which is told what was decided when the transaction is over. Where it is to be foreseen that a
 * request is refused, or where the counters cannot be asked within the transaction, it is charged before its work as ever,
 * and the failure policy decides.
 */
export function createWithinMeter(options: MeterOptions): WithinMeter {
  const { quota } = options
  const decisions = new AsyncLocalStorage<Decision>()
  const before = createMeter(options)
  const after = createMeter({ ...options, quota: toldBy(quota, decisions) })
  const subjectOf = subjectsOf(quota.policy)

  /** Also has the subject's settings read, which is impossible while the transaction has the only connection. */
  async function isForeseen(userId: string, operation: OperationName): Promise<boolean> {
    try {
      const { allowed, source } = await quota.peek({ subject: subjectOf(userId), operation })
      return allowed && source === 'store'
    } catch {
      return false
    }
  }

  /** What was decided, and what goes on with the request when that is told. */
  async function worked(req: Request, res: Response, next: (error?: unknown) => void, given: Given): Promise<void> {
    let decision: Decision | undefined
    const charge: Charge = async (transaction) => {
      const { userId, operation } = given
      decision = await within(quota, transaction, { subject: subjectOf(userId), operation })
      if (!decision.allowed) throw new Refused()
      return decision
    }
    let goOn: (error?: unknown) => void
    try {
      const send = await given.work(req, res, charge)
      goOn = (error) => (error === undefined ? send() : next(error))
    } catch (failure) {
      if (failure instanceof ChargeUnavailable) return workedAfter(before(given.operation), req, res, next, given.work)
      // A refusal is abandoned by the answer to it.
      if (!(failure instanceof Refused)) await contextOf(req).abandon?.()
      goOn = (error) => next(error ?? failure)
    }
    if (decision === undefined) goOn()
    else decisions.run(decision, () => void after(given.operation)(req, res, goOn))
  }

  return (operation, work) => async (req, res, next) => {
    const { user, input } = contextOf(req)
    const name = typeof operation === 'string' ? operation : operation(input)
    if (user !== undefined && name !== undefined && (await isForeseen(user.id, name))) {
      await worked(req, res, next, { userId: user.id, operation: name, work })
    } else workedAfter(before(operation), req, res, next, work)
  }
}

/** Who asks for what, and the work. */
interface Given {
  readonly userId: string
  readonly operation: OperationName
  readonly work: ChargedWork
}

/** @throws {ChargeUnavailable} in place of what the failure policy answers outside of transactions */
async function within(
  quota: Quota<OperationName>,
  transaction: unknown,
  request: Parameters<Quota<OperationName>['peek']>[0],
): Promise<Decision> {
  try {
    return await quota.within(transaction).consume(request)
  } catch (error) {
    if (error instanceof QuotaError && error.code === 'quota_unavailable') {
      throw new ChargeUnavailable('the counters gave no answer', { cause: error })
    }
    throw error
  }
}

/** Charges first, and then works. */
function workedAfter(
  charged: RequestHandler,
  req: Request,
  res: Response,
  next: (error?: unknown) => void,
  work: ChargedWork,
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

/** The same engine, whose reservations are what was decided already: there is nothing to settle any more. */
function toldBy(quota: Quota<OperationName>, decisions: AsyncLocalStorage<Decision>): Quota<OperationName> {
  const reserve = async (): Promise<Reservation> => {
    const decision = decisions.getStore()
    if (decision === undefined) throw new TypeError('nothing was decided: it is told within run()')
    return settled(decision)
  }
  return new Proxy(quota, { get: (engine, name) => (name === 'reserve' ? reserve : Reflect.get(engine, name, engine)) })
}

function settled(decision: Decision): Reservation {
  const never = (): never => {
    throw new TypeError('what was charged within a transaction is no hold')
  }
  if (!decision.allowed) return { status: 'refused', allowed: false, decision, commit: never, cancel: done }
  return {
    status: 'reserved',
    allowed: true,
    decision,
    token: undefined,
    endsAt: undefined,
    commit: () => Promise.resolve({ charged: decision.cost, uncharged: 0 }),
    cancel: done,
    extend: never,
    add: never,
    keepAlive: () => () => undefined,
  }
}

/** Tokens of a transaction that failed were rolled back with it. */
function done(): Promise<void> {
  return Promise.resolve()
}
