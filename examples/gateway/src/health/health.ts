import { statfs } from 'node:fs/promises'
import type { Clock } from '@scoregw/quota'
import { sql } from 'kysely'
import * as z from 'zod'
import packageJson from '../../package.json' with { type: 'json' }
import { isDatabaseBusy, isDatabaseFull } from '../db/database-away.ts'
import type { Db } from '../db/schema.ts'
import { connectionOf } from '../db/sqlite.ts'
import { HttpError } from '../http/http-error.ts'
import { envelope, publicRoute, type Route, success } from '../http/route.ts'
import type { CountersWatch } from '../quota/counters.ts'

const healthAnswer = envelope(z.object({ status: z.literal('ok'), version: z.string() }))
const aliveAnswer = z.object({ status: z.literal('alive') })
const readyAnswer = z.object({ status: z.literal('ready') })

/** When clients should check again, in seconds. */
const RETRY_SECONDS = 1

/** Routes that report whether the gateway is up. Free and public. */
export function healthRoutes(checks: readonly ReadinessCheck[]): Route[] {
  return [
    publicRoute('GET /v1/health', {
      id: 'health',
      tag: 'Health',
      summary: 'Whether the gateway is up, and its version',
      description: 'For clients, in the form of other responses.',
      answer: healthAnswer,
      handle: () => ({ body: success({ status: 'ok' as const, version: packageJson.version }) }),
    }),
    ...probeRoutes(checks),
  ]
}

/** Routes for monitoring, the same in every service. */
export function probeRoutes(checks: readonly ReadinessCheck[]): Route[] {
  return [
    publicRoute('GET /healthz', {
      id: 'alive',
      tag: 'Health',
      summary: 'Whether the process is alive',
      description: 'For process supervisors. It contacts no store.',
      answer: aliveAnswer,
      handle: () => ({ body: { status: 'alive' as const } }),
    }),
    publicRoute('GET /readyz', {
      id: 'ready',
      tag: 'Health',
      summary: 'Whether the stores are available',
      description: 'For load balancers: 503 while a store is unavailable, and while the service is stopping.',
      errors: ['quota_unavailable'],
      answer: readyAnswer,
      async handle() {
        const results = await Promise.allSettled(checks.map(({ check }) => check()))
        const silent = checks.filter((_check, index) => results[index]?.status === 'rejected')
        if (silent.length > 0) {
          const msg = `No answer from ${silent.map(({ name }) => name).join(' and ')}.`
          const cause = results.find((result) => result.status === 'rejected')?.reason
          throw new HttpError('quota_unavailable', msg, { retryAfterSeconds: RETRY_SECONDS, cause })
        }
        return { body: { status: 'ready' as const } }
      },
    }),
  ]
}

/** A dependency without which the gateway can't work. */
export interface ReadinessCheck {
  readonly name: string
  /** Rejects if the dependency is unavailable. */
  check(): Promise<unknown>
}

/**
 * How long to cache the result of a check that writes, and how long callers wait for a running check, in milliseconds.
 */
const SHARED_MS = 1_000

/**
 * @param watch absent: the counters are in the database
 * @param dataDir the folder of an embedded database
 */
export function checksOf(db: Db, clock: Clock, watch: CountersWatch | undefined, dataDir: string): ReadinessCheck[] {
  const database = sharedCheck({ name: 'the database', check: () => sql`select 1`.execute(db) }, clock, false)
  const disk = connectionOf(db) === undefined ? [] : [sharedCheck(roomOnDisk(db, dataDir), clock, true)]
  const counters =
    watch === undefined ? [] : [sharedCheck({ name: watch.name, check: () => watch.read() }, clock, false)]
  return [database, ...disk, ...counters]
}

/**
 * Shares a running check between callers, for a second at most. If it hangs, later callers start a new check and see
 * that the store is back.
 *
 * @param isRemembered whether to cache the result for that second
 */
export function sharedCheck({ name, check }: ReadinessCheck, clock: Clock, isRemembered: boolean): ReadinessCheck {
  let last: { readonly at: number; readonly outcome: Promise<unknown>; isOver: boolean } | undefined
  return {
    name,
    check() {
      const now = clock.now()
      const isRecent = last !== undefined && now >= last.at && now - last.at < SHARED_MS
      if (last !== undefined && isRecent && (isRemembered || !last.isOver)) return last.outcome
      const begun = { at: now, outcome: check(), isOver: false }
      const end = (): void => {
        begun.isOver = true
      }
      begun.outcome.then(end, end)
      last = begun
      return begun.outcome
    },
  }
}

/** The free space required, in bytes: more than any request with its log needs. */
const LEAST_ROOM = 262_144
const PROBE_BYTES = 65_536

/**
 * Checks that the embedded database can grow: there is free space, and the database can add a page. The test write is
 * rolled back.
 */
export function roomOnDisk(db: Db, dataDir: string): { readonly name: string; check(): Promise<void> } {
  return {
    name: 'the disk of the database, which is full',
    async check() {
      const { bavail, bsize } = await statfs(dataDir)
      if (bavail * bsize < LEAST_ROOM) throw new Error(`less than ${LEAST_ROOM} bytes are left in DATA_DIR`)
      try {
        await db.transaction().execute(async (transaction) => {
          await sql`create table room_on_disk (probe blob)`.execute(transaction)
          await sql`insert into room_on_disk values (zeroblob(${PROBE_BYTES}))`.execute(transaction)
          throw new RolledBack()
        })
      } catch (error) {
        // If another writer is active, there is space.
        if (error instanceof RolledBack || isDatabaseBusy(error)) return
        if (isDatabaseFull(error)) throw new Error('the database of DATA_DIR cannot grow', { cause: error })
        throw error
      }
    },
  }
}

class RolledBack extends Error {}
