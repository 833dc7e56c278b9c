import { type Driver, type SqliteDatabase, SqliteDialect } from 'kysely'

/** What is used of the connection itself. */
export interface SqliteFileConnection {
  /** Whether a transaction is open. */
  readonly inTransaction: boolean
}

/** SQLite whose errors are told as they are: also where it has rolled back by itself, as on a full disk. */
export class ToldSqliteDialect extends SqliteDialect {
  readonly #file: SqliteFileConnection

  constructor(file: SqliteFileConnection) {
    super({ database: file as unknown as SqliteDatabase })
    this.#file = file
  }

  override createDriver(): Driver {
    const driver = super.createDriver()
    const rollback = driver.rollbackTransaction.bind(driver)
    driver.rollbackTransaction = async (connection) => {
      if (this.#file.inTransaction) await rollback(connection)
    }
    return driver
  }
}
