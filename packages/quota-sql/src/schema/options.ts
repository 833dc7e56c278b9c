import { type Check, type Checks, oneOf, optional, optionsParser, textLike, withDefault } from '@scoregw/quota/internal'
import type { SqlDialect } from './tables.ts'

/** The options of the migrations. */
export interface SchemaOptions {
  readonly dialect: SqlDialect
  /**
   * The beginning of every table's name. Use the same as for the stores.
   *
   * @default 'quota'
   */
  readonly prefix?: string | undefined
  /**
   * PostgreSQL only: the schema that has the tables. Use the same for the stores. `migrateQuota()` creates it if it is
   * missing.
   *
   * @default the first one of the connection's `search_path`
   */
  readonly schema?: string | undefined
}

/** Prefixes stand in statements as they are, so they may contain nothing that needs quotes. */
export function prefixCheck(): Check<string> {
  return textLike(/^[a-z][a-z0-9_]{0,29}$/, '1 to 30 of `a-z 0-9 _`, the first a letter')
}

/** The schema's name stands in statements as it is, too. */
export function schemaCheck(): Check<string | undefined> {
  return optional(textLike(/^[a-z_][a-z0-9_]{0,62}$/, '1 to 63 of `a-z 0-9 _`, the first a letter or `_`'))
}

/** The fault of a schema on SQLite, which has none. */
export function schemaFaults(
  dialect: SqlDialect | undefined,
  { schema }: { readonly schema?: string | undefined },
): { path: string; message: string }[] {
  if (dialect !== 'sqlite' || schema === undefined) return []
  return [{ path: 'schema', message: 'only PostgreSQL has schemas: omit it on SQLite' }]
}

type ParsedSchemaOptions = SchemaOptions & { readonly prefix: string }

function checks(): Checks<ParsedSchemaOptions> {
  return {
    dialect: oneOf<SqlDialect>('postgres', 'sqlite'),
    prefix: withDefault(prefixCheck(), 'quota'),
    schema: schemaCheck(),
  }
}

/** @throws {QuotaError} `invalid_options` naming every fault */
export const parseSchemaOptions: (options: unknown) => ParsedSchemaOptions = /* @__PURE__ */ optionsParser(
  'quotaMigrations()',
  checks,
  { between: (options) => schemaFaults(options.dialect, options) },
)
