import * as z from 'zod'
import { parseOptions } from '../policy/options.ts'
import type { Clock } from '../time/clock.ts'

export interface MemoryStoreOptions {
  /**
   * Where the time comes from.
   * @default the machine's clock
   */
  readonly clock?: Clock | undefined
  /**
   * Most live subjects in one layer and category; about 180 bytes each. Beyond it new subjects get the failure policy.
   * @default 1_000_000
   */
  readonly maxSubjects?: number | undefined
  /**
   * Most live server-side ids; about 400 bytes each. Beyond it reservations with new ids get the failure policy.
   * @default 100_000
   */
  readonly maxIds?: number | undefined
}

const clock = z.custom<Clock>((value) => typeof (value as Clock | undefined)?.now === 'function', {
  error: 'expected a clock: an object with now(), epoch milliseconds',
})

/** Options after their check, defaults filled in. */
export type ParsedMemoryStoreOptions = MemoryStoreOptions & { readonly maxSubjects: number; readonly maxIds: number }

const schema: z.ZodType<ParsedMemoryStoreOptions> = z.strictObject({
  clock: clock.optional(),
  maxSubjects: z.int().min(1).default(1_000_000),
  maxIds: z.int().min(1).default(100_000),
})

export function parseMemoryStoreOptions(options: MemoryStoreOptions): ParsedMemoryStoreOptions {
  return parseOptions('memoryStore()', schema, options)
}
