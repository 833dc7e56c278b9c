import type { Clock } from '@scoregw/quota'
import type * as z from 'zod'
import type { Db } from '../db/schema.ts'
import { HttpError } from '../http/http-error.ts'
import { comboName, syncName } from '../scores/statuses.ts'
import type { playerAnswer, snapshotAnswer } from './bodies.ts'
import { type OwnedScore, OwnedScores } from './owned-scores.ts'
import { linkedUser } from './player-turns.ts'
import { isExpired, missingChunks, SNAPSHOT_IDLE_MS, type SnapshotRow, Snapshots } from './snapshots.ts'

type SnapshotStatus = z.output<typeof snapshotAnswer>
type PlayerStatus = z.output<typeof playerAnswer>

/** Scores that are read before others have a turn. */
const SLICE = 1_000

/** Tells bots what has arrived and what is stored. */
export class SyncStatus {
  readonly #db: Db
  readonly #clock: Clock

  constructor(db: Db, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  /**
   * What has arrived of a snapshot.
   * @throws {HttpError} `not_found`; `conflict` when several players have one of that id and no player is named
   */
  async snapshot(id: string, qq: number | undefined): Promise<SnapshotStatus> {
    const row = await this.#find(id, qq)
    const chunks = await new Snapshots(this.#db, row.qq).chunks(id)
    const status = await this.#statusOf(row)
    return {
      snapshot_id: id,
      qq: row.qq,
      status,
      full_snapshot: row.is_full === 1,
      chunk_total: row.chunk_total,
      chunks: chunks.map(({ index, checksum }) => ({ chunk_index: index, checksum })),
      missing: missingChunks(row.chunk_total, chunks),
      expires_at: status === 'ok' ? null : new Date(row.touched_at + SNAPSHOT_IDLE_MS).toISOString(),
    }
  }

  async #find(id: string, qq: number | undefined): Promise<SnapshotRow> {
    const all = this.#db.selectFrom('sync_snapshots').selectAll().where('id', '=', id)
    const rows = await (qq === undefined ? all : all.where('qq', '=', qq)).limit(2).execute()
    const [row, other] = rows
    if (row === undefined) throw new HttpError('not_found', 'There is no such snapshot.')
    if (other === undefined) return row
    throw new HttpError('conflict', 'Several players have a snapshot of that id: add ?qq= and the player.')
  }

  async #statusOf(row: SnapshotRow): Promise<SnapshotStatus['status']> {
    if (row.state === 'finished') return 'ok'
    return isExpired(row, await linkedUser(this.#db, row.qq), this.#clock.now()) ? 'expired' : 'partial'
  }

  /**
   * What is stored of a player, of the linked account where there is one.
   * @throws {HttpError} `not_found` for a player nobody has synced
   */
  async player(qq: number): Promise<PlayerStatus> {
    const player = await this.#db.selectFrom('sync_players').selectAll().where('qq', '=', qq).executeTakeFirst()
    if (player === undefined) throw new HttpError('not_found', 'Nothing is known of this player.')
    const userId = await linkedUser(this.#db, qq)
    const open = (await new Snapshots(this.#db, qq).allOpen()).find((row) => !isExpired(row, userId, this.#clock.now()))
    const records = await this.#records(new OwnedScores(this.#db, userId === null ? { qq } : { userId }))
    return {
      qq,
      linked: userId !== null,
      nickname: player.nickname,
      source: player.bot_source,
      rating: player.rating,
      play_count: player.play_count,
      stored_records: records.length,
      open_snapshot_id: open?.id ?? null,
      synced_at: player.synced_at === null ? null : new Date(player.synced_at).toISOString(),
      records,
    }
  }

  async #records(scores: OwnedScores): Promise<PlayerStatus['records']> {
    const records: PlayerStatus['records'] = []
    let slice = await scores.after({ musicId: 0, level: 0 }, SLICE)
    while (slice.length > 0) {
      records.push(...slice.map(toRecord))
      slice = await scores.after(slice.at(-1) as OwnedScore, SLICE)
    }
    return records
  }
}

/** In the form in which records come. */
function toRecord({
  musicId,
  level,
  achievement,
  dxScore,
  comboStatus,
  syncStatus,
}: OwnedScore): PlayerStatus['records'][number] {
  const name = (text: string): string => (text === 'none' ? '' : text)
  return {
    song_id: musicId,
    level_index: level === 10 ? 0 : level,
    achievements: achievement / 10_000,
    dxScore,
    fc: name(comboName(comboStatus)),
    fs: name(syncName(syncStatus)),
  }
}
