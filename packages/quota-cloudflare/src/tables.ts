/// <reference path="./workers-runtime.d.ts" />

import type { DurableObjectStorage } from 'cloudflare:workers'
import { sqliteTables } from '@scoregw/quota-sql/sqlite'

/** Creates an object's tables at its first start. Those of another version stay: opening the store reports them. */
export function createTables(sql: DurableObjectStorage['sql']): void {
  // Reads a row per column. A query of sqlite_master would read one per table and index.
  const columns = sql.exec('pragma table_info(quota_format)').toArray()
  if (columns.length === 0) sql.exec(sqliteTables())
}
