import type { Clock } from '@scoregw/quota'
import type { RequestHandler } from 'express'
import { sql } from 'kysely'
import * as z from 'zod'
import type { Chore } from '../chores.ts'
import type { Db, ErrorCountTable } from '../db/schema.ts'
import { strictObject } from '../http/http-error.ts'
import { adminRoute, type Route } from '../http/route.ts'
import { instantText, isoInstant } from '../http/schemas.ts'
import { httpStatusOf, isTraffic } from './usage-recorder.ts'

const HALF_HOUR_MS = 30 * 60_000
/** As long as the chart of errors. */
const KEPT_HALF_HOURS = 7 * 48
const WRITE_EVERY_MS = 1_000
/** The most rows in the response. */
const MOST = 200

/** Counts server errors by half hour, operation and status. Requests don't wait for it. */
export class ErrorCounts {
  readonly chore: Chore = { what: 'writing counts of errors', everyMs: WRITE_EVERY_MS, run: () => this.flush() }
  readonly #db: Db
  readonly #clock: Clock
  #waiting = new Map<string, ErrorCountTable>()

  constructor(db: Db, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  /** A step for every request. */
  readonly observe: RequestHandler = (req, res, next) => {
    if (!isTraffic(req)) return next()
    res.once('close', () => {
      const status = httpStatusOf(req, res)
      if (status === 0 || status >= 500) this.#count(`${req.method} ${pathOf(req.route)}`, status)
    })
    next()
  }

  #count(operation: string, status: number): void {
    const last_at = this.#clock.now()
    const half_hour = Math.floor(last_at / HALF_HOUR_MS)
    const key = `${half_hour} ${status} ${operation}`
    const count = (this.#waiting.get(key)?.count ?? 0) + 1
    this.#waiting.set(key, { half_hour, operation, status, count, last_at })
  }

  /** Adds what was counted to the stored counts, and deletes old ones. If it fails, the counts stay. */
  async flush(): Promise<void> {
    if (this.#waiting.size === 0) return
    const counted = this.#waiting
    this.#waiting = new Map()
    try {
      // In a fixed order: different orders would cause deadlocks between processes.
      await this.#add([...counted].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row))
    } catch (error) {
      for (const [key, row] of counted) {
        const newer = this.#waiting.get(key)
        this.#waiting.set(key, newer === undefined ? row : { ...newer, count: newer.count + row.count })
      }
      throw error
    }
    const now = Math.floor(this.#clock.now() / HALF_HOUR_MS)
    await this.#db
      .deleteFrom('error_counts')
      .where('half_hour', '<', now - KEPT_HALF_HOURS)
      .execute()
  }

  async #add(rows: readonly ErrorCountTable[]): Promise<void> {
    await this.#db
      .insertInto('error_counts')
      .values(rows)
      .onConflict((conflict) =>
        conflict.columns(['half_hour', 'operation', 'status']).doUpdateSet({
          count: sql<number>`error_counts.count + excluded.count`,
          last_at: sql<number>`excluded.last_at`,
        }),
      )
      .execute()
  }

  /** The counts of half hours that begin in a range, the most frequent first. */
  async between(since: number, until: number): Promise<Omit<ErrorCountTable, 'half_hour'>[]> {
    const rows = await this.#db
      .selectFrom('error_counts')
      .select(['operation', 'status'])
      .select(({ fn }) => [fn.sum<number>('count').as('count'), fn.max('last_at').as('last_at')])
      .where('half_hour', '>=', Math.ceil(since / HALF_HOUR_MS))
      .where('half_hour', '<', Math.ceil(until / HALF_HOUR_MS))
      .groupBy(['operation', 'status'])
      .orderBy('count', 'desc')
      .orderBy('operation')
      .orderBy('status')
      .limit(MOST)
      .execute()
    return rows.map((row) => ({ ...row, count: Number(row.count), last_at: Number(row.last_at) }))
  }
}

function pathOf(route: unknown): string {
  const path = (route as { readonly path?: unknown } | undefined)?.path
  return typeof path === 'string' ? path : 'unknown path'
}

const instant = z.iso.datetime('expected an instant, as 2026-11-29T12:00:00Z')

const query = strictObject({
  since: instant.optional().describe('Default: a week ago.'),
  until: instant.optional().describe('Default: now.'),
})

const answer = z.object({
  items: z.array(
    z.object({
      operation: z.string().describe('Method and path of the route.'),
      httpStatus: z.int().describe('0: the request could not be forwarded.'),
      count: z.int().min(1),
      lastAt: isoInstant,
    }),
  ),
})

/** A route for administrators: which operations failed, and how. */
export function errorRoutes(counts: ErrorCounts, clock: Clock): Route[] {
  return [
    adminRoute('GET /admin/usage/errors', {
      id: 'serverErrors',
      summary: 'Server errors by operation and status',
      description:
        'Errors with status 0, or 500 and above, in half hours (UTC) that begin in the range, of the last 7 days. The most frequent first.',
      query,
      answer,
      async handle({ query: { since, until } }) {
        // Include the requests of this process up to now.
        await counts.flush()
        const to = until === undefined ? clock.now() + 1 : Date.parse(until)
        const from = since === undefined ? clock.now() - KEPT_HALF_HOURS * HALF_HOUR_MS : Date.parse(since)
        const found = await counts.between(from, to)
        const items = found.map(({ operation, status, count, last_at }) => {
          return { operation, httpStatus: status, count, lastAt: instantText(last_at) }
        })
        return { body: { items } }
      },
    }),
  ]
}
