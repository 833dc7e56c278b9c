import { QuotaError } from '@scoregw/quota'
import { storeError } from '../step/store-error.ts'

/**
 * What an error before the commit says; nothing was done.
 *
 * - `again`: it may well be done if it is asked again: another process came between, or the server is away.
 * - `refused`: asking again will not help.
 */
export type Verdict = 'again' | 'refused'

/**
 * SQLSTATE: another one came between: serialization failure, deadlock, a lock that was not free, a statement of ours that
 * found its condition gone and divided by zero.
 */
const BETWEEN = ['40001', '40P01', '55P03', '22012']
/** Classes of it: connection, resources, intervention by an operator. */
const AWAY = /^(?:08|53|57)/

function stateOf(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined
}

/** Whether an error is the server's own answer to a statement, after which the connection goes on. */
export function isAnswer(error: unknown): boolean {
  const severity = typeof error === 'object' && error !== null && 'severity' in error ? error.severity : undefined
  return stateOf(error) !== undefined && severity === 'ERROR'
}

/** Whether another process came between, so that a new transaction finds what it made. */
export function isBetween(error: unknown): boolean {
  return BETWEEN.includes(stateOf(error) ?? '')
}

export function verdictOf(error: unknown): Verdict {
  if (error instanceof QuotaError) return error.code === 'store_error' ? 'again' : 'refused'
  const state = stateOf(error)
  // An error that is no answer of the server means a connection that broke, or could not be made.
  return state === undefined || AWAY.test(state) || isBetween(error) ? 'again' : 'refused'
}

export const READ_ONLY = 'the server is read-only: counters need the primary'
export const NO_RIGHTS = 'the role may not read and write the tables'

/** SQLSTATE: the tables do not have a column. */
const NO_COLUMN = '42703'
const OTHER_VERSION = 'the tables are of another version: run the migrations, see quotaMigrations()'

/** Advice added to the server's message, for faults that operators can repair. */
const MENDS: Readonly<Record<string, string>> = {
  '42P01': 'the tables are not there: run the migrations, see quotaMigrations()',
  '42501': NO_RIGHTS,
  '25006': READ_ONLY,
}

export function refusal(error: unknown): QuotaError {
  if (error instanceof QuotaError) return error
  if (stateOf(error) === NO_COLUMN) return new QuotaError('store_mismatch', OTHER_VERSION, { cause: error })
  const mend = MENDS[stateOf(error) ?? '']
  return storeError(`PostgreSQL refused the work${mend === undefined ? '' : `: ${mend}`}`, error)
}
