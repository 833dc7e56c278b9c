import { setTimeout as pause } from 'node:timers/promises'
import { type CompiledQuery, type DatabaseConnection, type Driver, type SqliteDatabase, SqliteDialect } from 'kysely'
import { isDatabaseBusy } from './database-away.ts'

/** The members of the connection that are used. */
interface SqliteFileConnection {
  /** Whether a transaction is open. */
  readonly inTransaction: boolean
  exec(text: string): unknown
}

/** Statements that need the write lock, whether Kysely built them or a library wrote their text. */
const WRITES = /^\s*(?:insert|update|delete|replace)\b/i

/**
 * SQLite that waits for other processes without blocking this one. It reports the original error even if SQLite has
 * already rolled back, as on a full disk.
 * Only `begin immediate` can meet another process that writes. A prepared statement that met one would stay in progress
 * in libsql until it is collected, and until then the connection could commit nothing.
 * Hand-written: Kysely's own dialect waits for a lock in the driver, which blocks the event loop.
 */
export class GatewaySqliteDialect extends SqliteDialect {
  readonly #file: SqliteFileConnection
  readonly #closed: () => void
  readonly #patience = new Patience()

  /** @param closed called when the connection is closed */
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

  /** The same connection, with a transaction around each write that has none. */
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

/** How long a statement waits for another process that writes, in milliseconds. */
const WAIT_MS = 5_000
/** The pause between two attempts, in milliseconds. */
const AGAIN_AFTER_MS = 1

/**
 * Waits for other processes that write to an SQLite file. SQLite's own `busy_timeout` would block the event loop, and
 * one writer elsewhere would stop every service of this process.
 */
export class Patience {
  /** When a statement was first refused, with no success since. */
  #busySince: number | undefined

  /**
   * Retries a statement while another process writes. Once one statement has used up its time, the others are tried
   * only once each, until one succeeds.
   */
  async run(statement: () => unknown): Promise<void> {
    for (;;) {
      try {
        statement()
        this.#busySince = undefined
        return
      } catch (error) {
        if (!isDatabaseBusy(error)) throw error
        const now = performance.now()
        this.#busySince ??= now
        if (now - this.#busySince >= WAIT_MS) throw error
      }
      await pause(AGAIN_AFTER_MS)
    }
  }
}
