import type { Clock } from '@scoregw/quota'
import type { Db } from '../db/schema.ts'
import { adoptProfile } from './adopt-scores.ts'
import { answerRequest } from './answer-request.ts'
import type { SyncAnswer, SyncBody } from './bodies.ts'
import { PlayerTurns } from './player-turns.ts'
import { writeRatingDay } from './rating-days.ts'
import { readSyncRecords } from './records.ts'
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
