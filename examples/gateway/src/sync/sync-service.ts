import type { Clock } from '@scoregw/quota'
import type { Db } from '../db/schema.ts'
import { MAX_CHUNKS, type SyncAnswer, type SyncBody } from './bodies.ts'
import type { SyncTransaction } from './player-turns.ts'
import { adoptProfile, PlayerTurns } from './player-turns.ts'
import { writeRatingDay } from './rating-days.ts'
import { readSyncRecords } from './records.ts'
import { type Chunk, type ChunkResult, isExpired, missingChunks, type SnapshotRow, Snapshots } from './snapshots.ts'
import { type SyncRequest, storeRequest } from './store-request.ts'
import { SyncError } from './sync-error.ts'

/** Stores scores that bots send: single pushes, and snapshots in chunks. */
export class SyncService {
  readonly #turns: PlayerTurns

  constructor(db: Db, clock: Clock) {
    this.#turns = new PlayerTurns(db, clock)
  }

  /**
   * Stores a request's records in one transaction.
   *
   * @param body its records are removed from it
   * @throws {SyncError} for everything that the protocol refuses
   */
  async sync(body: SyncBody): Promise<SyncAnswer> {
    return this.#turns.alone(body.qq, async () => {
      const count = body.records.length
      // The records are removed so that they can be collected once parsed: the transaction may have to wait.
      const records = await readSyncRecords(body.records.splice(0))
      const { checksum } = body
      if (typeof checksum === 'string' && checksum.toLowerCase() !== records.checksum) {
        throw new SyncError('checksum_mismatch', `The records have the checksum ${records.checksum}.`)
      }
      const outcome = await this.#turns.take(body.qq, false, async (transaction) => {
        const answer = await answerRequest(transaction, { body, count, records })
        await writeRatingDay(transaction)
        return answer
      })
      if (outcome instanceof SyncError) throw outcome
      return outcome
    })
  }

  /** Moves the scores that were kept for a newly linked account into it. It can be repeated. */
  async adopt(userId: string, qq: number): Promise<void> {
    await this.#turns.take(qq, true, async (transaction) => {
      if (transaction.userId !== userId) return
      await adoptProfile(transaction)
    })
  }
}

/** A request about a snapshot, and the transaction that handles it. */
interface Step extends SyncRequest {
  readonly transaction: SyncTransaction
  readonly snapshots: Snapshots
  readonly snapshot: SnapshotRow
}

/** The response to an accepted request, without the player's totals. */
interface Answered {
  readonly status: SyncAnswer['status']
  readonly snapshot_id: string | null
  readonly result: ChunkResult
}

/**
 * Handles a request by the rules of the protocol. A refusal is returned, not thrown, since it may have changed
 * something that must be committed: an early final chunk is stored, for example.
 */
async function answerRequest(transaction: SyncTransaction, request: SyncRequest): Promise<SyncAnswer | SyncError> {
  const answered = await workOn(transaction, request)
  if (answered instanceof SyncError) return answered
  const { status, snapshot_id, result } = answered
  const { imported, updated, skipped, errors } = result
  // The chunk's result is repeated as it was. The player's totals are current, also for a repeated chunk.
  const stored_records = await transaction.scores.count()
  return { status, snapshot_id, imported, updated, skipped, stored_records, errors: [...errors] }
}

async function workOn(transaction: SyncTransaction, request: SyncRequest): Promise<Answered | SyncError> {
  const { body } = request
  const snapshots = new Snapshots(transaction.db, transaction.qq)
  if (typeof body.snapshot_id !== 'string') {
    const isFullOpen = (await openSnapshots(transaction, snapshots)).some(({ is_full }) => is_full === 1)
    const result = await storeRequest(transaction, request, { isFull: false, isMarking: isFullOpen })
    return { status: 'ok', snapshot_id: null, result }
  }
  const snapshot = await snapshotOf(transaction, snapshots, body, body.snapshot_id)
  if (snapshot instanceof SyncError) return snapshot
  const step: Step = { ...request, transaction, snapshots, snapshot }
  return snapshot.state === 'finished' ? answerFinished(step) : answerOpen(step)
}

/** The player's open snapshots. Expired ones are closed on the way. */
async function openSnapshots({ userId, now }: SyncTransaction, snapshots: Snapshots): Promise<SnapshotRow[]> {
  const open: SnapshotRow[] = []
  for (const each of await snapshots.allOpen()) {
    if (isExpired(each, userId, now)) await snapshots.change(each.id, { state: 'expired' })
    else open.push(each)
  }
  return open
}

/** The snapshot with that id. A new one is begun. */
async function snapshotOf(
  transaction: SyncTransaction,
  snapshots: Snapshots,
  body: SyncBody,
  id: string,
): Promise<SnapshotRow | SyncError> {
  const open = await openSnapshots(transaction, snapshots)
  const known = await snapshots.find(id)
  if (known?.state === 'expired') {
    return new SyncError(
      'snapshot_expired',
      'This snapshot is over. Send it again from its first chunk, under another id.',
    )
  }
  if (known !== undefined) return known
  const [other] = open
  if (other !== undefined) {
    const msg = `The snapshot ${other.id} is open. Send its final chunk first, or wait until it expires.`
    return new SyncError('snapshot_open', msg)
  }
  const begun: SnapshotRow = {
    qq: transaction.qq,
    id,
    state: 'open',
    is_full: body.full_snapshot === true ? 1 : 0,
    first_turn: transaction.number,
    chunk_total: body.chunk_total ?? null,
    user_id: transaction.userId,
    has_final: 0,
    valid_records: 0,
    touched_at: transaction.now,
  }
  await snapshots.add(begun)
  return begun
}

