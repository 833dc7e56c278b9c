import { type Driver, type SqliteDatabase, SqliteDialect } from 'kysely'

/** The members used of the connection itself. */
export interface SqliteFileConnection {
  /** Whether a transaction is open. */
  readonly inTransaction: boolean
}

/** SQLite that reports the original error, even where it has rolled back by itself, as on a full disk. */
export class FirstErrorSqliteDialect extends SqliteDialect {
  readonly #file: SqliteFileConnection
  readonly #closed: () => void

  /** @param closed is called when the connection is closed */
  constructor(file: SqliteFileConnection, closed: () => void = () => undefined) {
    super({ database: file as unknown as SqliteDatabase })
    this.#file = file
    this.#closed = closed
  }

  override createDriver(): Driver {
    const driver = super.createDriver()
    const rollback = driver.rollbackTransaction.bind(driver)
    driver.rollbackTransaction = async (connection) => {
      if (this.#file.inTransaction) await rollback(connection)
    }
    const destroy = driver.destroy.bind(driver)
    driver.destroy = async () => {
      await destroy()
      this.#closed()
    }
    return driver
  }
}
