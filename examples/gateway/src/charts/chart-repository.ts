import type { Selectable } from 'kysely'
import type { ChartTable, Db } from '../db/schema.ts'
import { type Chart, type ChartKey, chartText, type Level, type NoteCounts } from './chart.ts'

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
              const given = VALUE_COLUMNS.map((column) => [column, ref(`excluded.${column}`)] as const)
              return Object.fromEntries(given)
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
    return new Map(rows.map((row) => [chartText({ musicId: row.music_id, level: row.level }), fromRow(row)]))
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

const VALUE_COLUMNS = [
  'title',
  'type',
  'notes',
  'artist',
  'charter',
  'difficulty',
  'constant_tenths',
  'taps',
  'holds',
  'slides',
  'touches',
  'breaks',
] as const satisfies readonly (keyof ChartTable)[]

const NO_COUNTS = { taps: null, holds: null, slides: null, touches: null, breaks: null }

function toRow({
  musicId,
  level,
  title,
  type,
  notes,
  counts,
  artist,
  charter,
  difficulty,
  constant,
}: Chart): ChartTable {
  const constant_tenths = constant === null ? null : Math.round(constant * 10)
  return {
    music_id: musicId,
    level,
    title,
    type,
    notes,
    artist,
    charter,
    difficulty,
    constant_tenths,
    ...(counts ?? NO_COUNTS),
  }
}

function fromRow(row: Selectable<ChartTable>): Chart {
  const { music_id, level, title, type, notes, artist, charter, difficulty, constant_tenths } = row
  return {
    musicId: music_id,
    level: level as Level,
    title,
    type,
    notes,
    counts: countsOf(row),
    artist,
    charter,
    difficulty,
    constant: constant_tenths === null ? null : constant_tenths / 10,
  }
}

/** The counts are either all known or all unknown. */
function countsOf({ taps, holds, slides, touches, breaks }: Selectable<ChartTable>): NoteCounts | null {
  if (taps === null || holds === null || slides === null || touches === null || breaks === null) return null
  return { taps, holds, slides, touches, breaks }
}
