import { type Check, type Checks, oneOf, optionsParser, textLike, withDefault } from '@scoregw/quota/options'
import type { SqlDialect } from './tables.ts'

/** What migrations take. */
export interface SchemaOptions {
  readonly dialect: SqlDialect
  /**
   * The beginning of every table's name, the same as of the stores.
   * @default 'quota'
   */
  readonly prefix?: string | undefined
}

/** Names that stand in statements as they are: nothing has to be quoted. */
export function prefixCheck(): Check<string> {
  return textLike(/^[a-z][a-z0-9_]{0,29}$/, '1 to 30 of `a-z 0-9 _`, the first a letter')
}

function checks(): Checks<Required<SchemaOptions> & { readonly prefix: string }> {
  return { dialect: oneOf<SqlDialect>('postgres', 'sqlite'), prefix: withDefault(prefixCheck(), 'quota') }
}

/** @throws {QuotaError} `invalid_options` naming every fault */
export const parseSchemaOptions: (options: unknown) => { readonly dialect: SqlDialect; readonly prefix: string } =
  /* @__PURE__ */ optionsParser('quotaMigrations()', checks)
