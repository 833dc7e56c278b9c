import type { Clock } from '@scoregw/quota'
import type { Selectable } from 'kysely'
import type * as z from 'zod'
import type { Chore } from '../chores.ts'
import type { Db, SyncSnapshotTable } from '../db/schema.ts'
import { HttpError } from '../http/http-error.ts'
import type { snapshotAnswer } from './bodies.ts'
import { linkedUser } from './player-turns.ts'
import type { RecordFault } from './records.ts'

/** How long a snapshot stays open without a chunk, in milliseconds. */
const SNAPSHOT_IDLE_MS = 30 * 60_000

/** The result of a chunk, the same in every response to it. */
export interface ChunkResult {
  readonly imported: number
  readonly updated: number
  readonly skipped: number
  readonly errors: readonly RecordFault[]
}

export interface Chunk {
  /** The number of the write in which it arrived. */
  readonly turn: number
  /** `null` if the bot gives none: the chunk is then identified by its records. */
  readonly index: number | null
  readonly checksum: string
}

export type SnapshotRow = Selectable<SyncSnapshotTable>

/** The snapshots of one player and their chunks. */
export class Snapshots {
  readonly #db: Db
  readonly #qq: number

  constructor(db: Db, qq: number) {
    this.#db = db
    this.#qq = qq
  }

  async find(id: string): Promise<SnapshotRow | undefined> {
    return this.#db
      .selectFrom('sync_snapshots')
      .selectAll()
      .where('qq', '=', this.#qq)
      .where('id', '=', id)
      .executeTakeFirst()
  }

  /** Snapshots whose state is open. Some may have expired. */
  async allOpen(): Promise<SnapshotRow[]> {
    return this.#db
      .selectFrom('sync_snapshots')
      .selectAll()
      .where('qq', '=', this.#qq)
      .where('state', '=', 'open')
      .execute()
  }

  async add(row: SnapshotRow): Promise<void> {
    await this.#db.insertInto('sync_snapshots').values(row).execute()
  }

  async change(id: string, values: Partial<Omit<SnapshotRow, 'qq' | 'id'>>): Promise<void> {
    await this.#db.updateTable('sync_snapshots').set(values).where('qq', '=', this.#qq).where('id', '=', id).execute()
  }

  /** Removes it with its chunks. */
  async remove(id: string): Promise<void> {
    await this.#db.deleteFrom('sync_snapshots').where('qq', '=', this.#qq).where('id', '=', id).execute()
  }

  /** The chunks in the order of arrival. */
  async chunks(id: string): Promise<Chunk[]> {
    return this.#db
      .selectFrom('sync_chunks')
      .select(['turn', 'chunk_index as index', 'checksum'])
      .where('qq', '=', this.#qq)
      .where('snapshot_id', '=', id)
      .orderBy('turn')
      .execute()
  }

  async resultOf(id: string, { turn }: Chunk): Promise<ChunkResult> {
    const { result } = await this.#db
      .selectFrom('sync_chunks')
      .select('result')
      .where('qq', '=', this.#qq)
      .where('snapshot_id', '=', id)
      .where('turn', '=', turn)
      .executeTakeFirstOrThrow()
    return JSON.parse(result) as ChunkResult
  }

  /** Stores a chunk and its result. */
  async addChunk(id: string, { turn, index, checksum }: Chunk, result: ChunkResult): Promise<void> {
    await this.#db
      .insertInto('sync_chunks')
      .values({ qq: this.#qq, snapshot_id: id, turn, chunk_index: index, checksum, result: JSON.stringify(result) })
      .execute()
  }
}

/** Whether a snapshot expired before it was finished. */
export function isExpired(snapshot: SnapshotRow, userId: string | null, now: number): boolean {
  if (snapshot.state !== 'open') return snapshot.state === 'expired'
  // Its first chunks are in the scores of an account that is no longer the player's.
  const isMoved = snapshot.user_id !== null && snapshot.user_id !== userId
  return isMoved || now - snapshot.touched_at >= SNAPSHOT_IDLE_MS
}

/** Indices that are missing before a final chunk. Chunks without an index count as the first missing ones. */
export function missingChunks(total: number | null, chunks: readonly Chunk[]): number[] {
  const arrived = new Set(chunks.map(({ index }) => index))
  const withoutIndex = chunks.filter(({ index }) => index === null).length
  const others = Array.from({ length: total ?? 0 }, (_, index) => index).filter((index) => !arrived.has(index))
  return others.slice(withoutIndex)
}

/** How long a snapshot's id is kept after its last chunk, in milliseconds. */
const KEPT_MS = 7 * 86_400_000
const EVERY_MS = 10 * 60_000

/**
 * Deletes old snapshots, finished or expired, with their chunks. Both kinds are kept equally long: otherwise a late
 * final chunk of an expired one would begin a new snapshot, and delete what the first chunks stored.
 */
export function forgetSnapshots(db: Db, clock: Clock): Chore {
  return {
    what: 'forgetting old snapshots',
    everyMs: EVERY_MS,
    async run() {
      await db
        .deleteFrom('sync_snapshots')
        .where('touched_at', '<', clock.now() - KEPT_MS)
        .execute()
    },
  }
}

type SnapshotStatus = z.output<typeof snapshotAnswer>

/**
 * What has arrived of a snapshot.
 *
 * @throws {HttpError} `not_found`; `conflict` if several players have one with that id and no player is named
 */
export async function snapshotStatus(
  db: Db,
  clock: Clock,
  id: string,
  qq: number | undefined,
): Promise<SnapshotStatus> {
  const row = await findAnywhere(db, id, qq)
  const chunks = await new Snapshots(db, row.qq).chunks(id)
  const status = stateOf(row, await linkedUser(db, row.qq), clock.now())
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

async function findAnywhere(db: Db, id: string, qq: number | undefined): Promise<SnapshotRow> {
  const all = db.selectFrom('sync_snapshots').selectAll().where('id', '=', id)
  const [row, other] = await (qq === undefined ? all : all.where('qq', '=', qq)).limit(2).execute()
  if (row === undefined) throw new HttpError('not_found', 'There is no such snapshot.')
  if (other === undefined) return row
  throw new HttpError('conflict', 'Several players have a snapshot of that id: add ?qq= and the player.')
}

function stateOf(row: SnapshotRow, userId: string | null, now: number): SnapshotStatus['status'] {
  if (row.state === 'finished') return 'ok'
  return isExpired(row, userId, now) ? 'expired' : 'partial'
}
