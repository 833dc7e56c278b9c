import { QuotaError } from '@scoregw/quota'

/** What of a policy is looked at here. */
interface Operations {
  readonly operations: Readonly<Record<string, { readonly overrun?: string | undefined }>>
}

/**
 * An operation of a policy.
 *
 * @throws {QuotaError} `unknown_operation`
 */
export function operationOf({ operations }: Operations, name: string): { readonly overrun?: string | undefined } {
  const found = Object.hasOwn(operations, name) ? operations[name] : undefined
  if (found !== undefined) return found
  const known = Object.keys(operations).join(', ')
  throw new QuotaError('unknown_operation', `unknown operation ${JSON.stringify(name)}: the policy has ${known}`)
}
