import type { Clock } from '@scoregw/quota'
import type { Selectable } from 'kysely'
import { beijingDay, dayText } from '../beijing-day.ts'
import { chartText } from '../charts/chart.ts'
import type { ChartRepository } from '../charts/chart-repository.ts'
import type { Db, SyncPlayerTable } from '../db/schema.ts'
import { HttpError } from '../http/http-error.ts'
import { PlayerScores } from '../scores/player-scores.ts'
import { type PlayerAnswer, type SummaryAnswer, type TrendAnswer, toPlayerRecord } from './player-bodies.ts'
import { linkedUser } from './player-turns.ts'
import { type RatingDay, ratingDays } from './rating-days.ts'
import { isExpired, Snapshots } from './snapshots.ts'

export interface PlayerStatusOptions {
  readonly db: Db
  readonly charts: ChartRepository
  readonly clock: Clock
}

/** Reports a player's stored data to bots: the linked account's, if there is one. */
export class PlayerStatus {
  readonly #db: Db
  readonly #charts: ChartRepository
  readonly #clock: Clock

  constructor({ db, charts, clock }: PlayerStatusOptions) {
    this.#db = db
    this.#charts = charts
    this.#clock = clock
  }

  /**
   * The player with all records.
   *
   * @throws {HttpError} `not_found` for a player who was never synced
   */
  async whole(qq: number): Promise<PlayerAnswer> {
    const player = await this.#find(qq)
    const userId = await linkedUser(this.#db, qq)
    const open = (await new Snapshots(this.#db, qq).allOpen()).find((row) => !isExpired(row, userId, this.#clock.now()))
    const records = await this.#records(this.#scoresOf(qq, userId))
    return {
      qq,
      linked: userId !== null,
      username: userId === null ? null : await this.#nameOf(userId),
      nickname: player.nickname,
      source: player.bot_source,
      ...ratingsOf(player),
      play_count: player.play_count,
      stored_records: records.length,
      record_count: records.length,
      open_snapshot_id: open?.id ?? null,
      synced_at: instantOrNull(player.synced_at),
      records,
    }
  }

  /**
   * The player's totals, without the records.
   *
   * @throws {HttpError} `not_found` for a player who was never synced
   */
  async summary(qq: number): Promise<SummaryAnswer> {
    const player = await this.#find(qq)
    const record_count = await this.#scoresOf(qq, await linkedUser(this.#db, qq)).count()
    const last_sync_at = instantOrNull(player.synced_at)
    return { qq, nickname: player.nickname, ...ratingsOf(player), record_count, last_sync_at }
  }

  /** The rating over the last days, with a point per day with a sync; no points for an unknown player. */
  async trend(qq: number, days: number): Promise<TrendAnswer> {
    const { nickname = null } = (await this.#row(qq)) ?? {}
    const { days: stored, before } = await ratingDays(this.#db, qq, beijingDay(this.#clock.now()) - days + 1)
    const points = stored.map((each, index) => pointOf(each, index === 0 ? before : stored[index - 1]))
    const [first] = points
    const start_rating = first?.rating ?? null
    const end_rating = points.at(-1)?.rating ?? null
    const rating_delta = deltaOf(end_rating, start_rating)
    return {
      qq,
      nickname,
      days,
      points,
      summary: { start_rating, end_rating, rating_delta, days_with_data: points.length },
    }
  }

  async #find(qq: number): Promise<Selectable<SyncPlayerTable>> {
    const player = await this.#row(qq)
    if (player === undefined) throw new HttpError('not_found', 'This player is unknown.')
    return player
  }

  #row(qq: number): Promise<Selectable<SyncPlayerTable> | undefined> {
    return this.#db.selectFrom('sync_players').selectAll().where('qq', '=', qq).executeTakeFirst()
  }

  async #nameOf(userId: string): Promise<string | null> {
    const user = await this.#db.selectFrom('users').select('name').where('id', '=', userId).executeTakeFirst()
    return user?.name ?? null
  }

  #scoresOf(qq: number, userId: string | null): PlayerScores {
    return new PlayerScores(this.#db, userId === null ? { qq } : { userId })
  }

  async #records(scores: PlayerScores): Promise<PlayerAnswer['records']> {
    const records: PlayerAnswer['records'] = []
    for await (const slice of scores.slices()) {
      const charts = await this.#charts.ofMusic(slice)
      records.push(...slice.map((score) => toPlayerRecord(score, charts.get(chartText(score)))))
    }
    return records
  }
}

type Ratings = Pick<SummaryAnswer, 'rating' | 'old_rating' | 'new_rating'>

function ratingsOf({ rating, old_rating, new_rating }: Ratings): Ratings {
  return { rating, old_rating, new_rating }
}

function pointOf(day: RatingDay, before: RatingDay | undefined): TrendAnswer['points'][number] {
  const delta = deltaOf(day.rating, before?.rating ?? null)
  return { date: dayText(day.day), ...ratingsOf(day), record_count: day.record_count, delta }
}

function deltaOf(rating: number | null, before: number | null): number {
  return rating === null || before === null ? 0 : rating - before
}

function instantOrNull(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString()
}
