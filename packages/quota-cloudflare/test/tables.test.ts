import { quotaSchemaSql } from '@scoregw/quota-sql'
import { syncSqliteStore } from '@scoregw/quota-sql/sqlite'
import Database from 'libsql'
import { expect, it } from 'vitest'
import { createTables } from '../src/tables.ts'

/** The tables and indexes of a database, with the statements that created them. */
const schemaOf = (database: Database.Database): unknown[] =>
  database.prepare('select name, sql from sqlite_master order by name').all()

const namesIn = (database: Database.Database): unknown[] =>
  database.prepare("select name from sqlite_master where name like 'quota_%'").all()

/** An object's tables, created as each of its starts does. */
function ofObject(database = new Database(':memory:')): Database.Database {
  const exec = (text: string) => {
    const rows = text.startsWith('pragma') ? database.prepare(text).all() : []
    if (!text.startsWith('pragma')) database.exec(text)
    return { toArray: () => rows as Record<string, unknown>[] }
  }
  createTables({ exec })
  return database
}

it('a Durable Object has the migrations’ tables, and creating them again changes nothing', () => {
  const migrated = new Database(':memory:')
  migrated.exec(quotaSchemaSql({ dialect: 'sqlite' }))
  const own = ofObject(ofObject())
  expect(schemaOf(own)).toEqual(schemaOf(migrated))
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
