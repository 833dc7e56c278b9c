import { type Mistake, testMistakes } from '@scoregw/mistakes'
import {
  DummyDriver,
  Kysely,
  MysqlAdapter,
  MysqlIntrospector,
  MysqlQueryCompiler,
  PostgresDialect,
  type SqliteDatabase,
  SqliteDialect,
} from 'kysely'
import Database from 'libsql'
import pg from 'pg'
import { describe } from 'vitest'
import {
  migrateQuota,
  postgresStore,
  quotaMigrations,
  quotaSchemaSql,
  sqlFactor,
  sqliteStore,
  sqlOutcomes,
  sqlSettings,
  syncSqliteStore,
} from '../src/index.ts'
import { SCHEMA } from './support/counting.ts'

/** A value that JavaScript, or a cast, lets through. */
type Anything = never

/** Never connects. */
const pool = new pg.Pool({ connectionString: 'postgres://app:secret@localhost/app' })
const postgresDb = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
const empty = new Database(':memory:')
const database = new Database(':memory:')
database.exec(quotaSchemaSql({ dialect: 'sqlite' }))
const newer = new Database(':memory:')
newer.exec(`${quotaSchemaSql({ dialect: 'sqlite' })} update quota_format set version = 3`)
const sqliteDb = new Kysely<unknown>({
  dialect: new SqliteDialect({ database: database as unknown as SqliteDatabase }),
})
const mysqlDb = new Kysely<unknown>({
  dialect: {
    createAdapter: () => new MysqlAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new MysqlIntrospector(db),
    createQueryCompiler: () => new MysqlQueryCompiler(),
  },
})

const postgres = (options: unknown) => () => postgresStore(options as Anything)
const sqlite = (options: unknown) => () => sqliteStore(options as Anything)
const settings = (options: unknown) => () => sqlSettings(options as Anything)
const factor = (options: unknown) => () => sqlFactor(options as Anything)
const invalid = (written: string, make: Mistake['make'], ...says: readonly string[]): Mistake => {
  return { written, make, code: 'invalid_options', says }
}

const mistakes: readonly Mistake[] = [
  invalid('postgresStore()', postgres(undefined), 'postgresStore({ pool })', 'got nothing'),
  invalid('postgresStore(new Pool())', postgres(pool), 'write postgresStore({ pool })'),
  invalid("postgresStore('postgres://app:secret@localhost')", postgres('postgres://app:secret@localhost'), 'a string'),
  invalid("postgresStore({ pool: 'postgres://...' })", postgres({ pool: 'postgres://app:secret@h' }), 'pool: expected'),
  invalid('postgresStore({ pool: Pool })', postgres({ pool: pg.Pool }), 'a class: pass an instance'),
  invalid(
    'postgresStore({ pool: db }), a Kysely',
    postgres({ pool: postgresDb }),
    'pool: expected',
    'without connect()',
  ),
  invalid(
    'postgresStore({ connectionString })',
    postgres({ connectionString: 'postgres://app:secret@localhost' }),
    'pool: missing',
    'connectionString: unknown key; pass `pool`',
  ),
  invalid('postgresStore({ pool, tableName })', postgres({ pool, tableName: 'x' }), 'use `prefix`'),
  invalid('postgresStore({ pool, deadlineMs: 5 })', postgres({ pool, deadlineMs: 5 }), 'deadlineMs: expected'),
  invalid(
    "postgresStore({ pool, prefix: 'My-App' })",
    postgres({ pool, prefix: 'My-App' }),
    'prefix: expected 1 to 30',
  ),
  invalid('sqliteStore({})', sqlite({}), 'database: missing'),
  invalid("sqliteStore({ filename: 'app.sqlite' })", sqlite({ filename: 'app.sqlite' }), 'new Database(filename)'),
  invalid("sqliteStore({ path: 'app.sqlite' })", sqlite({ path: 'app.sqlite' }), 'new Database(path)'),
  invalid("sqliteStore({ database: 'app.sqlite' })", sqlite({ database: 'app.sqlite' }), 'database: expected'),
  invalid('sqliteStore({ database: db }), a Kysely', sqlite({ database: sqliteDb }), 'database: expected'),
  invalid('sqliteStore({ database, db: database })', sqlite({ database, db: database }), 'db: expected a Kysely'),
  invalid(
    "sqliteStore({ database, synchronous: 'off' })",
    sqlite({ database, synchronous: 'off' }),
    'synchronous: expected',
  ),
  invalid(
    'syncSqliteStore({ database, deadlineMs: 100 })',
    () => syncSqliteStore({ database, deadlineMs: 100 } as Anything),
    'deadlineMs: unknown key',
  ),
  {
    written: 'sqliteStore({ database }), before the migrations',
    make: sqlite({ database: empty }),
    code: 'store_error',
    says: ['run the migrations', 'migrateQuota()'],
  },
  {
    written: 'sqliteStore({ database }), tables of a newer version',
    make: sqlite({ database: newer }),
    code: 'other_version',
    says: ['the set of tables has version 3 of its format, and this library reads version 2'],
  },
  invalid(
    'sqliteStore({ database }).inTransaction(SCHEMA, db)',
    () => sqliteStore({ database }).inTransaction(SCHEMA, sqliteDb),
    "kysely's Transaction",
  ),
  invalid('sqlSettings({})', settings({}), 'db: missing'),
  invalid('sqlSettings({ db: pool })', settings({ db: pool }), 'db: expected a Kysely', 'without transaction()'),
  invalid(
    'sqlSettings({ db }), a Kysely on MySQL',
    settings({ db: mysqlDb }),
    'db: expected a Kysely on PostgreSQL or',
  ),
  invalid(
    'sqlSettings({ db, pollMs: 5000 })',
    settings({ db: sqliteDb, pollMs: 5_000 }),
    'pollMs: expected a whole number',
  ),
  invalid('sqlSettings({ db, onWrite: true })', settings({ db: sqliteDb, onWrite: true }), 'onWrite: expected'),
  invalid('sqlFactor(db)', factor(sqliteDb), 'write sqlFactor({ db })'),
  invalid("sqlFactor({ db, prefix: 'quota;' })", factor({ db: sqliteDb, prefix: 'quota;' }), 'prefix: expected'),
  invalid('sqlFactor({ db }), a Kysely on MySQL', factor({ db: mysqlDb }), 'db: expected a Kysely on PostgreSQL or'),
  invalid('sqlOutcomes({ db }), a Kysely on MySQL', () => sqlOutcomes({ db: mysqlDb }), 'db: expected a Kysely on'),
  invalid(
    'sqlOutcomes({ db, pollMs })',
    () => sqlOutcomes({ db: sqliteDb, pollMs: 100 } as Anything),
    'pollMs: unknown',
  ),
  invalid('quotaMigrations()', () => quotaMigrations(undefined as Anything), 'got nothing'),
  invalid(
    "quotaSchemaSql({ dialect: 'mysql' })",
    () => quotaSchemaSql({ dialect: 'mysql' } as Anything),
    'dialect: expected',
  ),
  invalid(
    "migrateQuota(pool, { dialect: 'postgres' })",
    () => migrateQuota({ query: () => undefined } as Anything, { dialect: 'postgres' }),
    'db: expected a Kysely, new Kysely({ dialect }), got an object',
  ),
  invalid(
    "migrateQuota(db, { dialect: 'sqlite' }), a Kysely on PostgreSQL",
    () => migrateQuota(postgresDb, { dialect: 'sqlite' }),
    'the Kysely is one on postgres',
  ),
]

describe('mistakes with quota-sql', () => testMistakes(mistakes, './mistakes.txt'))
