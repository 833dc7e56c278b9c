import type Database from 'libsql'

/** A tenant as it is stored. */
export interface StoredTenant {
  readonly id: string
  readonly key: string
  readonly perMinute: number | null
  readonly exportsPerDay: number | null
}

/** Makes the table of tenants, and stores these. */
export function createTenants(database: Database.Database, tenants: readonly StoredTenant[]): void {
  database.exec(
    'create table tenants (id text primary key, key text not null unique, perMinute integer, exportsPerDay integer)',
  )
  const insert = database.prepare('insert into tenants values (?, ?, ?, ?)')
  for (const { id, key, perMinute, exportsPerDay } of tenants) insert.run(id, key, perMinute, exportsPerDay)
}
