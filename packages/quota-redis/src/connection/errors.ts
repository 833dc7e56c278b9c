import { QuotaError } from '@scoregw/quota'
import { errorText } from '@scoregw/quota/internal'

/** Error replies which say that the script certainly did not run, and that may be over soon. */
const PASSING = ['LOADING', 'TRYAGAIN', 'CLUSTERDOWN', 'MASTERDOWN', 'BUSY', 'MOVED', 'ASK', 'NOAUTH']

/** Error replies that every command on this connection gets: the server became a replica, or wants another password. */
const NEEDS_NEW_CONNECTION = ['READONLY', 'NOAUTH', 'WRONGPASS']

/** An error of a client, which may be of another realm: test runners have their own `Error`. */
export function isError(value: unknown): value is Error {
  return typeof value === 'object' && value !== null && 'name' in value && 'message' in value
}

/** Whether an error is the server's own reply, so that the server is available and wrote nothing. */
export function isReply(error: unknown): error is Error {
  return isError(error) && error.name === 'ReplyError'
}

/** Whether a reply is of a kind, by its first word. */
export function isReplyOf(error: unknown, ...kinds: readonly string[]): error is Error {
  return isReply(error) && kinds.some((kind) => error.message.split(' ', 1).includes(kind))
}

/** Whether only a new connection can help: to another primary, or with today's password. */
export function needsNewConnection(error: unknown): boolean {
  return isReplyOf(error, ...NEEDS_NEW_CONNECTION)
}

/**
 * The outcome of a command, judged by its error.
 *
 * - `not-yet`: the command was not carried out. Repeating it in a moment may succeed.
 * - `refused`: the command was not carried out, and repeating it won't help.
 * - `in-doubt`: the connection broke after the command was written, so its outcome is unknown.
 */
export type Verdict = 'not-yet' | 'refused' | 'in-doubt'

export function verdictOf(error: unknown): Verdict {
  if (error instanceof QuotaError) return error.code === 'store_error' ? 'not-yet' : 'refused'
  if (isReply(error)) return isReplyOf(error, ...PASSING) ? 'not-yet' : 'refused'
  // The client's only error that says nothing was written: the socket had already ended.
  return isError(error) && error.message.startsWith("Stream isn't writeable") ? 'not-yet' : 'in-doubt'
}

/** The error that the engine receives; its failure policy decides. */
export function storeError(message: string, cause?: unknown): QuotaError {
  return new QuotaError('store_error', message, { cause })
}

export function notConnected(cause: unknown): QuotaError {
  if (cause === undefined) return storeError('Not connected to Redis')
  return storeError(`Can't connect to Redis: ${explained(cause)}`, cause)
}

/** The rights of a user in Redis' words. The guide explains them. */
const RIGHTS = '~{prefix}* &{prefix}* +@read +@write +eval +evalsha +time +info +publish +subscribe'

/** Fixes, by the text of the client's or the server's error. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/ECONNREFUSED/, 'Start Redis there, or correct the host and port of your client.'],
  [/ENOTFOUND|EAI_AGAIN/, 'Correct the host of your client.'],
  [/no connection within/, 'Check host, port, firewall and TLS, or raise connectTimeoutMs.'],
  [/was silent/, "It hangs, or it isn't Redis: check host, port and TLS."],
  [/^(?:NOAUTH|WRONGPASS)\b/, 'Correct the username and password of your client.'],
  [/^NOPERM\b|ACL failure|user executing the script/, `Grant the Redis user of your client ${RIGHTS}`],
  [
    /max number of clients|closed the new connection|EPIPE|ECONNRESET/,
    'It may be full (maxclients), or expect TLS, or not expect it.',
  ],
  [/^OOM\b/, 'Give Redis more memory (maxmemory).'],
  [/^READONLY\b/, 'Connect to the primary: a replica cannot count.'],
]

/** The text of an error, and how to fix it. */
function explained(error: unknown): string {
  const text = errorText(error)
  const remedy = REMEDIES.find(([pattern]) => pattern.test(text))?.[1]
  return remedy === undefined ? text : `${text.replace(/\.$/, '')}. ${remedy}`
}

/**
 * The error of a connection that broke before it was ready. A full server says so and closes, but the client may be
 * writing by then, and so only know that the connection broke.
 */
export function greetingError(error: unknown): unknown {
  const isCut = error === undefined || /EPIPE|ECONNRESET|closed/i.test(errorText(error))
  return isCut ? new Error('the server closed the new connection', { cause: error }) : error
}

/** An error without its command, which may contain a password. */
export function withoutCommand(error: unknown): unknown {
  if (!isError(error) || !('command' in error)) return error
  return Object.assign(new Error(error.message), { name: error.name })
}

/** The error for a call without an answer in time, with the cause if it is known. */
export function noAnswer(deadlineMs: number, last: unknown): QuotaError {
  if (last === undefined) {
    const message = `Redis gave no answer within ${deadlineMs} ms. Raise deadlineMs where Redis is far away.`
    return storeError(message)
  }
  const why = last instanceof QuotaError ? last.message : explained(last)
  return storeError(`Redis gave no answer within ${deadlineMs} ms: ${why}`, last)
}

/** The error for rejected work, as the engine receives it. */
export function refusal(error: unknown, who: string): QuotaError {
  if (error instanceof QuotaError) return error
  if (isReplyOf(error, 'QUOTALIST')) {
    const message = 'another list of limits is stored under the name of this one: another prefix keeps them apart'
    return new QuotaError('store_mismatch', message, { cause: error })
  }
  return storeError(`${who} refused the work: ${explained(error)}`, error)
}

/** The error for commands that the server refuses, with its error for the first of them. */
export function lackOfRights(commands: readonly string[], first: string): QuotaError {
  return storeError(`Redis refuses ${commands.join(', ')}: ${explained(first)}`)
}

/** The error for a row that cannot be read or, if no key is given, for the record of an id. */
export function damagedRow(key: string | undefined): QuotaError {
  const what = key === undefined ? 'the record of the id' : `the row at ${key}`
  return new QuotaError('damaged_row', `${what} cannot be read; resetting the subject repairs rows`)
}
