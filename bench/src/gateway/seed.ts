import { createHash } from 'node:crypto'
import { join } from 'node:path'
import Database from 'libsql'

/** Levels per song in the seeded charts. */
const LEVELS = 5
const FIRST_MUSIC_ID = 1_000
const NOTES = 700

export interface SeedOptions {
  readonly players: number
  readonly scoresEach: number
}

/** A chart of the seed, by number. */
export function chartOf(index: number): { readonly musicId: number; readonly level: number } {
  return { musicId: FIRST_MUSIC_ID + Math.floor(index / LEVELS), level: index % LEVELS }
}

/** A player's gateway token. */
export function tokenOf(player: number): string {
  return `gw_bench-player-${String(player).padStart(6, '0')}`
}

/** Writes players, charts and scores directly to the database of a gateway, which has created its tables. */
export function seed(dataDir: string, { players, scoresEach }: SeedOptions): void {
  const file = new Database(join(dataDir, 'gateway.sqlite'))
  file.pragma('busy_timeout = 5000')
  file.exec('begin immediate')
  const user = file.prepare('insert into users (id, name, role, created_at, touched_at) values (?, ?, ?, 0, 0)')
  const token = file.prepare('insert into gateway_tokens (id, user_id, hash, label, created_at) values (?, ?, ?, ?, 0)')
  for (let player = 0; player < players; player++) {
    const id = `player-${player}`
    user.run(id, id, 'player')
    token.run(id, id, createHash('sha256').update(tokenOf(player)).digest('hex'), '')
  }
  const numbers = `with recursive numbers (n) as (select 0 union all select n + 1 from numbers where n < ${scoresEach - 1})`
  const chart = `${FIRST_MUSIC_ID} + n / ${LEVELS}, n % ${LEVELS}`
  file.exec(`${numbers} insert into charts (music_id, level, title, type, notes)
    select ${chart}, 'Music ' || n, 'standard', ${NOTES} from numbers`)
  // In the order of the table's key, which is the fastest.
  file.exec(`${numbers} insert into scores (user_id, music_id, level, achievement, dx_score, dx_score_source,
    combo_status, sync_status, play_count, source, played_at, updated_at) select users.id, ${chart}, 950000 + n,
    1000 + n % 1000, 'exact', n % 5, n % 6, null, 'api', null, 0 from users, numbers where users.id like 'player-%' order by users.id, n`)
  file.exec('commit')
  // Empties the write-ahead log, so that no reader has to search it.
  file.pragma('wal_checkpoint(truncate)')
  file.close()
}
