import { type MinuteOutcomes, OUTCOMES_KEPT_MINUTES, type OutcomeStore } from '@scoregw/quota/adaptive'
import { sql } from 'kysely'
import type { Db, OutcomeMinuteTable } from '../db/schema.ts'
import { addCounts, type Counts, noCounts } from './counts.ts'

/** How requests ended, minute by minute, in the database: every process that shares it adds its own counts. */
export class SqlOutcomes implements OutcomeStore {
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  async add(counts: readonly MinuteOutcomes[]): Promise<void> {
    if (counts.length === 0) return
    await this.#db
      .insertInto('outcome_minutes')
      .values(byMinute(counts).map(toRow))
      .onConflict((conflict) => conflict.column('minute').doUpdateSet(SUMS))
      .execute()
  }

  async read(fromMinute: number, toMinute: number): Promise<MinuteOutcomes[]> {
    const rows = await this.#db
      .selectFrom('outcome_minutes')
      .selectAll()
      .where('minute', '>=', fromMinute)
      .where('minute', '<', toMinute)
      .orderBy('minute')
      .execute()
    return rows.map(fromRow)
  }

  /** Forgets what is older than anybody asks for. */
  async prune(nowMinute: number): Promise<void> {
    const keptFrom = nowMinute - OUTCOMES_KEPT_MINUTES
    await this.#db.deleteFrom('outcome_minutes').where('minute', '<', keptFrom).execute()
  }
}

/**
 * One entry a minute, in order: a statement must not change a row twice, and processes that change the same rows in
 * different orders would wait for each other for ever.
 */
function byMinute(counts: readonly MinuteOutcomes[]): MinuteOutcomes[] {
  const sums = new Map<number, Counts>()
  for (const each of counts) {
    const sum = sums.get(each.minute) ?? noCounts()
    addCounts(sum, each)
    sums.set(each.minute, sum)
  }
  return [...sums].sort(([a], [b]) => a - b).map(([minute, sum]) => ({ minute, ...sum }))
}

/** What is stored and what is added, column by column. */
const SUMS = {
  calls: sql<number>`outcome_minutes.calls + excluded.calls`,
  code_zero: sql<number>`outcome_minutes.code_zero + excluded.code_zero`,
  client_error: sql<number>`outcome_minutes.client_error + excluded.client_error`,
  server_error: sql<number>`outcome_minutes.server_error + excluded.server_error`,
  business_fail: sql<number>`outcome_minutes.business_fail + excluded.business_fail`,
  refused: sql<number>`outcome_minutes.refused + excluded.refused`,
  quota_unavailable: sql<number>`outcome_minutes.quota_unavailable + excluded.quota_unavailable`,
}

function toRow(outcomes: MinuteOutcomes): OutcomeMinuteTable {
  const { minute, calls, codeZero, clientError, serverError, businessFail, refused, quotaUnavailable } = outcomes
  return {
    minute,
    calls,
    code_zero: codeZero,
    client_error: clientError,
    server_error: serverError,
    business_fail: businessFail,
    refused,
    quota_unavailable: quotaUnavailable,
  }
}

function fromRow(row: OutcomeMinuteTable): MinuteOutcomes {
  return {
    minute: row.minute,
    calls: row.calls,
    codeZero: row.code_zero,
    clientError: row.client_error,
    serverError: row.server_error,
    businessFail: row.business_fail,
    refused: row.refused,
    quotaUnavailable: row.quota_unavailable,
  }
}
