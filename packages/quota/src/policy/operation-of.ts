import { QuotaError } from '../errors/quota-error.ts'
import { noSuchName } from '../options/names.ts'
import type { Policy } from './policy.ts'

/** What is read of a policy. */
type Operations = Pick<Policy, 'operations'>

/** The error of an operation that a policy does not have. */
export function unknownOperation(name: unknown, { operations }: Operations): QuotaError {
  const message = `unknown operation ${noSuchName(name, Object.keys(operations), 'the policy has')}`
  return new QuotaError('unknown_operation', message)
}

/**
 * An operation of a policy, by its name.
 *
 * @throws {QuotaError} `unknown_operation`
 */
export function operationOf(policy: Operations, name: string): Policy['operations'][string] {
  const found = Object.hasOwn(policy.operations, name) ? policy.operations[name] : undefined
  if (found === undefined) throw unknownOperation(name, policy)
  return found
}
