import { setImmediate } from 'node:timers/promises'
import type { DeleteQueryBuilder, DeleteResult, Insertable } from 'kysely'
import { type ChartKey, chartText } from '../charts/chart.ts'
import type { Db, ScoreTable, Tables } from '../db/schema.ts'
import { isSameRecord, type StoredScore } from './score.ts'

/** How many scores are read and written before other requests get a turn: a few milliseconds in an embedded database. */
const SLICE = 50
/** How many are only read: less work each. */
const READ_SLICE = 500

/** The owner of scores: a user, or an account of score sync without a user. */
export type Owner = { readonly userId: string } | { readonly qq: number }

/** The owner's column. No user's id has a slash. */
function ownerText(owner: Owner): string {
  return 'userId' in owner ? owner.userId : `qq/${owner.qq}`
}

/** One owner's scores. */
export class PlayerScores {
  readonly #db: Db
  readonly #owner: string
  readonly #onChange: () => Promise<void>

  /** @param onChange called after scores were changed */
  constructor(db: Db, owner: Owner, onChange: () => Promise<void> = async () => undefined) {
    this.#db = db
    this.#owner = ownerText(owner)
    this.#onChange = onChange
  }

  /** All scores by music and level. */
  async all(): Promise<StoredScore[]> {
    return this.#ordered().execute()
  }

  /** All scores by music and level, a part at a time. Other requests get their turn in between. */
  async *slices(): AsyncGenerator<readonly StoredScore[]> {
    let last: ChartKey = { musicId: 0, level: 0 }
    for (;;) {
      const { musicId, level } = last
      const slice = await this.#ordered()
        .where(({ or, and, eb }) =>
          or([eb('music_id', '>', musicId), and([eb('music_id', '=', musicId), eb('level', '>', level)])]),
        )
        .limit(READ_SLICE)
        .execute()
      if (slice.length > 0) yield slice
      if (slice.length < READ_SLICE) return
      last = slice.at(-1) ?? last
      await setImmediate()
    }
  }

  /**
   * Writes plays of different charts, in slices that let other requests take turns.
   *
   * @param after the score to store for a play; `undefined`: nothing changes
   * @returns how many scores are new, and how many others have another record now
   */
  async write<Key extends ChartKey>(
    plays: readonly Key[],
    after: (play: Key, before: StoredScore | undefined) => StoredScore | undefined,
  ): Promise<{ readonly created: number; readonly updated: number }> {
    // In the order of the music, so that the levels of one piece are read once.
    const ordered = plays.toSorted((a, b) => a.musicId - b.musicId)
    let created = 0
    let updated = 0
    for (let start = 0; start < ordered.length; start += SLICE) {
      const slice = ordered.slice(start, start + SLICE)
      const stored = new Map((await this.ofMusic(slice)).map((score) => [chartText(score), score]))
      const written = slice.flatMap((play) => {
        const before = stored.get(chartText(play))
        const score = after(play, before)
        if (score === undefined) return []
        if (before === undefined) created++
        else if (!isSameRecord(before, score)) updated++
        return [score]
      })
      await this.putAll(written)
      if (start + SLICE < ordered.length) await setImmediate()
    }
    if (created + updated > 0) await this.#onChange()
    return { created, updated }
  }

  /** The scores of some music, at all levels. */
  async ofMusic(keys: readonly ChartKey[]): Promise<StoredScore[]> {
    const ids = [...new Set(keys.map(({ musicId }) => musicId))]
    return this.#ordered().where('music_id', 'in', ids).execute()
  }

  /** Stores scores of different charts, replacing existing ones. At most a few hundred. */
  async putAll(scores: readonly StoredScore[]): Promise<void> {
    if (scores.length === 0) return
    await this.#db
      .insertInto('scores')
      .values(scores.map((score) => toRow(this.#owner, score)))
      .onConflict((conflict) =>
        conflict.columns(['owner', 'music_id', 'level']).doUpdateSet(({ ref }) => {
          return Object.fromEntries(VALUE_COLUMNS.map((column) => [column, ref(`excluded.${column}`)]))
        }),
      )
      .execute()
  }

  /** @returns whether it existed */
  async remove({ musicId, level }: ChartKey): Promise<boolean> {
    return (await this.#delete((all) => all.where('music_id', '=', musicId).where('level', '=', level))) > 0
  }

  /** Deletes scores that an account's sync wrote completely and that are not in its writes since `turn`. */
  async removeOlder(qq: number, turn: number): Promise<number> {
    return this.#delete((all) =>
      all.where('source', '=', 'bot').where('sync_qq', '=', qq).where('sync_turn', '<', turn),
    )
  }

  /** @returns how many there were */
  async removeAll(): Promise<number> {
    return this.#delete((all) => all)
  }

  async count(): Promise<number> {
    const { count } = await this.#db
      .selectFrom('scores')
      .select(({ fn }) => fn.countAll().as('count'))
      .where('owner', '=', this.#owner)
      .executeTakeFirstOrThrow()
    return Number(count)
  }

  #ordered() {
    const all = this.#db.selectFrom('scores').select(COLUMNS).where('owner', '=', this.#owner)
    return all.orderBy('music_id').orderBy('level').$narrowType<Pick<StoredScore, 'level'>>()
  }

  async #delete(which: (all: Deletion) => Deletion): Promise<number> {
    const all = this.#db.deleteFrom('scores').where('owner', '=', this.#owner)
    const { numDeletedRows } = await which(all).executeTakeFirstOrThrow()
    if (numDeletedRows > 0n) await this.#onChange()
    return Number(numDeletedRows)
  }
}

type Deletion = DeleteQueryBuilder<Tables, 'scores', DeleteResult>

/** The columns, under the names of {@link StoredScore}. */
const COLUMNS = [
  ...(['music_id as musicId', 'level', 'achievement', 'dx_score as dxScore', 'source'] as const),
  ...(['dx_score_source as dxScoreSource', 'combo_status as comboStatus', 'sync_status as syncStatus'] as const),
  ...(['play_count as playCount', 'played_at as playedAt', 'updated_at as updatedAt'] as const),
  ...(['sync_qq as syncQq', 'sync_turn as syncTurn'] as const),
]

const VALUE_COLUMNS = [
  ...(['achievement', 'dx_score', 'dx_score_source', 'combo_status', 'sync_status', 'play_count'] as const),
  ...(['source', 'played_at', 'updated_at', 'sync_qq', 'sync_turn'] as const),
] satisfies (keyof ScoreTable)[]

function toRow(owner: string, score: StoredScore): Insertable<ScoreTable> {
  return {
    owner,
    music_id: score.musicId,
    level: score.level,
    achievement: score.achievement,
    dx_score: score.dxScore,
    dx_score_source: score.dxScoreSource,
    combo_status: score.comboStatus,
    sync_status: score.syncStatus,
    play_count: score.playCount,
    source: score.source,
    played_at: score.playedAt,
    updated_at: score.updatedAt,
    sync_qq: score.syncQq,
    sync_turn: score.syncTurn,
  }
}
