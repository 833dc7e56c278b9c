/**
 * For authors of stores and adapters: checks of options with the library's own messages.
 *
 * @module
 */
export { kindOf, shown } from './errors/shown.ts'
export {
  aClock,
  aFunction,
  type Check,
  type Checks,
  group,
  having,
  listOf,
  oneOf,
  optional,
  tableOf,
  textLike,
  where,
  wholeNumber,
  withDefault,
} from './options/checks.ts'
export { listed, nearest } from './options/faults.ts'
export { aLogger } from './options/logger.ts'
export { optionsParser, refusedOptions } from './options/options-parser.ts'
