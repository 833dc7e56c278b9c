import type { Clock } from '@scoregw/quota'
import type * as z from 'zod'
import { type Chart, type ChartKey, chartText, dxScoreMax, leastDxScore, MAX_STARS } from '../charts/chart.ts'
import type { ChartRepository } from '../charts/chart-repository.ts'
import type { Db } from '../db/schema.ts'
import { type Charge, type PlayerTransaction, withPlayer } from '../db/with-player.ts'
import { type Detail, type ErrorCode, HttpError, invalid } from '../http/http-error.ts'
import type { deleteAnswer, UpsertAnswer, UpsertBody } from './bodies.ts'
import { type ImportCounts, importBest } from './import-best.ts'
import { PlayerScores } from './player-scores.ts'
import { type Play, type PlayRecord, replacing, type Score, toScore } from './score.ts'

type UpsertResult = UpsertAnswer['businessData']['results'][number]
type DeleteResult = z.output<typeof deleteAnswer>['businessData']['results'][number]

/** A player's plays as another service recorded them. */
export interface Recorded {
  readonly source: Score['source']
  readonly plays: readonly PlayRecord[]
  /** Absent if it is unknown. */
  readonly rating?: number | undefined
}

/** Operations on players' scores. Each change is one transaction, all of it or nothing. */
export class ScoreService {
  readonly #db: Db
  readonly #charts: ChartRepository
  readonly #clock: Clock

  constructor(db: Db, charts: ChartRepository, clock: Clock) {
    this.#db = db
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
   * Stores plays, replacing existing ones.
   *
   * @param charge called at the beginning of their transaction
   */
  async upsert(userId: string, plays: readonly ChartedPlay[], charge?: Charge): Promise<UpsertResult[]> {
    const charts = new Map(plays.map(({ play, chart }) => [chartText(play), chart]))
    const results = new Map<string, UpsertResult>()
    await this.#change(userId, charge, async (scores, { now }) => {
      const written = plays.map(({ play }) => play)
      await scores.write(written, (play, before) => {
        const after = replacing(play, before, now)
        const score = after ?? before
        const { musicId, level } = play
        const written = before === undefined ? 'created' : 'updated'
        const status = after === undefined ? 'unchanged' : written
        const key = chartText(play)
        if (score !== undefined) results.set(key, { musicId, level, status, score: toScore(score, charts.get(key)) })
        return after
      })
    })
    return [...charts.keys()].flatMap((key) => results.get(key) ?? [])
  }

  /**
   * Deletes the scores of charts.
   *
   * @throws {HttpError} `score_not_found` if none of them exists
   */
  remove(userId: string, keys: readonly ChartKey[], charge?: Charge): Promise<DeleteResult[]> {
    return this.#change(userId, charge, async (scores) => {
      const results: DeleteResult[] = []
      for (const { musicId, level } of keys) {
        const isRemoved = await scores.remove({ musicId, level })
        results.push({ musicId, level, status: isRemoved ? 'deleted' : 'not_found' })
      }
      if (results.some(({ status }) => status === 'deleted')) return results
      throw new HttpError('score_not_found', 'These charts have no scores.')
    })
  }

  /** Deletes every score of a player. @returns how many there were */
  clear(userId: string, charge?: Charge): Promise<number> {
    return this.#change(userId, charge, (scores) => scores.removeAll())
  }

  /** Merges recorded plays into a player's scores, keeping the best of each field. */
  importBest(userId: string, { source, plays, rating }: Recorded): Promise<ImportCounts> {
    return this.#change(userId, undefined, async (scores, player) => {
      if (rating !== undefined) await setRating(player, userId, rating)
      return importBest(scores, plays, { source, updatedAt: player.now })
    })
  }

  /** All scores of a player. */
  async all(userId: string): Promise<Score[]> {
    const stored = await new PlayerScores(this.#db, { userId }).all()
    const charts = stored.length === 0 ? new Map<string, Chart>() : await this.#charts.ofMusic(stored)
    return stored.map((score) => toScore(score, charts.get(chartText(score))))
  }

  #change<T>(
    userId: string,
    charge: Charge | undefined,
    work: (scores: PlayerScores, player: PlayerTransaction) => Promise<T>,
  ): Promise<T> {
    const inside = (player: PlayerTransaction): Promise<T> => {
      return work(new PlayerScores(player.db, { userId }, player.markChanged), player)
    }
    return withPlayer(this.#db, this.#clock, userId, inside, charge)
  }
}

/** Stores the player's rating, as reported by a source. */
async function setRating({ db, markChanged }: PlayerTransaction, userId: string, rating: number): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('users')
    .set({ player_rating: rating })
    .where('id', '=', userId)
    .where('player_rating', '!=', rating)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows > 0n) await markChanged()
}

/** A play and its chart. */
export interface ChartedPlay {
  readonly play: Play
  readonly chart: Chart
}

/** More than any chart has: the maximum for charts whose own is unknown. */
const MOST_DX_SCORE = 99_999

type Entry = UpsertBody['musicList'][number]

interface EntryFault extends Detail {
  readonly code: ErrorCode
}

/**
 * Converts a request's entries to plays, with their charts.
 *
 * @throws {HttpError} with the code of the first fault, naming all of them
 */
function resolvePlays(entries: readonly Entry[], charts: ReadonlyMap<string, Chart>): ChartedPlay[] {
  const faults: EntryFault[] = []
  const plays = entries.flatMap((entry, index): ChartedPlay[] => {
    const path = `musicList.${index}`
    const chart = charts.get(chartText(entry))
    if (chart === undefined) {
      const msg = `there is no chart of music ${entry.musicId} at level ${entry.level}`
      faults.push({ code: 'unknown_chart', path, msg })
      return []
    }
    const dxScore = entry.fuzzy ? fuzzyDxScore(entry, chart) : exactDxScore(entry, chart)
    if (typeof dxScore !== 'number') {
      faults.push({ ...dxScore, path: `${path}.dxScore` })
      return []
    }
    const { musicId, level, achievement, comboStatus, syncStatus, fuzzy } = entry
    const dxScoreSource = fuzzy ? 'fuzzy' : 'exact'
    return [{ chart, play: { musicId, level, achievement, dxScore, dxScoreSource, comboStatus, syncStatus } }]
  })
  const [first] = faults
  if (first === undefined) return plays
  throw invalid(
    faults.map(({ path, msg }) => ({ path, msg })),
    first.code,
  )
}

function exactDxScore({ dxScore }: Entry, { notes }: Chart): number | Omit<EntryFault, 'path'> {
  const max = dxScoreMax(notes) ?? MOST_DX_SCORE
  if (dxScore <= max) return dxScore
  return { code: 'dx_score_too_high', msg: `${dxScore} is above the chart's maximum of ${max}` }
}

function fuzzyDxScore({ dxScore: stars }: Entry, { notes }: Chart): number | Omit<EntryFault, 'path'> {
  if (stars > MAX_STARS) {
    return { code: 'validation_failed', msg: `expected 0 to ${MAX_STARS} stars, since fuzzy is true` }
  }
  const max = dxScoreMax(notes)
  if (max !== null) return leastDxScore(stars, max)
  return { code: 'validation_failed', msg: "the chart's maximum is not known: send the score itself, fuzzy false" }
}
