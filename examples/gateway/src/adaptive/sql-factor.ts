import type { FactorState, FactorStore, VersionedFactor } from '@scoregw/quota/adaptive'
import type { Db } from '../db/schema.ts'

/** There is one factor, in one row. */
const ID = 1

/** The adaptive factor in the database. Other processes hear of a move when they {@link SqlFactor.poll}. */
export class SqlFactor implements FactorStore {
  readonly #db: Db
  readonly #listeners = new Set<() => void>()
  /** The version that listeners know of. */
  #toldVersion = 0

  constructor(db: Db) {
    this.#db = db
  }

  async read(): Promise<VersionedFactor | undefined> {
    const row = await this.#db
      .selectFrom('adaptive_factor')
      .select(['version', 'minute', 'state'])
      .where('id', '=', ID)
      .executeTakeFirst()
    return row === undefined ? undefined : { ...row, state: JSON.parse(row.state) as FactorState }
  }

  async compareAndSet(expectedVersion: number, minute: number, state: FactorState): Promise<boolean> {
    const isWritten = await (expectedVersion === 0
      ? this.#insert(minute, JSON.stringify(state))
      : this.#update(expectedVersion, minute, JSON.stringify(state)))
    if (isWritten) this.#tell(expectedVersion + 1)
    return isWritten
  }

  watch(listener: () => void): () => void {
    // A function of our own, so that one listener may watch twice.
    const entry = (): void => listener()
    this.#listeners.add(entry)
    return () => this.#listeners.delete(entry)
  }

  /** Looks whether another process has moved the factor. */
  async poll(): Promise<void> {
    const row = await this.#db.selectFrom('adaptive_factor').select('version').where('id', '=', ID).executeTakeFirst()
    if (row !== undefined && row.version !== this.#toldVersion) this.#tell(row.version)
  }

  async #insert(minute: number, state: string): Promise<boolean> {
    const { numInsertedOrUpdatedRows = 0n } = await this.#db
      .insertInto('adaptive_factor')
      .values({ id: ID, version: 1, minute, state })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .executeTakeFirstOrThrow()
    return numInsertedOrUpdatedRows > 0n
  }

  /** One statement, so that of two processes that tick the same minute one finds its version gone. */
  async #update(expectedVersion: number, minute: number, state: string): Promise<boolean> {
    const { numUpdatedRows } = await this.#db
      .updateTable('adaptive_factor')
      .set({ version: expectedVersion + 1, minute, state })
      .where('id', '=', ID)
      .where('version', '=', expectedVersion)
      .where('minute', '!=', minute)
      .executeTakeFirstOrThrow()
    return numUpdatedRows > 0n
  }

  #tell(version: number): void {
    this.#toldVersion = version
    for (const listener of this.#listeners) listener()
  }
}
