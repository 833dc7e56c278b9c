import { QuotaError } from '@scoregw/quota'

/** Error replies that say for certain that the script did not run, and that may be over in a moment. */
const PASSING = ['LOADING', 'TRYAGAIN', 'CLUSTERDOWN', 'MASTERDOWN', 'BUSY', 'MOVED', 'ASK']

/** Whether an error is the server's own reply, so that the server is there and wrote nothing. */
function isReply(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError'
}

/** Whether a reply is of a kind, which its first word says. */
export function isReplyOf(error: unknown, ...kinds: readonly string[]): error is Error {
  return isReply(error) && kinds.includes(error.message.split(' ', 1)[0]!)
}

/**
 * What an error says about a command.
 *
 * - `not-yet`: certainly not carried out, and it may well be if asked again in a moment.
 * - `refused`: certainly not carried out; asking again will not help.
 * - `in-doubt`: the connection broke after the command was written: nobody knows.
 */
export type Verdict = 'not-yet' | 'refused' | 'in-doubt'

export function verdictOf(error: unknown): Verdict {
  if (error instanceof QuotaError) return error.code === 'store_error' ? 'not-yet' : 'refused'
  if (isReply(error)) return isReplyOf(error, ...PASSING) ? 'not-yet' : 'refused'
  // The one error of the client that says that nothing was written: the socket had ended, unnoticed so far.
  return error instanceof Error && error.message.startsWith("Stream isn't writeable") ? 'not-yet' : 'in-doubt'
}

/** What the engine hears, and answers by its failure policy. */
export function storeError(message: string, cause?: unknown): QuotaError {
  return new QuotaError('store_error', message, { cause })
}

export function notConnected(cause: unknown): QuotaError {
  const reason = cause instanceof Error && cause.message !== '' ? `: ${cause.message}` : ''
  return storeError(`not connected to Redis${reason}`, cause)
}

/** That work was refused, as the engine hears it. */
export function refusal(error: unknown, who: string): QuotaError {
  if (error instanceof QuotaError) return error
  if (isReplyOf(error, 'QUOTALIST')) {
    const message = 'another list of limits is stored under the name of this one: another prefix keeps them apart'
    return new QuotaError('store_mismatch', message, { cause: error })
  }
  return storeError(`${who} refused the work`, error)
}

/** That a row cannot be read, or where no key is named, the record of an id. */
export function damagedRow(key: string | undefined): QuotaError {
  const what = key === undefined ? 'the record of the id' : `the row at ${key}`
  return new QuotaError('damaged_row', `${what} cannot be read; a reset of the subject mends rows`)
}
