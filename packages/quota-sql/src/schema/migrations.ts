import { kindOf, refusedOptions } from '@scoregw/quota/options'
import {
  DummyDriver,
  Kysely,
  type Migration,
  Migrator,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { tableStatements } from './create.ts'
import { dialectOf } from './dialect.ts'
import { parseSchemaOptions, type SchemaOptions } from './options.ts'
import { type SqlDialect, tableNames } from './tables.ts'

/**
 * The tables of this package as migrations for kysely's `Migrator`. Their names begin with the prefix, so you can
 * spread them into your application's own migrations.
 *
 * @throws {QuotaError} `invalid_options`
 */
export function quotaMigrations(options: SchemaOptions): Record<string, Migration> {
  const { dialect, prefix } = parseSchemaOptions(options)
  const names = tableNames(prefix)
  return {
    [`${prefix}-0001`]: {
      async up(db) {
        for (const statement of tableStatements(db, dialect, names)) await statement.execute()
      },
    },
  }
}

/**
 * Migrates the tables to this version's format with kysely's `Migrator`, for applications without their own migrations.
 * Its progress is stored in `<prefix>_migrations`. Processes that start together wait for each other.
 *
 * @throws {QuotaError} `invalid_options`; otherwise the database's error
 */
export async function migrateQuota<Tables>(db: Kysely<Tables>, options: SchemaOptions): Promise<void> {
  const { prefix, dialect } = parseSchemaOptions(options)
  if (typeof db?.getExecutor !== 'function') {
    const message = `expected a Kysely, new Kysely({ dialect }), got ${kindOf(db)}`
    throw refusedOptions('migrateQuota()', [{ path: 'db', message }])
  }
  const spoken = dialectOf(db)
  if (spoken !== dialect) {
    const message = `the Kysely is one on ${spoken ?? 'another database'}`
    throw refusedOptions('migrateQuota()', [{ path: 'dialect', message }])
  }
  const migrations = quotaMigrations(options)
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => migrations },
    migrationTableName: `${prefix}_migrations`,
    migrationLockTableName: `${prefix}_migrations_lock`,
  })
  const { error } = await migrator.migrateToLatest()
  if (error !== undefined) throw error
}

/**
 * The migrations as SQL, for other migration tools.
 *
 * @throws {QuotaError} `invalid_options`
 */
export function quotaSchemaSql(options: SchemaOptions): string {
  const { dialect, prefix } = parseSchemaOptions(options)
  const db = compilerOf(dialect)
  return tableStatements(db, dialect, tableNames(prefix))
    .map((statement) => `${statement.compile().sql};\n`)
    .join('')
}

/** A Kysely that compiles statements of a dialect, and executes none. */
function compilerOf(dialect: SqlDialect): Kysely<unknown> {
  const isPostgres = dialect === 'postgres'
  return new Kysely({
    dialect: {
      createAdapter: () => (isPostgres ? new PostgresAdapter() : new SqliteAdapter()),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => (isPostgres ? new PostgresIntrospector(db) : new SqliteIntrospector(db)),
      createQueryCompiler: () => (isPostgres ? new PostgresQueryCompiler() : new SqliteQueryCompiler()),
    },
  })
}
