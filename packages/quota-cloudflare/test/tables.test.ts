import { quotaSchemaSql } from '@scoregw/quota-sql'
import Database from 'libsql'
import { expect, it } from 'vitest'
import { TABLES } from '../src/tables.ts'

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

const made = (statements: readonly string[]): Database.Database => {
  const database = new Database(':memory:')
  for (const text of statements) database.exec(text)
  return database
}

it('a Durable Object has the migrations’ tables, and creating them again changes nothing', () => {
  const [own, migrated] = [made([...TABLES, ...TABLES]), made([quotaSchemaSql({ dialect: 'sqlite' })])]
  const all = schemaOf(migrated)
  expect(Object.keys(schemaOf(own)).length).toBe(10)
  for (const [name, sql] of Object.entries(schemaOf(own))) expect(sql).toBe(all[name])
  const version = 'select version from quota_format'
  expect(own.prepare(version).all()).toEqual(migrated.prepare(version).all())
})
