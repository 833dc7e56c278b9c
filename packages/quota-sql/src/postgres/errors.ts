import { QuotaError } from '@scoregw/quota'
import { errorText } from '@scoregw/quota/internal'
import { storeError } from '../step/store-error.ts'

/**
 * The outcome of an error before the commit; nothing was done.
 *
 * - `again`: another process interfered, or the server is unavailable. Sending it again may succeed.
 * - `refused`: sending it again won't help.
 */
export type Verdict = 'again' | 'refused'

/** SQLSTATE codes: a statement's name is unknown, or is in use already. */
const POOLED = ['26000', '42P05']
/**
 * SQLSTATE codes for interference: serialization failure, deadlock, a lock that wasn't free, our own statement that
 * divided by zero because its condition no longer held, and another session than before.
 */
const BETWEEN = ['40001', '40P01', '55P03', '22012', ...POOLED]
/** SQLSTATE classes: connection, resources, operator intervention. */
const AWAY = /^(?:08|53|57)/

function stateOf(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined
}

/** Whether an error is the server's answer to a statement, after which the connection is still usable. */
export function isAnswer(error: unknown): boolean {
  const severity = typeof error === 'object' && error !== null && 'severity' in error ? error.severity : undefined
  return stateOf(error) !== undefined && severity === 'ERROR'
}

/** SQLSTATE: the server ended the connection, and what was in progress with it. */
const ENDED = '57P01'

/** Whether a transaction whose commit was sent may have been committed. */
export function isInDoubt(error: unknown): boolean {
  return !isAnswer(error) && stateOf(error) !== ENDED
}

/** The error for a call whose outcome is unknown. */
export function lostAnswer(error: unknown): QuotaError {
  return storeError(`The connection to PostgreSQL broke before the answer: ${errorText(error)}`, error)
}

/** Whether our own statement divided by zero, because not all of its rows had room. */
export function hasNoRoom(error: unknown): boolean {
  return stateOf(error) === '22012'
}

/** Whether the server is read-only, as one is that was replaced. */
export function isReadOnly(error: unknown): boolean {
  return stateOf(error) === '25006'
}

/** SQLSTATE codes of a session that only a new connection cures: the server is read-only, or ends the connection. */
const SPOILED = /^(?:25006|57P0\d)$/

/** Whether a connection must not be used again after an error. */
export function isSpoiled(error: unknown): boolean {
  return !isAnswer(error) || SPOILED.test(stateOf(error) ?? '')
}

/** Whether a connection leads to another session than before, so that the names of our statements are others' too. */
export function isPooled(error: unknown): boolean {
  return POOLED.includes(stateOf(error) ?? '')
}

/** SQLSTATE class: a value that the server can't take. */
const BAD_VALUE = /^22/

/** Whether a single value may be the reason, so that the other operations of the transaction may succeed. */
export function isBadValue(error: unknown): boolean {
  return BAD_VALUE.test(stateOf(error) ?? '')
}

/** Whether another process interfered, so that a new transaction sees its changes. */
export function isBetween(error: unknown): boolean {
  return BETWEEN.includes(stateOf(error) ?? '')
}

export function verdictOf(error: unknown): Verdict {
  if (error instanceof QuotaError) return error.code === 'store_error' ? 'again' : 'refused'
  const state = stateOf(error)
  // An error that isn't the server's answer means that a connection broke or could not be made.
  return state === undefined || AWAY.test(state) || isBetween(error) ? 'again' : 'refused'
}

export const READ_ONLY = 'The server is read-only: counters need the primary.'
export const NO_RIGHTS = 'The role may not read and write the tables: grant it select, insert, update and delete.'

/** SQLSTATE: a column does not exist. */
const NO_COLUMN = '42703'
const OTHER_VERSION = 'the tables have other columns than this library needs: run the migrations, see migrateQuota()'
const WRONG_LOGIN = 'Correct the user and password of your pool.'

/** Fixes, by the SQLSTATE of the server's error. */
const REMEDIES: Readonly<Record<string, string>> = {
  '28P01': WRONG_LOGIN,
  '28000': 'Correct the user, password and TLS of your pool, or pg_hba.conf of the server.',
  '3D000': 'Create the database, or correct the database of your pool.',
  '42P01': 'The tables are not there: run the migrations, see migrateQuota().',
  '42501': NO_RIGHTS,
  '25006': READ_ONLY,
  '53300': 'Lower max of your pools, or raise max_connections of the server.',
}

/** Fixes, by the driver's text. */
const DRIVER_REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/ECONNREFUSED/, 'Start PostgreSQL there, or correct the host and port of your pool.'],
  [/ENOTFOUND|EAI_AGAIN/, 'Correct the host of your pool.'],
  [/no connection within/, 'Check host, port, firewall and TLS, or raise connectTimeoutMs.'],
  [/client password must be/, WRONG_LOGIN],
]

/** The text of an error, and how to fix it. */
function explained(error: unknown): string {
  const text = errorText(error)
  const remedy = REMEDIES[stateOf(error) ?? ''] ?? DRIVER_REMEDIES.find(([pattern]) => pattern.test(text))?.[1]
  return remedy === undefined ? text : `${text.replace(/\.$/, '')}. ${remedy}`
}

/** The error for a call without an answer in time, with the cause if it is known. */
export function noAnswer(deadlineMs: number, last: unknown): QuotaError {
  const why =
    last === undefined
      ? '. Raise deadlineMs where PostgreSQL is far away, or give the counters a pool of their own.'
      : `: ${explained(last)}`
  return storeError(`PostgreSQL gave no answer within ${deadlineMs} ms${why}`, last)
}

/** The error for a statement that could not be tried. */
export function noAnswersNow(error: unknown): QuotaError {
  return storeError(`PostgreSQL gives no answers now: ${explained(error)}`, error)
}

export function refusal(error: unknown): QuotaError {
  if (error instanceof QuotaError) return error
  if (stateOf(error) === NO_COLUMN) return new QuotaError('other_version', OTHER_VERSION, { cause: error })
  return storeError(`PostgreSQL refused the work: ${explained(error)}`, error)
}
