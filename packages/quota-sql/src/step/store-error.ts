import { QuotaError } from '@scoregw/quota'

/** What the engine hears, and answers by its failure policy. */
export function storeError(message: string, cause?: unknown): QuotaError {
  return new QuotaError('store_error', message, { cause })
}
