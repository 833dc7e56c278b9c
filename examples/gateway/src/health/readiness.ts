import type { Clock } from '@scoregw/quota'
import { sql } from 'kysely'
import type { Db } from '../db/schema.ts'
import { connectionOf } from '../db/sqlite.ts'
import type { QuotaBackend } from '../quota/backend.ts'
import { roomOnDisk } from './room-on-disk.ts'

/** Something that the gateway cannot do its work without. */
export interface ReadinessCheck {
  readonly name: string
  /** Rejects when it does not answer. */
  check(): Promise<unknown>
}

/** How long the result of a check that writes is cached, and how long callers wait for a running one, in milliseconds. */
const SHARED_MS = 1_000

/** @param dataDir where an embedded database is */
export function checksOf(
  db: Db,
  { check, checked = 'the counters' }: QuotaBackend,
  dataDir: string,
  clock: Clock,
): ReadinessCheck[] {
  const database = sharedCheck({ name: 'the database', check: () => sql`select 1`.execute(db) }, clock, false)
  const disk = connectionOf(db) === undefined ? [] : [sharedCheck(roomOnDisk(db, dataDir), clock, true)]
  const counters = check === undefined ? [] : [sharedCheck({ name: checked, check }, clock, false)]
  return [database, ...disk, ...counters]
}

/**
 * A check that callers share while it is running; for a second at the most, so that one that hangs does not
 * hold those back who ask when its store is there again.
 *
 * @param isRemembered whether its outcome holds for that second
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
