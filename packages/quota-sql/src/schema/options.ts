import { type Check, type Checks, oneOf, optionsParser, textLike, withDefault } from '@scoregw/quota/options'
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
}

/** Prefixes stand in statements as they are, so they may contain nothing that needs quotes. */
export function prefixCheck(): Check<string> {
  return textLike(/^[a-z][a-z0-9_]{0,29}$/, '1 to 30 of `a-z 0-9 _`, the first a letter')
}

function checks(): Checks<Required<SchemaOptions> & { readonly prefix: string }> {
  return { dialect: oneOf<SqlDialect>('postgres', 'sqlite'), prefix: withDefault(prefixCheck(), 'quota') }
}

/** @throws {QuotaError} `invalid_options` naming every fault */
export const parseSchemaOptions: (options: unknown) => { readonly dialect: SqlDialect; readonly prefix: string } =
  /* @__PURE__ */ optionsParser('quotaMigrations()', checks)
