import { quotaSchemaSql } from '@scoregw/quota-sql'
import { syncSqliteStore } from '@scoregw/quota-sql/sqlite'
import Database from 'libsql'
import { expect, it } from 'vitest'
import { createTables } from '../src/tables.ts'

/** The tables and indexes of a database by their names, as statements without quotes and names of constraints. */
function schemaOf(database: Database.Database): Record<string, string> {
  const rows = database.prepare('select name, sql from sqlite_master where sql is not null').all()
  return Object.fromEntries(
    (rows as { readonly name: string; readonly sql: string }[]).map(({ name, sql }) => [
      name,
      sql
        .toLowerCase()
        .replaceAll('"', '')
        .replaceAll(/constraint \w+ /g, ''),
    ]),
  )
}

const namesIn = (database: Database.Database): unknown[] =>
  database.prepare("select name from sqlite_master where name like 'quota_%'").all()

/** An object's tables, created as each of its starts does. */
function ofObject(database = new Database(':memory:')): Database.Database {
  const exec = (text: string) => {
    const statement = database.prepare(text)
    if (!statement.reader) statement.run()
    const rows = statement.reader ? statement.all() : []
    return { toArray: () => rows as Record<string, unknown>[] }
  }
  createTables({ exec })
  return database
}

it('a Durable Object has the migrations’ tables, and creating them again changes nothing', () => {
  const migrated = new Database(':memory:')
  migrated.exec(quotaSchemaSql({ dialect: 'sqlite' }))
  const own = ofObject(ofObject())
  const all = schemaOf(migrated)
  expect(Object.keys(schemaOf(own)).length).toBe(10)
  for (const [name, sql] of Object.entries(schemaOf(own))) expect(sql).toBe(all[name])
  const version = 'select version from quota_format'
  expect(own.prepare(version).all()).toEqual(migrated.prepare(version).all())
})

it('a Durable Object leaves tables of another version alone, and its store reports them', () => {
  const database = new Database(':memory:')
  database.exec('create table quota_format (version integer not null); insert into quota_format values (7)')
  database.exec('create table quota_rows (another text)')
  const before = namesIn(database)
  ofObject(database)
  expect(namesIn(database)).toEqual(before)
  expect(() => syncSqliteStore({ database })).toThrowError(expect.objectContaining({ code: 'other_version' }))
})
