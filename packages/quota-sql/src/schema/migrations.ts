import { kindOf, refusedOptions } from '@scoregw/quota/internal'
import { type Kysely, type Migration, Migrator, sql } from 'kysely'
import { dialectOf } from './kysely.ts'
import { parseSchemaOptions, type SchemaOptions } from './options.ts'
import { tableNames, tableStatements, textOf } from './tables.ts'

/**
 * The tables of this package as migrations for kysely's `Migrator`. Their names begin with the prefix, so you can
 * spread them into your application's own migrations.
 *
 * @throws {QuotaError} `invalid_options`
 */
export function quotaMigrations(options: SchemaOptions): Record<string, Migration> {
  const { dialect, prefix, schema } = parseSchemaOptions(options)
  const names = tableNames(prefix, schema)
  return {
    [`${prefix}-0001`]: {
      async up(db) {
        for (const statement of tableStatements(dialect, names)) await sql.raw(statement).execute(db.withoutPlugins())
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
  const { prefix, dialect, schema } = parseSchemaOptions(options)
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
    db: db.withoutPlugins(),
    provider: { getMigrations: async () => migrations },
    migrationTableName: `${prefix}_migrations`,
    migrationLockTableName: `${prefix}_migrations_lock`,
    ...(schema === undefined ? {} : { migrationTableSchema: schema }),
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
  const { dialect, prefix, schema } = parseSchemaOptions(options)
  return textOf(tableStatements(dialect, tableNames(prefix, schema)))
}
