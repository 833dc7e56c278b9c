import { type Decision, QuotaError } from '@scoregw/quota'

/** Charges a request in the transaction of its work. */
export type Charge = (transaction: unknown) => Promise<Decision | undefined>

/** @throws {QuotaError} `invalid_options` if the request's handler doesn't charge in a transaction */
export function chargeOf(charge: Charge | undefined): Charge {
  if (charge !== undefined) return charge
  const message = 'charge(): this handler charges in no transaction; use metered.inTransaction(name)'
  throw new QuotaError('invalid_options', message)
}
