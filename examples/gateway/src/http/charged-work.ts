import type { Decision } from '@scoregw/quota'
import type { Request, RequestHandler, Response } from 'express'
import type { Transaction } from 'kysely'
import type { Tables } from '../db/schema.ts'
import type { OperationName } from '../quota/policy.ts'

/**
 * Charges for a request in the transaction of its work, of which it has to be the first step: what it throws rolls the
 * transaction back, and is answered. Where the request was charged before its work, it does nothing.
 *
 * @throws {TypeError} called once more: a request is charged once
 * @returns what was decided; `undefined`: nothing is charged for the request
 */
export type Charge = (transaction: Transaction<Tables>) => Promise<Decision | undefined>

/** A request's work; resolves to what sends its answer. */
export type ChargedWork = (req: Request, res: Response, charge: Charge) => Promise<() => void>

/** Does work that is charged within its own transaction. */
export type WithinMeter = (
  operation: OperationName | ((input: unknown) => OperationName | undefined),
  work: ChargedWork,
) => RequestHandler
