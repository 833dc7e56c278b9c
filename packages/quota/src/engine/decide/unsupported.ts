import { QuotaError } from '../../errors/quota-error.ts'
import type { StoreAbilities } from '../../store/quota-store.ts'

/** The error of a policy or a request that needs more than its store supports. It ends with the store's remedy. */
export function unsupported(
  code: 'store_unsupported' | 'holds_unsupported',
  what: string,
  { remedy = 'docs/guide/stores.md lists what each store supports' }: StoreAbilities = {},
): QuotaError {
  return new QuotaError(code, `${what}; ${remedy}`)
}
