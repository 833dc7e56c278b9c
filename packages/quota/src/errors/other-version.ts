import { QuotaError } from './quota-error.ts'

/**
 * Makes the error for stored data in another version of its format. Data of every store has a version.
 *
 * @param what was read, for example `the row at quota:…`
 * @param found its version
 * @param known the version that this library reads
 */
export function otherVersion(what: string, found: unknown, known: number): QuotaError {
  const version = typeof found === 'number' ? `version ${found}` : 'no version'
  return new QuotaError(
    'other_version',
    `${what} has ${version} of its format, and this library reads version ${known}`,
  )
}
