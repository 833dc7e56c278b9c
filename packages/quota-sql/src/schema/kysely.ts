import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryExecutorProvider,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely'
import type { SqlDialect } from './tables.ts'

/** The same database without the plugins of its Kysely, which may rename our columns or tables. */
export function withoutPlugins(db: QueryExecutorProvider): QueryExecutorProvider {
  return { getExecutor: () => db.getExecutor().withoutPlugins() }
}

/** A connection in an open transaction, of any kind that users have, as Kysely. */
export interface Transacted extends QueryExecutorProvider {
  executeQuery(query: CompiledQuery): Promise<{ readonly rows: unknown[] }>
}

/** A client of pg, or an object that has another library run a query: what is used of it. */
interface PgClient {
  query(text: string, values: unknown[]): Promise<{ readonly rows: unknown[] }>
  /** Newer clients report `I` outside of transactions. */
  getTransactionStatus?(): unknown
}

const CLIENTS = new WeakMap<object, Transacted>()

/**
 * What runs queries in a transaction of PostgreSQL: kysely's `Transaction`, a client of pg, or an object with `query`.
 * `undefined`: it is none of them.
 */
export function postgresTransaction(value: unknown): Transacted | undefined {
  if (isKyselyTransaction(value)) return value.withoutPlugins()
  if (!isPgClient(value) || value.getTransactionStatus?.() === 'I') return undefined
  const known = CLIENTS.get(value) ?? onConnection('postgres', (text, values) => value.query(text, values))
  CLIENTS.set(value, known)
  return known
}

/** A connection of better-sqlite3, libsql or `node:sqlite`: what is used of it. */
interface SqliteClient {
  prepare(text: string): { all(...values: unknown[]): unknown }
}

/**
 * What runs queries in a transaction of SQLite: kysely's `Transaction`, or a connection. `undefined`: it is neither.
 */
export function sqliteTransaction(value: unknown): Transacted | undefined {
  if (isKyselyTransaction(value)) return value.withoutPlugins()
  if (!isSqliteClient(value)) return undefined
  const query = async (text: string, values: unknown[]) => ({ rows: value.prepare(text).all(...values) as unknown[] })
  const known = CLIENTS.get(value) ?? onConnection('sqlite', query)
  CLIENTS.set(value, known)
  return known
}

/** A Kysely whose queries all go to one connection. */
function onConnection(
  dialect: SqlDialect,
  query: (text: string, values: unknown[]) => Promise<{ readonly rows: unknown[] }>,
): Kysely<unknown> {
  const connection: DatabaseConnection = {
    async executeQuery<Row>({ sql, parameters }: CompiledQuery) {
      const { rows } = await query(sql, [...parameters])
      return { rows: rows as Row[] }
    },
    streamQuery: () => {
      throw new TypeError('nothing is streamed')
    },
  }
  return new Kysely({ dialect: dialectFor(dialect, connection) })
}

function dialectFor(dialect: SqlDialect, connection: DatabaseConnection): Dialect {
  const isPostgres = dialect === 'postgres'
  const nothing = async (): Promise<void> => undefined
  return {
    createAdapter: () => (isPostgres ? new PostgresAdapter() : new SqliteAdapter()),
    createDriver: () => ({
      init: nothing,
      acquireConnection: async () => connection,
      beginTransaction: nothing,
      commitTransaction: nothing,
      rollbackTransaction: nothing,
      releaseConnection: nothing,
      destroy: nothing,
    }),
    createIntrospector: (db) => (isPostgres ? new PostgresIntrospector(db) : new SqliteIntrospector(db)),
    createQueryCompiler: () => (isPostgres ? new PostgresQueryCompiler() : new SqliteQueryCompiler()),
  }
}

function isKyselyTransaction(value: unknown): value is Transacted & { withoutPlugins(): Transacted } {
  return hasMembers(value, 'executeQuery', 'withoutPlugins') && 'isTransaction' in value && value.isTransaction === true
}

function isSqliteClient(value: unknown): value is SqliteClient {
  return hasMembers(value, 'prepare', 'exec')
}

/** A pool has `query` as well, but each of its queries may get another connection. */
function isPgClient(value: unknown): value is PgClient {
  if (!hasMembers(value, 'query') || 'totalCount' in value) return false
  return hasMembers(value, 'escapeIdentifier') || Object.getPrototypeOf(value) === Object.prototype
}

function hasMembers(value: unknown, ...names: readonly string[]): value is object {
  return (
    typeof value === 'object' && value !== null && names.every((name) => typeof Reflect.get(value, name) === 'function')
  )
}

/** How a Kysely writes a name and a value, by dialect. */
const WRITTEN: Readonly<Record<string, SqlDialect>> = { '"a" $1': 'postgres', '"a" ?': 'sqlite' }

/** The dialect of a Kysely; `undefined` if this package doesn't support it. */
export function dialectOf(db: QueryExecutorProvider): SqlDialect | undefined {
  return WRITTEN[sql`${sql.ref('a')} ${1}`.compile(withoutPlugins(db)).sql]
}
