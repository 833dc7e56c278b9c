/**
 * For those who write a store or an adapter: options checked as the library checks its own, with the same texts.
 *
 * @module
 */
export { faultyDocument } from './errors/quota-error.ts'
export { kindOf, shown } from './errors/shown.ts'
export {
  aClock,
  aFunction,
  type Check,
  type Checks,
  group,
  having,
  listOf,
  objectWhere,
  oneOf,
  optional,
  tableOf,
  textLike,
  where,
  wholeNumber,
  withDefault,
} from './options/checks.ts'
export { listed, nearest, noSuchName } from './options/faults.ts'
export { optionsParser, type ParserDetails, refusedOptions } from './options/options-parser.ts'
