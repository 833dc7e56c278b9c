import { type CompiledQuery, type DatabaseConnection, type Driver, type SqliteDatabase, SqliteDialect } from 'kysely'
import { Patience } from './sqlite-patience.ts'

/** The members used of the connection itself. */
export interface SqliteFileConnection {
  /** Whether a transaction is open. */
  readonly inTransaction: boolean
  exec(text: string): unknown
}

/** Statements that need the write lock, whether Kysely built them or they are text of a library's. */
const WRITES = /^\s*(?:insert|update|delete|replace)\b/i

/**
 * SQLite that waits for other processes without blocking this one, and reports the original error, even where it has
 * rolled back by itself, as on a full disk.
 *
 * Only `begin immediate` can meet another process that writes. A prepared statement that did would stay in progress in
 * libsql until it is collected, and no transaction of the connection could be committed before that.
 */
export class GatewaySqliteDialect extends SqliteDialect {
  readonly #file: SqliteFileConnection
  readonly #closed: () => void
  readonly #patience = new Patience()

  /** @param closed is called when the connection is closed */
  constructor(file: SqliteFileConnection, closed: () => void = () => undefined) {
    super({ database: file as unknown as SqliteDatabase })
    this.#file = file
    this.#closed = closed
  }

  override createDriver(): Driver {
    const driver = super.createDriver()
    const acquire = driver.acquireConnection.bind(driver)
    driver.acquireConnection = async () => this.#locking(await acquire())
    driver.beginTransaction = () => this.#begin()
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

  async #begin(): Promise<void> {
    await this.#patience.run(() => this.#file.exec('begin immediate'))
  }

  /** The same connection, with a transaction around each write that is in none. */
  #locking(connection: DatabaseConnection): DatabaseConnection {
    return {
      executeQuery: async <Row>(query: CompiledQuery) => {
        const isWithin = this.#file.inTransaction || !WRITES.test(query.sql)
        return isWithin ? connection.executeQuery<Row>(query) : this.#write(() => connection.executeQuery<Row>(query))
      },
      streamQuery: (query, chunkSize) => connection.streamQuery(query, chunkSize),
    }
  }

  async #write<T>(work: () => Promise<T>): Promise<T> {
    await this.#begin()
    try {
      const result = await work()
      this.#file.exec('commit')
      return result
    } catch (error) {
      if (this.#file.inTransaction) this.#file.exec('rollback')
      throw error
    }
  }
}
