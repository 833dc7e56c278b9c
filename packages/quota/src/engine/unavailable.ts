import { QuotaError } from '../errors/quota-error.ts'
import type { MaybePromise } from '../store/quota-store.ts'

/** The error of a store as callers see it: never a refusal. */
export function unavailable(cause: unknown): QuotaError {
  if (cause instanceof QuotaError && cause.code === 'quota_unavailable') return cause
  return new QuotaError('quota_unavailable', 'the quota store did not answer', { cause })
}

/** Asks a store; its errors become `quota_unavailable`. */
export function asking<T>(call: () => MaybePromise<T>): MaybePromise<T> {
  try {
    const answer = call()
    return answer instanceof Promise ? answer.catch((error: unknown) => Promise.reject(unavailable(error))) : answer
  } catch (error) {
    throw unavailable(error)
  }
}
