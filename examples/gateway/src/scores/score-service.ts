import type { Clock } from '@scoregw/quota'
import { type Chart, type ChartKey, chartText } from '../charts/chart.ts'
import type { ChartRepository } from '../charts/chart-repository.ts'
import type { Charge } from '../db/with-player.ts'
import { HttpError } from '../http/http-error.ts'
import type { UpsertBody } from './bodies.ts'
import { type ImportCounts, importBest, type PlayRecord } from './import-best.ts'
import { type ChartedPlay, resolvePlays } from './resolve-plays.ts'
import { isSamePlay, type Score, type StoredScore, toScore } from './score.ts'
import type { PlayerScores, ScoreRepository } from './score-repository.ts'

export interface UpsertResult {
  readonly musicId: number
  readonly level: number
  readonly status: 'created' | 'updated' | 'unchanged'
  readonly score: Score
}

export interface DeleteResult {
  readonly musicId: number
  readonly level: number
  readonly status: 'deleted' | 'not_found'
}

/** A player's plays as another service recorded them. */
export interface Recorded {
  readonly source: Score['source']
  readonly plays: readonly PlayRecord[]
  /** Absent if it is unknown. */
  readonly rating?: number | undefined
}

/** Operations on players' scores. */
export class ScoreService {
  readonly #scores: ScoreRepository
  readonly #charts: ChartRepository
  readonly #clock: Clock

  constructor(scores: ScoreRepository, charts: ChartRepository, clock: Clock) {
    this.#scores = scores
    this.#charts = charts
    this.#clock = clock
  }

  /**
   * Finds the charts of an upsert's entries and computes their DX scores.
   *
   * @throws {HttpError} `unknown_chart`, `dx_score_too_high`, `validation_failed`, naming every fault
   */
  async resolve({ musicList }: UpsertBody): Promise<readonly ChartedPlay[]> {
    return resolvePlays(musicList, await this.#charts.ofMusic(musicList))
  }

  /**
   * Stores plays, replacing existing ones; all of them or none.
   *
   * @param charge called at the beginning of their transaction
   */
  async upsert(userId: string, plays: readonly ChartedPlay[], charge?: Charge): Promise<UpsertResult[]> {
    const keys = plays.map(({ play }) => play)
    const work = async (scores: PlayerScores): Promise<UpsertResult[]> => {
      const stored = byChart(await scores.ofMusic(keys))
      const results: UpsertResult[] = []
      const changed: StoredScore[] = []
      for (const { play, chart } of plays) {
        const { musicId, level } = play
        const before = stored.get(chartText(play))
        if (before !== undefined && isSamePlay(before, play)) {
          results.push({ musicId, level, status: 'unchanged', score: toScore(before, chart) })
          continue
        }
        const updatedAt = this.#clock.now()
        const after: StoredScore = { playCount: null, playedAt: null, ...before, ...play, source: 'api', updatedAt }
        changed.push(after)
        const status = before === undefined ? 'created' : 'updated'
        results.push({ musicId, level, status, score: toScore(after, chart) })
      }
      await scores.putAll(changed)
      return results
    }
    return this.#scores.change(userId, work, charge)
  }

  /**
   * Deletes the scores of charts.
   *
   * @throws {HttpError} `score_not_found` if none of them exists
   */
  async remove(userId: string, keys: readonly ChartKey[], charge?: Charge): Promise<DeleteResult[]> {
    const work = async (scores: PlayerScores): Promise<DeleteResult[]> => {
      const results: DeleteResult[] = []
      for (const { musicId, level } of keys) {
        const isRemoved = await scores.remove({ musicId, level })
        results.push({ musicId, level, status: isRemoved ? 'deleted' : 'not_found' })
      }
      if (results.some(({ status }) => status === 'deleted')) return results
      throw new HttpError('score_not_found', 'These charts have no scores.')
    }
    return this.#scores.change(userId, work, charge)
  }

  /** Deletes every score of a player. @returns how many there were */
  async clear(userId: string, charge?: Charge): Promise<number> {
    return this.#scores.change(userId, (scores) => scores.removeAll(), charge)
  }

  /** Merges recorded plays into a player's scores, keeping the best of each field; all of them or none. */
  async importBest(userId: string, { source, plays, rating }: Recorded): Promise<ImportCounts> {
    return this.#scores.change(userId, async (scores) => {
      if (rating !== undefined) await scores.setRating(rating)
      return importBest(scores, plays, { source, updatedAt: this.#clock.now() })
    })
  }

  /** All scores of a player. */
  async all(userId: string): Promise<Score[]> {
    const stored = await this.#scores.all(userId)
    const charts = stored.length === 0 ? new Map<string, Chart>() : await this.#charts.ofMusic(stored)
    return stored.map((score) => toScore(score, charts.get(chartText(score))))
  }
}

function byChart(scores: readonly StoredScore[]): Map<string, StoredScore> {
  return new Map(scores.map((score) => [chartText(score), score]))
}
