import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { ChartKey } from '../charts/chart.ts'
import type { Db, ScoreTable } from '../db/schema.ts'
import type { StoredScore } from '../scores/score.ts'
import { storedScoreOf } from '../scores/score-repository.ts'

/** A score, with its origin in score sync. */
export interface OwnedScore extends StoredScore {
  /** The account of score sync that wrote the whole score; `null` if none did. */
  readonly syncQq: number | null
  /** The number of that account's write which last had it. */
  readonly syncTurn: number | null
}

/** The owner of scores: a user, or an account of score sync without a user. */
export type Owner = { readonly userId: string } | { readonly qq: number }

const COLUMNS = [
  'music_id',
  'level',
  'achievement',
  'dx_score',
  'dx_score_source',
  'combo_status',
  'sync_status',
  'play_count',
  'source',
  'played_at',
  'updated_at',
  'sync_qq',
  'sync_turn',
] as const

type Row = Selectable<Pick<ScoreTable, (typeof COLUMNS)[number]>>

const COLUMN_LIST = sql.join(COLUMNS.map((column) => sql.ref(column)))
const OVERWRITES = sql.join(
  COLUMNS.slice(2).map((column) => sql`${sql.ref(column)} = ${sql.ref(`excluded.${column}`)}`),
)

/** One owner's scores, in either of two tables that have the same columns. */
export class OwnedScores {
  readonly #db: Db
  readonly #table: RawBuilder<unknown>
  readonly #column: RawBuilder<unknown>
  readonly #owner: string | number

  constructor(db: Db, owner: Owner) {
    const isUser = 'userId' in owner
    this.#db = db
    this.#table = sql.table(isUser ? 'scores' : 'sync_scores')
    this.#column = sql.ref(isUser ? 'user_id' : 'qq')
    this.#owner = isUser ? owner.userId : owner.qq
  }

  /** The scores of some music, at all levels. At most a few hundred. */
  async ofMusic(keys: readonly ChartKey[]): Promise<OwnedScore[]> {
    const ids = [...new Set(keys.map(({ musicId }) => musicId))]
    const { rows } = await sql<Row>`
      select ${COLUMN_LIST} from ${this.#table} where ${this.#isOwners()} and music_id in (${sql.join(ids)})
    `.execute(this.#db)
    return rows.map(fromRow)
  }

  /** Up to `limit` scores after a chart, by music and level. */
  async after({ musicId, level }: ChartKey, limit: number): Promise<OwnedScore[]> {
    const { rows } = await sql<Row>`
      select ${COLUMN_LIST} from ${this.#table}
      where ${this.#isOwners()} and (music_id > ${musicId} or (music_id = ${musicId} and level > ${level}))
      order by music_id, level limit ${limit}
    `.execute(this.#db)
    return rows.map(fromRow)
  }

  /** Stores scores of different charts, replacing existing ones. At most a few hundred. */
  async putAll(scores: readonly OwnedScore[]): Promise<void> {
    if (scores.length === 0) return
    const rows = scores.map((score) => sql`(${sql.join([this.#owner, ...valuesOf(score)])})`)
    await sql`
      insert into ${this.#table} (${this.#column}, ${COLUMN_LIST}) values ${sql.join(rows)}
      on conflict (${this.#column}, music_id, level) do update set ${OVERWRITES}
    `.execute(this.#db)
  }

  /** Deletes scores that an account's sync wrote completely and that are not in its writes since `turn`. */
  async removeOlder(qq: number, turn: number): Promise<number> {
    const { numAffectedRows = 0n } = await sql`
      delete from ${this.#table}
      where ${this.#isOwners()} and source = 'bot' and sync_qq = ${qq} and sync_turn < ${turn}
    `.execute(this.#db)
    return Number(numAffectedRows)
  }

  async removeAll(): Promise<void> {
    await sql`delete from ${this.#table} where ${this.#isOwners()}`.execute(this.#db)
  }

  async count(): Promise<number> {
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from ${this.#table} where ${this.#isOwners()}
    `.execute(this.#db)
    return Number(rows[0]?.count ?? 0)
  }

  #isOwners(): RawBuilder<unknown> {
    return sql`${this.#column} = ${this.#owner}`
  }
}

function valuesOf(score: OwnedScore): (string | number | null)[] {
  return [
    score.musicId,
    score.level,
    score.achievement,
    score.dxScore,
    score.dxScoreSource,
    score.comboStatus,
    score.syncStatus,
    score.playCount,
    score.source,
    score.playedAt,
    score.updatedAt,
    score.syncQq,
    score.syncTurn,
  ]
}

function fromRow(row: Row): OwnedScore {
  return { ...storedScoreOf(row), syncQq: row.sync_qq, syncTurn: row.sync_turn }
}
