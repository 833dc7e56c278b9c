import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type Database from 'libsql'
import pg from 'pg'

/**
 * A PostgreSQL database as plain SQL. Needs `pg_dump` on PATH, of the server's version or later. {@link loadPostgres}
 * doesn't.
 */
export async function dumpPostgres(url: string): Promise<string> {
  const { stdout } = await promisify(execFile)('pg_dump', ['--inserts', '--no-owner', '--no-privileges', url])
  const isSql = (line: string) => line !== '' && !line.startsWith('--') && !line.startsWith('\\')
  return `${stdout.split('\n').filter(isSql).join('\n')}\n`
}

/** Runs the result of {@link dumpPostgres} in an empty database. */
export async function loadPostgres(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(text)
  } finally {
    await client.end()
  }
}

/** An SQLite database as plain SQL, for the connection's `exec`. */
export function dumpSqlite(database: Database.Database): string {
  const all = <Row>(text: string) => database.prepare(text).all() as Row[]
  const objects = all<{ type: string; name: string; sql: string }>(
    "select type, name, sql from sqlite_schema where sql is not null and name not like 'sqlite_%' order by rowid",
  )
  const inserts = objects
    .filter(({ type }) => type === 'table')
    .flatMap(({ name }) => {
      const columns = all<{ name: string }>(`pragma table_info("${name}")`)
      const values = columns.map((column) => `quote("${column.name}")`).join(` || ', ' || `)
      return all<{ row: string }>(`select ${values} as row from "${name}"`).map(
        ({ row }) => `insert into "${name}" values (${row})`,
      )
    })
  return [...objects.map(({ sql }) => sql), ...inserts].map((statement) => `${statement};\n`).join('')
}