/** The snapshot stays as it is. A chunk that belongs to it gets the same response as before. */
async function answerFinished(step: Step): Promise<Answered> {
  const { snapshots, snapshot, count, records } = step
  const chunks = await snapshots.chunks(snapshot.id)
  const known = repeatedBy(step, chunks)
  if (known?.checksum === records.checksum) return partOf(snapshot, 'ok', await snapshots.resultOf(snapshot.id, known))
  const msg = `the snapshot ${snapshot.id} is finished: its later records are not stored`
  const errors = count === 0 ? [] : [{ index: 0, path: 'snapshot_id', msg }]
  return partOf(snapshot, 'ok', { imported: 0, updated: 0, skipped: count, errors })
}

async function answerOpen(step: Step): Promise<Answered | SyncError> {
  const { transaction, snapshots, snapshot, body, records } = step
  const chunks = await snapshots.chunks(snapshot.id)
  const known = repeatedBy(step, chunks)
  const conflict = conflictOf(step, known, chunks)
  if (conflict !== undefined) return conflict
  if (known === undefined && chunks.length >= MAX_CHUNKS) {
    return new SyncError('validation_failed', `A snapshot has ${MAX_CHUNKS} chunks at most.`)
  }

  const isFull = snapshot.is_full === 1
  const chunk = known ?? { turn: transaction.number, index: body.chunk_index ?? null, checksum: records.checksum }
  const result =
    known === undefined
      ? await storeRequest(transaction, step, { isFull, isMarking: isFull })
      : await snapshots.resultOf(snapshot.id, known)
  if (known === undefined) await snapshots.addChunk(snapshot.id, chunk, result)

  const validRecords = snapshot.valid_records + (known === undefined ? records.plays.length : 0)
  const hasFinal = snapshot.has_final === 1 || body.snapshot_final === true
  await snapshots.change(snapshot.id, {
    touched_at: transaction.now,
    user_id: transaction.userId,
    has_final: hasFinal ? 1 : 0,
    valid_records: validRecords,
    chunk_total: snapshot.chunk_total ?? body.chunk_total ?? null,
  })
  if (!hasFinal) return partOf(snapshot, 'partial', result)
  const arrived = known === undefined ? [...chunks, chunk] : chunks
  return finish(step, { result, arrived, validRecords })
}

interface LastChunk {
  readonly result: ChunkResult
  readonly arrived: readonly Chunk[]
  readonly validRecords: number
}

/** Ends a snapshot whose final chunk has arrived, if no other chunk is missing. */
async function finish(
  { transaction, snapshots, snapshot, body }: Step,
  { result, arrived, validRecords }: LastChunk,
): Promise<Answered | SyncError> {
  const missing = missingChunks(snapshot.chunk_total ?? body.chunk_total ?? null, arrived)
  if (missing.length > 0) {
    if (body.snapshot_final !== true) return partOf(snapshot, 'partial', result)
    const msg = `This chunk is kept. Others have not arrived: ${missing.join(', ')}.`
    return new SyncError('snapshot_incomplete', msg, { missing })
  }
  if (snapshot.is_full === 1 && validRecords === 0) {
    await snapshots.remove(snapshot.id)
    return new SyncError('snapshot_empty', 'No record of the whole snapshot is valid. Nothing was deleted.')
  }
  if (snapshot.is_full === 1) await transaction.scores.removeOlder(transaction.qq, snapshot.first_turn)
  await snapshots.change(snapshot.id, { state: 'finished' })
  return partOf(snapshot, 'ok', result)
}

/**
 * The chunk that a request repeats: the one with its index, or else one with its records, if only one of the two has an
 * index. So a chunk that comes with and without its index counts once.
 */
function repeatedBy({ body, records }: SyncRequest, chunks: readonly Chunk[]): Chunk | undefined {
  const index = body.chunk_index ?? null
  const withIndex = index === null ? undefined : chunks.find((chunk) => chunk.index === index)
  const isSame = (chunk: Chunk): boolean => chunk.checksum === records.checksum
  return withIndex ?? chunks.find((chunk) => isSame(chunk) && (index === null || chunk.index === null))
}

function conflictOf(
  { snapshot, body, records }: Step,
  known: Chunk | undefined,
  chunks: readonly Chunk[],
): SyncError | undefined {
  const conflict = (msg: string): SyncError => new SyncError('chunk_conflict', msg)
  if (known !== undefined && known.checksum !== records.checksum) {
    return conflict(`Chunk ${known.index} came with other records, of the checksum ${known.checksum}.`)
  }
  if ((body.full_snapshot === true) !== (snapshot.is_full === 1)) {
    return conflict('full_snapshot is not what it was on the first chunk.')
  }
  const { chunk_total: total, chunk_index: index } = body
  const before = snapshot.chunk_total
  if (before !== null && typeof total === 'number' && total !== before) {
    return conflict(`chunk_total was ${before} on an earlier chunk.`)
  }
  if (before !== null && typeof index === 'number' && index >= before) {
    return conflict(`chunk_index is ${index}, and chunk_total was ${before} on an earlier chunk.`)
  }
  const beyond = chunks.find((chunk) => typeof total === 'number' && (chunk.index ?? 0) >= total)
  if (beyond !== undefined) {
    return conflict(`chunk_total is ${total}, and chunk_index was ${beyond.index} on an earlier chunk.`)
  }
  return undefined
}

function partOf({ id }: SnapshotRow, status: SyncAnswer['status'], result: ChunkResult): Answered {
  return { status, snapshot_id: id, result }
}
