import { QuotaError } from '../../errors/quota-error.ts'
import { isNotDone, notDone } from '../../store/not-done.ts'

/** What was asked when something went wrong, as people read it. */
export type Asked = 'the quota store' | 'the settings store'

/** The error of a store as callers see it: never a refusal, and it says what is the matter. */
export function unavailable(cause: unknown, asked: Asked = 'the quota store'): QuotaError {
  if (cause instanceof QuotaError && cause.code === 'quota_unavailable') return cause
  const error = new QuotaError('quota_unavailable', `${asked} did not answer${reasonOf(cause)}`, { cause })
  return isNotDone(cause) ? notDone(error) : error
}

/** Errors of this library are safe to be read by anybody; those of drivers may hold addresses and more. */
function reasonOf(cause: unknown): string {
  return cause instanceof QuotaError ? `: ${cause.message}` : ''
}

/** Asks a store that answers later; its errors become `quota_unavailable`. */
export async function askLater<T>(ask: () => PromiseLike<T> | T, asked?: Asked): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    throw unavailable(error, asked)
  }
}
