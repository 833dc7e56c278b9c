import type { Clock } from '@scoregw/quota'
import type { Selectable } from 'kysely'
import type { AlertTable, Db } from '../../db/schema.ts'
import type { Logger } from '../../log/logger.ts'
import type { Alert } from './alert.ts'

/** The most alerts that wait in this process for the database. The oldest are dropped. */
const MAX_WAITING = 1_000
/** The most alerts that this process writes per minute. More are dropped. */
const MAX_A_MINUTE = 100
const KEPT_MS = 30 * 86_400_000
const MINUTE_MS = 60_000

/** Stores alerts in the database, one per occasion across all processes. */
export class AlertBook {
  readonly #db: Db
  readonly #clock: Clock
  readonly #logger: Logger
  #waiting: Alert[] = []
  #minute = 0
  #ofMinute = 0

  constructor(db: Db, clock: Clock, logger: Logger) {
    this.#db = db
    this.#clock = clock
    this.#logger = logger
  }

  /** Adds an alert to write soon. Decisions call it, so it returns immediately and never throws. */
  note(alert: Alert): void {
    const minute = Math.floor(this.#clock.now() / MINUTE_MS)
    if (minute !== this.#minute) this.#ofMinute = 0
    this.#minute = minute
    this.#ofMinute++
    if (this.#ofMinute === MAX_A_MINUTE + 1) {
      this.#logger.warn({ type: alert.type }, 'too many alerts in a minute: others are left out')
    }
    if (this.#ofMinute > MAX_A_MINUTE) return
    if (this.#waiting.length === MAX_WAITING) this.#waiting.shift()
    this.#waiting.push(alert)
  }

  /**
   * Writes the waiting alerts. Those that another process has written stay unchanged.
   *
   * @throws the database's error; the alerts wait for the next attempt
   */
  async flush(): Promise<void> {
    if (this.#waiting.length === 0) return
    const noted = this.#waiting
    this.#waiting = []
    try {
      await this.add(noted)
    } catch (error) {
      this.#waiting = [...noted, ...this.#waiting].slice(-MAX_WAITING)
      throw error
    }
  }

  /** Writes alerts. Without a webhook, they can only be read. */
  async add(alerts: readonly Alert[]): Promise<void> {
    const webhook = await this.#db.selectFrom('webhooks').select('id').where('url', 'is not', null).executeTakeFirst()
    const due = webhook === undefined ? { state: 'kept' as const, next_at: null } : undefined
    const rows = alerts.map(({ id, occasion, type, at, body }) => ({
      id,
      occasion,
      type,
      at,
      body,
      attempts: 0,
      last_status: null,
      last_fault: null,
      sent_at: null,
      ...(due ?? { state: 'pending' as const, next_at: at }),
    }))
    // A statement can't insert an occasion twice, and a fixed order avoids deadlocks between processes.
    const byOccasion = new Map(rows.map((row) => [row.occasion, row]))
    const sorted = [...byOccasion.values()].sort((a, b) => (a.occasion < b.occasion ? -1 : 1))
    await this.#db
      .insertInto('alerts')
      .values(sorted)
      .onConflict((conflict) => conflict.column('occasion').doNothing())
      .execute()
  }

  /** Returns the newest alerts, or the newest ones before a given one. */
  async page(before: readonly [at: number, id: string] | undefined, limit: number): Promise<Selectable<AlertTable>[]> {
    const newestFirst = this.#db
      .selectFrom('alerts')
      .selectAll()
      .orderBy('at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit)
    if (before === undefined) return newestFirst.execute()
    const [at, id] = before
    return newestFirst
      .where(({ or, and, eb }) => or([eb('at', '<', at), and([eb('at', '=', at), eb('id', '<', id)])]))
      .execute()
  }

  /** Deletes old alerts. */
  async prune(): Promise<void> {
    await this.#db
      .deleteFrom('alerts')
      .where('at', '<', this.#clock.now() - KEPT_MS)
      .execute()
  }
}
