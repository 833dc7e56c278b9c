import type { Clock } from '@scoregw/quota'
import type * as z from 'zod'
import type { Db } from '../db/schema.ts'
import { HttpError } from '../http/http-error.ts'
import type { snapshotAnswer } from './bodies.ts'
import { linkedUser } from './player-turns.ts'
import { isExpired, missingChunks, SNAPSHOT_IDLE_MS, type SnapshotRow, Snapshots } from './snapshots.ts'

type SnapshotStatus = z.output<typeof snapshotAnswer>

/** Reports to bots which of their requests have arrived. */
export class SyncStatus {
  readonly #db: Db
  readonly #clock: Clock

  constructor(db: Db, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  /**
   * What has arrived of a snapshot.
   *
   * @throws {HttpError} `not_found`; `conflict` if several players have one with that id and no player is named
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
}
