import { QuotaError } from '@scoregw/quota'

/** The error that the engine receives; its failure policy decides. */
export function storeError(message: string, cause?: unknown): QuotaError {
  return new QuotaError('store_error', message, { cause })
}
