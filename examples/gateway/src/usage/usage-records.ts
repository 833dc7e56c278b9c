import type { AdmittedDecision, RefusedDecision } from '@scoregw/quota'
import { type Insertable, sql, type Transaction } from 'kysely'
import { beijingDay } from '../beijing-day.ts'
import type { Db, Tables, UsageDayTable, UsageRecordTable } from '../db/schema.ts'
import { instantText } from '../http/schemas.ts'

/** A user's metered request and its outcome. */
export type UsageRecord = UsageRecordTable

/** The limit that refused a request: its name, such as `personal-read-1h`, and tokens. */
type Refusal = { readonly [member in 'name' | 'resetAt']: string } & {
  readonly [member in 'limit' | 'used' | 'requested']: number
}

/** The limit that a refusal reports, for a record; `null` if there was no refusal. */
export function refusalIn(
  decision: Pick<AdmittedDecision, 'allowed'> | Pick<RefusedDecision, 'allowed' | 'refusedBy'> | undefined,
): string | null {
  if (decision?.allowed !== false) return null
  const { name, limit, used, requested, resetAt } = decision.refusedBy
  return JSON.stringify({ name, limit, used, requested, resetAt: instantText(resetAt) } satisfies Refusal)
}

/** The limit that refused a request; `null`: none did. */
export function refusalOf({ refusal }: UsageRecord): Refusal | null {
  return refusal === null ? null : (JSON.parse(refusal) as Refusal)
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
        .values([...records])
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
    if (behind === undefined) return newestFirst.execute()
    const { at, id } = behind
    return newestFirst
      .where('at', '<=', at)
      .where(({ or, eb, and }) => or([eb('at', '<', at), and([eb('at', '=', at), eb('id', '<', id)])]))
      .execute()
  }

  /** Returns the newest refusals since an instant, of all users or of one. */
  async refusedSince(since: number, limit: number, userId?: string): Promise<UsageRecord[]> {
    const refused = this.#db
      .selectFrom('usage_records')
      .selectAll()
      .where('at', '>=', since)
      .where('refusal', 'is not', null)
      .orderBy('at', 'desc')
      .limit(limit)
    return (userId === undefined ? refused : refused.where('user_id', '=', userId)).execute()
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
    const key = `${day} ${record.user_id}`
    const none = { requests: 0, tokens: 0, failures: 0, refusals: 0, last_at: record.at }
    const sum = sums.get(key) ?? { user_id: record.user_id, day, ...none }
    sum.requests++
    sum.tokens += record.charged
    if (record.status >= 400) sum.failures++
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
