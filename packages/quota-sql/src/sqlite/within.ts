import type { Clock } from '@scoregw/quota'
import { instantOf, refusedOptions } from '@scoregw/quota/internal'
import { notDone } from '@scoregw/quota/store'
import type { Perform } from '../step/counters.ts'
import { operationOf } from '../step/operation.ts'
import { isOpen, type SqliteConnection } from './database.ts'
import type { SqliteFile } from './file.ts'
import { failureOf } from './transactions.ts'

/**
 * Runs work synchronously in the open transaction, behind a savepoint. If it fails, the transaction is as before.
 *
 * @throws {QuotaError} `invalid_options` if no transaction is open on the connection
 */
export function performWithin(
  transaction: unknown,
  database: SqliteConnection,
  file: SqliteFile,
  clock: Clock,
): Perform {
  const isOne = transaction === database || Object(transaction).isTransaction === true
  // Checked if the connection reports it. The charge would not be in a transaction of another connection.
  if (!isOne || isOpen(database) === false) {
    const message =
      "expected an open transaction on the store's own connection: kysely's Transaction, or the connection"
    throw refusedOptions('inTransaction()', [{ path: '', message }])
  }
  return (work) =>
    new Promise((resolve, reject) => {
      const operation = operationOf(work, resolve, reject)
      try {
        file.within(() => file.step([operation], instantOf(clock)))
      } catch (error) {
        operation.fail(notDone(failureOf(error)))
      }
      operation.done()
    })
}
