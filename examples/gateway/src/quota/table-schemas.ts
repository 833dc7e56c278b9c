import type { LimitTable, Policy } from '@scoregw/quota'
import { MAX_LIMIT } from '@scoregw/quota/store'
import * as z from 'zod'

/** Tokens by layer, category and window. */
export type TokenTable = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, number>>>>>>

const TOKENS_ERROR = `expected a whole number of tokens from 0 to ${MAX_LIMIT}`
// Refined and not `z.int()`, which would keep the checks across members from being asked.
export const tokensSchema: z.ZodType<number> = z
  .number(TOKENS_ERROR)
  .refine((value) => Number.isInteger(value) && value >= 0 && value <= MAX_LIMIT, TOKENS_ERROR)
  .meta({ type: 'integer', minimum: 0, maximum: MAX_LIMIT, description: 'Tokens. 0 blocks.' })

/** An object with one member for each name, and no others. */
export function eachOf<T extends z.ZodType>(
  names: readonly string[],
  schema: T,
): z.ZodObject<Record<string, T>, z.core.$strict> {
  return z.strictObject(Object.fromEntries(names.map((name) => [name, schema])))
}

/** Tokens of every layer, category and window of a policy. */
export function tableSchema({ layers, categories, windows }: Policy): z.ZodType<TokenTable> {
  const labels = windows.map(({ label }) => label)
  const byWindow = eachOf(labels, tokensSchema).meta({ id: 'WindowTokens', description: 'Tokens by window.' })
  const byCategory = eachOf(categories, byWindow).meta({
    id: 'CategoryTokens',
    description: 'Tokens by category and window.',
  })
  const names = layers.map(({ name }) => name)
  return eachOf(names, byCategory).meta({ id: 'QuotaTable', description: 'Tokens by layer, category and window.' })
}

/** Limits as the documents have them, which know no limit that is none: the highest one stands for it. */
export function tokenTable(limits: LimitTable): TokenTable {
  return mapped(limits, (categories) =>
    mapped(categories, (windows) => mapped(windows, (limit) => (limit === 'unlimited' ? MAX_LIMIT : limit))),
  )
}

export function mapped<T, U>(members: Readonly<Record<string, T>>, of: (member: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, of(member)]))
}
