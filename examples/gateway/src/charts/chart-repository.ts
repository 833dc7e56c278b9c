import type { Selectable } from 'kysely'
import type { ChartTable, Db } from '../db/schema.ts'
import { type Chart, type ChartKey, chartText, type Level } from './chart.ts'

/** How many charts go into one statement: databases limit its parameters. */
const CHARTS_A_STATEMENT = 500

/** The known charts. Scores can only belong to these. */
export class ChartRepository {
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  /** Adds charts. Existing charts stay as they are. */
  async addMissing(charts: readonly Chart[]): Promise<void> {
    await this.#db
      .insertInto('charts')
      .values(charts.map(toRow))
      .onConflict((conflict) => conflict.columns(['music_id', 'level']).doNothing())
      .execute()
  }

  /**
   * Adds or replaces charts, all or none; other charts stay.
   *
   * @param onProgress called with the number written so far
   */
  async replace(charts: readonly Chart[], onProgress: (done: number) => void = () => undefined): Promise<void> {
    await this.#db.transaction().execute(async (transaction) => {
      for (let start = 0; start < charts.length; start += CHARTS_A_STATEMENT) {
        const rows = charts.slice(start, start + CHARTS_A_STATEMENT).map(toRow)
        await transaction
          .insertInto('charts')
          .values(rows)
          .onConflict((conflict) =>
            conflict.columns(['music_id', 'level']).doUpdateSet(({ ref }) => {
              return Object.fromEntries(COLUMNS.map((column) => [column, ref(`excluded.${column}`)]))
            }),
          )
          .execute()
        onProgress(start + rows.length)
      }
    })
  }

  /** Every chart of some music, by {@link chartText}. */
  async ofMusic(keys: readonly ChartKey[]): Promise<Map<string, Chart>> {
    const ids = [...new Set(keys.map(({ musicId }) => musicId))]
    const rows = await this.#db.selectFrom('charts').selectAll().where('music_id', 'in', ids).execute()
    return new Map(rows.map(fromRow).map((chart) => [chartText(chart), chart]))
  }

  async find({ musicId, level }: ChartKey): Promise<Chart | undefined> {
    const row = await this.#db
      .selectFrom('charts')
      .selectAll()
      .where('music_id', '=', musicId)
      .where('level', '=', level)
      .executeTakeFirst()
    return row === undefined ? undefined : fromRow(row)
  }

  /** A page of all charts, by music and level, and their total. */
  async page(offset: number, limit: number): Promise<{ charts: Chart[]; total: number }> {
    const { total } = await this.#db
      .selectFrom('charts')
      .select(({ fn }) => fn.countAll<number | bigint>().as('total'))
      .executeTakeFirstOrThrow()
    const rows = await this.#db
      .selectFrom('charts')
      .selectAll()
      .orderBy('music_id')
      .orderBy('level')
      .offset(offset)
      .limit(limit)
      .execute()
    return { charts: rows.map(fromRow), total: Number(total) }
  }
}

const COLUMNS = ['title', 'type', 'notes', 'counts', 'artist', 'charter', 'difficulty', 'constant'] as const

function toRow({ musicId: music_id, counts, ...chart }: Chart): ChartTable {
  return { ...chart, music_id, counts: counts && JSON.stringify(counts) }
}

function fromRow({ music_id: musicId, level, counts, ...chart }: Selectable<ChartTable>): Chart {
  return { ...chart, musicId, level: level as Level, counts: counts && JSON.parse(counts) }
}
