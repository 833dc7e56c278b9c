import type { Request, RequestHandler, Response } from 'express'
import type { Transaction } from 'kysely'
import type { Tables } from '../db/schema.ts'

/** The charge of a request. */
interface Charged {
  /** In tokens. */
  readonly cost: number
}

/**
 * Charges for a request in the transaction of its work, of which it has to be the first step: what it throws rolls the
 * transaction back, and is answered. Where the request was charged before its work, it does nothing.
 *
 * @throws {TypeError} called once more: a request is charged once
 * @returns what was charged; `undefined`: the request is free
 */
export type Charge = (transaction: Transaction<Tables>) => Promise<Charged | undefined>

/** A request's work; resolves to what sends its answer. */
export type Work = (req: Request, res: Response, charge: Charge) => Promise<() => void>

/** The members of a route that its charge depends on. */
export interface ChargedRoute {
  readonly operation: string | ((input: unknown) => string | undefined)
  readonly chargesWithin: boolean
}

/** Makes the step that charges for a route's requests, and does their work where they may go on. */
export type ChargeStep = (route: ChargedRoute, work: Work) => RequestHandler
