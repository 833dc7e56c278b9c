/// <reference path="./workers-runtime.d.ts" />

import type { DurableObjectStorage } from 'cloudflare:workers'
import { sqliteTables } from '@scoregw/quota-sql/sqlite'

/** Creates an object's tables at its first start. Those of another version stay: opening the store reports them. */
export function createTables(sql: DurableObjectStorage['sql']): void {
  const [format] = sql.exec("select 1 from sqlite_master where name = 'quota_format'").toArray()
  if (format === undefined) sql.exec(sqliteTables())
}
