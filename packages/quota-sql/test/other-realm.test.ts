import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { isBusy } from '../src/sqlite/file.ts'
import { failureOf } from '../src/sqlite/transactions.ts'

/** An error of a driver with an `Error` of its own, as under test runners. */
function errorOf(message: string, code?: string): unknown {
  return runInNewContext('Object.assign(new Error(message), { code })', { message, code })
}

it('errors of a driver with an Error of its own are judged as others', () => {
  expect(isBusy(errorOf('database is locked'))).toBe(true)
  expect(isBusy(errorOf('the work failed', 'SQLITE_BUSY_SNAPSHOT'))).toBe(true)
  expect(isBusy(errorOf('no such table: quota_rows', 'SQLITE_ERROR'))).toBe(false)
  expect(failureOf(errorOf('no such table: quota_rows')).message).toMatch(/run the migrations/)
})
