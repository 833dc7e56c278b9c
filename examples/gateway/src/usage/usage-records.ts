import type { RefusedDecision } from '@scoregw/quota'
import { type Insertable, type Selectable, sql, type Transaction } from 'kysely'
import { beijingDay } from '../beijing-day.ts'
import type { Db, Tables, UsageDayTable, UsageRecordTable } from '../db/schema.ts'

/** The limit that refused a request. */
export interface RefusingLimit {
  /** For example `personal-read-1h`. */
  readonly name: string
  /** The most tokens that can be used. */
  readonly limit: number
  readonly used: number
  readonly requested: number
  /** Epoch milliseconds. */
  readonly resetAt: number
}

/** A user's metered request and its outcome. */
export interface UsageRecord {
  readonly id: string
  readonly userId: string
  /** When the decision was made, in epoch milliseconds of the store's clock. */
  readonly at: number
  readonly operation: string
  readonly category: string
  /** The tokens that it needed; `null`: no decision was made. */
  readonly cost: number | null
  /** The final charge in tokens. */
  readonly charged: number
  /** The HTTP status; 499: the client disconnected before the response. */
  readonly status: number
  /** The response's `error`; `null`: no error. */
  readonly error: string | null
  /** The version of the settings that decided; `null`: no decision was made. */
  readonly settingsVersion: number | null
  /** Present for refusals. */
  readonly refusal: RefusingLimit | null
}

/** Whether a request counts as failed. */
function isFailure({ status }: Pick<UsageRecord, 'status'>): boolean {
  return status >= 400
}

/** The limit that a refusal reports. */
export function refusingLimit({ refusedBy }: Pick<RefusedDecision, 'refusedBy'>): RefusingLimit {
  const { name, limit, used, requested, resetAt } = refusedBy
  return { name, limit, used, requested, resetAt }
}

/** How long records and daily sums are kept. */
const KEPT_DAYS = 30
const KEPT_MS = KEPT_DAYS * 86_400_000

/** The most records per user. */
const KEPT_A_USER = 1_000

/** The most records per deletion. Other work can run in between. */
const DELETED_AT_ONCE = 500

/** A page of records starts after this one. */
export type UsageCursor = Pick<UsageRecord, 'at' | 'id'>

/** The sums of a user's requests on one day in Beijing. */
interface UsageDay {
  /** Days since 1 January 1970. */
  readonly day: number
  readonly requests: number
  readonly tokens: number
  readonly failures: number
}

/** Users' requests: one record each, and daily sums. */
export class UsageRecords {
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  /**
   * Adds up to a few hundred records, and adds them to the sums. Skips records that exist, and those of deleted users.
   */
  async add(records: readonly UsageRecord[]): Promise<void> {
    if (records.length === 0) return
    await this.#db.transaction().execute(async (transaction) => {
      const added = await transaction
        .insertInto('usage_records')
        .values(records.map(toRow))
        .onConflict((conflict) => conflict.column('id').doNothing())
        .returning('id')
        .execute()
      const ids = new Set(added.map(({ id }) => id))
      if (ids.size === 0) return
      // After the write: in SQLite, a transaction that starts with a read may fail to write.
      const ownerless = await transaction
        .deleteFrom('usage_records')
        .where('id', 'in', [...ids])
        .where(({ not, exists, selectFrom }) =>
          not(exists(selectFrom('users').select('users.id').whereRef('users.id', '=', 'usage_records.user_id'))),
        )
        .returning('id')
        .execute()
      for (const { id } of ownerless) ids.delete(id)
      await addDays(transaction, sumsOf(records.filter(({ id }) => ids.has(id))))
    })
  }

  /** Returns a user's newest records, or the newest ones before a given record. */
  async page(userId: string, behind: UsageCursor | undefined, limit: number): Promise<UsageRecord[]> {
    const newestFirst = this.#db
      .selectFrom('usage_records')
      .selectAll()
      .where('user_id', '=', userId)
      .orderBy('at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit)
    if (behind === undefined) return (await newestFirst.execute()).map(fromRow)
    const { at, id } = behind
    const rows = await newestFirst
      .where('at', '<=', at)
      .where(({ or, eb, and }) => or([eb('at', '<', at), and([eb('at', '=', at), eb('id', '<', id)])]))
      .execute()
    return rows.map(fromRow)
  }

  /** Returns the newest refusals since an instant, of all users or of one. */
  async refusedSince(since: number, limit: number, userId?: string): Promise<UsageRecord[]> {
    const refused = this.#db
      .selectFrom('usage_records')
      .selectAll()
      .where('at', '>=', since)
      .where('limit_name', 'is not', null)
      .orderBy('at', 'desc')
      .limit(limit)
    const rows = await (userId === undefined ? refused : refused.where('user_id', '=', userId)).execute()
    return rows.map(fromRow)
  }

  /** Returns a user's daily sums. Days without requests are absent. */
  async days(userId: string, fromDay: number): Promise<UsageDay[]> {
    return this.#db
      .selectFrom('usage_days')
      .select(['day', 'requests', 'tokens', 'failures'])
      .where('user_id', '=', userId)
      .where('day', '>=', fromDay)
      .orderBy('day')
      .execute()
  }

  /** Deletes old records. */
  async forgetOld(now: number): Promise<void> {
    await this.#db
      .deleteFrom('usage_days')
      .where('day', '<=', beijingDay(now) - KEPT_DAYS)
      .execute()
    let deleted: bigint
    do {
      const { numDeletedRows } = await this.#db
        .deleteFrom('usage_records')
        .where('id', 'in', ({ selectFrom }) =>
          selectFrom('usage_records')
            .select('id')
            .where('at', '<', now - KEPT_MS)
            .limit(DELETED_AT_ONCE),
        )
        .executeTakeFirstOrThrow()
      deleted = numDeletedRows
    } while (deleted > 0n)
  }

  /** Deletes a user's oldest records beyond the maximum. */
  async forgetMost(userId: string): Promise<void> {
    const ofUser = this.#db.selectFrom('usage_records').where('user_id', '=', userId)
    const last = await ofUser
      .select(['at', 'id'])
      .orderBy('at', 'desc')
      .orderBy('id', 'desc')
      .offset(KEPT_A_USER - 1)
      .limit(1)
      .executeTakeFirst()
    if (last === undefined) return
    const { at, id } = last
    await this.#db
      .deleteFrom('usage_records')
      .where('user_id', '=', userId)
      .where('at', '<=', at)
      .where(({ or, eb, and }) => or([eb('at', '<', at), and([eb('at', '=', at), eb('id', '<', id)])]))
      .execute()
  }
}

