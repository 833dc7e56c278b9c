import type { Clock } from '@scoregw/quota'
import type { Db } from '../db/schema.ts'
import { adoptProfile } from './adopt-scores.ts'
import { answerRequest } from './answer-request.ts'
import type { SyncAnswer, SyncBody } from './bodies.ts'
import { PlayerTurns } from './player-turns.ts'
import { writeRatingDay } from './rating-days.ts'
import { readSyncRecords } from './records.ts'
import { SyncError } from './sync-error.ts'

/** Brings players' scores from bots: single pushes, and snapshots in chunks. */
export class SyncService {
  readonly #turns: PlayerTurns

  constructor(db: Db, clock: Clock) {
    this.#turns = new PlayerTurns(db, clock)
  }

  /**
   * Stores a request's records, in one transaction.
   * @param body handed over: its records are taken out of it
   * @throws {SyncError} for everything that the protocol refuses
   */
  async sync(body: SyncBody): Promise<SyncAnswer> {
    return this.#turns.alone(body.qq, async () => {
      const count = body.records.length
      // Taken out, and forgotten once they are read: the transaction may have to wait.
      const records = await readSyncRecords(body.records.splice(0))
      const { checksum } = body
      if (typeof checksum === 'string' && checksum.toLowerCase() !== records.checksum) {
        throw new SyncError('checksum_mismatch', `The records have the checksum ${records.checksum}.`)
      }
      const outcome = await this.#turns.take(body.qq, false, async (turn) => {
        const answer = await answerRequest(turn, { body, count, records })
        await writeRatingDay(turn)
        return answer
      })
      if (outcome instanceof SyncError) throw outcome
      return outcome
    })
  }

  /** Gives a newly linked account the scores kept for it; repeating it does no harm. */
  async adopt(userId: string, qq: number): Promise<void> {
    await this.#turns.take(qq, true, async (turn) => {
      if (turn.userId !== userId) return
      await adoptProfile(turn)
    })
  }
}
