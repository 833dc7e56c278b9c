import type { Clock } from '@scoregw/quota'
import type { Selectable } from 'kysely'
import { beijingDay } from '../beijing-day.ts'
import type { Chore } from '../chores.ts'
import type { Db, SyncDayTable } from '../db/schema.ts'
import type { SyncTransaction } from './player-turns.ts'

/** The longest trend that can be requested, in days. */
export const MOST_DAYS = 365
const FORGET_EVERY_MS = 3_600_000

export type RatingDay = Selectable<SyncDayTable>

/** Records a player's rating at the end of a write. The last write of a day counts. */
export async function writeRatingDay({ db, qq, now, scores }: SyncTransaction): Promise<void> {
  const player = await db
    .selectFrom('sync_players')
    .select(['rating', 'old_rating', 'new_rating', 'synced_at'])
    .where('qq', '=', qq)
    .executeTakeFirst()
  // A request that only repeated a response doesn't count as a sync of that day.
  if (player === undefined || player.synced_at !== now) return
  const { rating, old_rating, new_rating } = player
  const values = { rating, old_rating, new_rating, record_count: await scores.count() }
  await db
    .insertInto('sync_days')
    .values({ qq, day: beijingDay(now), ...values })
    .onConflict((conflict) => conflict.columns(['qq', 'day']).doUpdateSet(values))
    .execute()
}

/** A player's days from a given one on, and the last before it, oldest first. */
export async function ratingDays(
  db: Db,
  qq: number,
  fromDay: number,
): Promise<{ days: RatingDay[]; before: RatingDay | undefined }> {
  const ofPlayer = db.selectFrom('sync_days').selectAll().where('qq', '=', qq)
  const [days, before] = await Promise.all([
    ofPlayer.where('day', '>=', fromDay).orderBy('day').execute(),
    ofPlayer.where('day', '<', fromDay).orderBy('day', 'desc').limit(1).executeTakeFirst(),
  ])
  return { days, before }
}

/** Deletes days that no trend reaches. */
export function forgetRatingDays(db: Db, clock: Clock): Chore {
  return {
    what: 'forgetting old ratings',
    everyMs: FORGET_EVERY_MS,
    async run() {
      await db
        .deleteFrom('sync_days')
        .where('day', '<', beijingDay(clock.now()) - MOST_DAYS)
        .execute()
    },
  }
}