/** Returns daily sums in a fixed order. Different orders would cause deadlocks between processes. */
function sumsOf(records: readonly UsageRecord[]): Insertable<UsageDayTable>[] {
  const sums = new Map<string, UsageDayTable>()
  for (const record of records) {
    const day = beijingDay(record.at)
    const key = `${day} ${record.userId}`
    const none = { requests: 0, tokens: 0, failures: 0, refusals: 0, last_at: record.at }
    const sum = sums.get(key) ?? { user_id: record.userId, day, ...none }
    sum.requests++
    sum.tokens += record.charged
    if (isFailure(record)) sum.failures++
    if (record.refusal !== null) sum.refusals++
    sum.last_at = Math.max(sum.last_at, record.at)
    sums.set(key, sum)
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum)
}

async function addDays(transaction: Transaction<Tables>, days: readonly Insertable<UsageDayTable>[]): Promise<void> {
  if (days.length === 0) return
  await transaction
    .insertInto('usage_days')
    .values(days)
    .onConflict((conflict) =>
      conflict.columns(['user_id', 'day']).doUpdateSet({
        requests: sql<number>`usage_days.requests + excluded.requests`,
        tokens: sql<number>`usage_days.tokens + excluded.tokens`,
        failures: sql<number>`usage_days.failures + excluded.failures`,
        refusals: sql<number>`usage_days.refusals + excluded.refusals`,
        last_at: sql<number>`case when usage_days.last_at > excluded.last_at then usage_days.last_at else excluded.last_at end`,
      }),
    )
    .execute()
}

function toRow(record: UsageRecord): UsageRecordTable {
  const { id, userId, at, operation, category, cost, charged, status, error, settingsVersion, refusal } = record
  return {
    id,
    user_id: userId,
    at,
    operation,
    category,
    cost,
    charged,
    status,
    error,
    settings_version: settingsVersion,
    limit_name: refusal?.name ?? null,
    limit_tokens: refusal?.limit ?? null,
    used_tokens: refusal?.used ?? null,
    requested_tokens: refusal?.requested ?? null,
    reset_at: refusal?.resetAt ?? null,
  }
}

function fromRow(row: Selectable<UsageRecordTable>): UsageRecord {
  return {
    id: row.id,
    userId: row.user_id,
    at: row.at,
    operation: row.operation,
    category: row.category,
    cost: row.cost,
    charged: row.charged,
    status: row.status,
    error: row.error,
    settingsVersion: row.settings_version,
    refusal: refusalOf(row),
  }
}

/** The refusal's columns are either all set or all null. */
function refusalOf(row: Selectable<UsageRecordTable>): RefusingLimit | null {
  const { limit_name: name, limit_tokens: limit, used_tokens: used } = row
  const { requested_tokens: requested, reset_at: resetAt } = row
  if (name === null || limit === null || used === null || requested === null || resetAt === null) return null
  return { name, limit, used, requested, resetAt }
}
