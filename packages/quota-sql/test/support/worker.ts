import { argv, kill, pid } from 'node:process'
import { Kysely, PostgresDialect } from 'kysely'
import { postgresStore, sqliteStore } from '../../src/index.ts'
import { poolOf } from './pool.ts'
import { connectTo, kyselyOn } from './sqlite.ts'
import { piecesOf, quotaOn, type Worked, workOn } from './work.ts'

/** Pieces that are in flight at one time. */
const AT_ONCE = 4
const MOST = 1_000

/**
 * Does work until it is killed, and reports how many pieces were done. It may have to die by itself, as by `kill -9`,
 * when it has charged for one piece more than so many, before the end of that one's transaction.
 */
const [, , place = '', seed = '0', name = '', diesAfter = 'Infinity'] = argv
const [db, quota] = place.startsWith('postgres') ? onPostgres() : onSqlite()
const pieces = piecesOf(Number(seed), MOST)
let done = 0
let chargesLeft = Number(diesAfter)
const charged = (): void => {
  if (chargesLeft-- === 0) kill(pid, 'SIGKILL')
}
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    for (let piece = pieces.pop(); piece !== undefined; piece = pieces.pop()) {
      if ((await workOn(db, quota, piece, charged)) !== 'done') continue
      done++
      process.send?.(done)
    }
  }),
)

function onPostgres() {
  const pool = poolOf(place, { max: AT_ONCE, application_name: name })
  const store = postgresStore({ pool: poolOf(place, { application_name: name }), deadlineMs: 5_000 })
  return [new Kysely<Worked>({ dialect: new PostgresDialect({ pool }) }), quotaOn(store, 1e9)] as const
}

function onSqlite() {
  const database = connectTo(place)
  const db = kyselyOn(database) as Kysely<Worked>
  return [db, quotaOn(sqliteStore({ database, db, deadlineMs: 5_000 }), 1e9)] as const
}
