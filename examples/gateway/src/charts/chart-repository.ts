import type { Db } from '../db/schema.ts'
import { type Chart, type ChartKey, chartText, type Level } from './chart.ts'

/** The charts that scores can be of. */
export class ChartRepository {
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  /** Adds charts; those that are there stay as they are. */
  async addMissing(charts: readonly Chart[]): Promise<void> {
    const rows = charts.map(({ musicId, ...rest }) => ({ music_id: musicId, ...rest }))
    await this.#db
      .insertInto('charts')
      .values(rows)
      .onConflict((conflict) => conflict.columns(['music_id', 'level']).doNothing())
      .execute()
  }

  /** Every chart of some music, by {@link chartText}. */
  async ofMusic(keys: readonly ChartKey[]): Promise<Map<string, Chart>> {
    const ids = [...new Set(keys.map(({ musicId }) => musicId))]
    const rows = await this.#db.selectFrom('charts').selectAll().where('music_id', 'in', ids).execute()
    const charts = rows.map(({ music_id, level, ...rest }) => ({ musicId: music_id, level: level as Level, ...rest }))
    return new Map(charts.map((chart) => [chartText(chart), chart]))
  }
}
