import { QuotaError } from '@scoregw/quota'

/** Error replies that say for certain that the script did not run, and that may be over in a moment. */
const PASSING = ['LOADING', 'TRYAGAIN', 'CLUSTERDOWN', 'MASTERDOWN', 'BUSY', 'MOVED', 'ASK']

/** Whether an error is the server's own reply, so that the server is there and wrote nothing. */
function isReply(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError'
}

/** Whether the server does not know the script (any more). */
export function isUnknownScript(error: unknown): boolean {
  return isReply(error) && error.message.startsWith('NOSCRIPT')
}

/**
 * What an error says about a script call.
 *
 * - `not-yet`: certainly not carried out, and it may well be if asked again in a moment.
 * - `refused`: certainly not carried out; asking again will not help.
 * - `in-doubt`: the connection broke after the call was written: nobody knows.
 */
export type Verdict = 'not-yet' | 'refused' | 'in-doubt'

export function verdictOf(error: unknown): Verdict {
  if (error instanceof QuotaError) return error.code === 'unsafe_eviction' ? 'refused' : 'not-yet'
  if (isReply(error)) return PASSING.includes(error.message.split(' ', 1)[0]!) ? 'not-yet' : 'refused'
  // The one error of the client that says that nothing was written: the socket had ended, unnoticed so far.
  return error instanceof Error && error.message.startsWith("Stream isn't writeable") ? 'not-yet' : 'in-doubt'
}

/** What the engine hears, and answers by its failure policy. */
export function storeError(message: string, cause?: unknown): QuotaError {
  return new QuotaError('store_error', message, { cause })
}

const NOT_DONE = new WeakSet<object>()

/** Marks an error as one that says for certain that nothing was carried out. */
export function notDone<E extends object>(error: E): E {
  NOT_DONE.add(error)
  return error
}

/** Whether an error of a call says for certain that nothing was carried out; most cannot. */
export function isNotDone(error: unknown): boolean {
  return typeof error === 'object' && error !== null && NOT_DONE.has(error)
}
