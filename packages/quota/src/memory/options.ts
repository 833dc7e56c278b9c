import { aClock, optional, wholeNumber, withDefault } from '../options/checks.ts'
import { optionsParser } from '../options/options-parser.ts'
import type { Clock } from '../time/clock.ts'

export interface MemoryStoreOptions {
  /**
   * Where the time comes from.
   * @default the machine's clock
   */
  readonly clock?: Clock | undefined
  /**
   * Most live subjects in one layer and category; about 130 bytes each, 185 once a window has ended. Beyond it new subjects
   * get the failure policy.
   * @default 1_000_000
   */
  readonly maxSubjects?: number | undefined
  /**
   * Most live server-side ids; about 400 bytes each. Beyond it reservations with new ids get the failure policy.
   * @default 500_000
   */
  readonly maxIds?: number | undefined
}

/** Options after their check, defaults filled in. */
export type ParsedMemoryStoreOptions = MemoryStoreOptions & { readonly maxSubjects: number; readonly maxIds: number }

const parse = /* @__PURE__ */ optionsParser<ParsedMemoryStoreOptions>(
  'memoryStore()',
  () => ({
    clock: optional(aClock()),
    maxSubjects: withDefault(wholeNumber(1, Number.MAX_SAFE_INTEGER), 1_000_000),
    maxIds: withDefault(wholeNumber(1, Number.MAX_SAFE_INTEGER), 500_000),
  }),
  { words: { max: 'the bounds are `maxSubjects` and `maxIds`', maxKeys: 'the bound is `maxSubjects`' } },
)

/** @throws {QuotaError} `invalid_options` naming every fault */
export function parseMemoryStoreOptions(options: MemoryStoreOptions): ParsedMemoryStoreOptions {
  return parse(options)
}
