import type { Limit, LimitTable, Policy } from '@scoregw/quota'
import { MAX_LIMIT } from '@scoregw/quota/store'
import * as z from 'zod'
import { labelsOf } from './policy-limits.ts'

/** Tokens by layer, category and window. */
export type TokenTable = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, number>>>>>>

const TOKENS_ERROR = `expected a whole number of tokens from 0 to ${MAX_LIMIT}`
// Not `z.int()`, whose faults would skip the checks between members.
export const tokensSchema: z.ZodType<number> = z
  .number(TOKENS_ERROR)
  .refine((value) => Number.isInteger(value) && value >= 0 && value <= MAX_LIMIT, TOKENS_ERROR)
  .meta({ type: 'integer', minimum: 0, maximum: MAX_LIMIT, description: 'Tokens. 0 blocks.' })

/** An object with exactly these members. */
export function eachOf<T extends z.ZodType>(
  names: readonly string[],
  schema: T,
): z.ZodObject<Record<string, T>, z.core.$strict> {
  return z.strictObject(Object.fromEntries(names.map((name) => [name, schema])))
}

/** Tokens of each layer, category and window of a policy. The common part is one named schema. */
export function tableSchema(policy: Policy): z.ZodType<TokenTable> {
  const { layers, categories, windows } = policy
  const names = layers.map(({ name }) => name)
  const usual = windows.map(({ label }) => label)
  const byWindow = eachOf(usual, tokensSchema).meta({ id: 'WindowTokens', description: 'Tokens by window.' })
  const byCategory = eachOf(categories, byWindow).meta({
    id: 'CategoryTokens',
    description: 'Tokens by category and window.',
  })
  const windowsOf = (layer: string, category: string) => {
    const labels = labelsOf(policy, layer, category)
    return labels.length === usual.length ? byWindow : eachOf(labels, tokensSchema).describe('By limit.')
  }
  const categoriesOf = (layer: string) => {
    if (categories.every((category) => windowsOf(layer, category) === byWindow)) return byCategory
    const members = categories.map((category) => [category, windowsOf(layer, category)] as const)
    return z.strictObject(Object.fromEntries(members)).describe('By category and limit.')
  }
  return z.strictObject(Object.fromEntries(names.map((name) => [name, categoriesOf(name)]))).meta({
    id: 'QuotaTable',
    description: 'Tokens by layer, category and window.',
  }) as unknown as z.ZodType<TokenTable>
}

/** Converts limits to the documents' form. The highest number stands for "unlimited". */
export function tokenTable(limits: LimitTable): TokenTable {
  return mapped(limits, (categories) => mapped(categories, (windows) => mapped(windows, tokensOfLimit)))
}

/**
 * Converts a table or a part of one to the library's form. The highest number is "unlimited" if the policy has no limit
 * there.
 */
export function limitTable({ base }: Policy, table: TokenTable): LimitTable
export function limitTable({ base }: Policy, table: unknown): unknown
export function limitTable({ base }: Policy, table: unknown): unknown {
  return limitsOf(table, base)
}

function limitsOf(tokens: unknown, own: unknown): unknown {
  if (tokens === MAX_LIMIT && own === 'unlimited') return own
  if (!isRecord(tokens)) return tokens
  return Object.fromEntries(
    Object.entries(tokens).map(([name, each]) => [name, limitsOf(each, isRecord(own) ? own[name] : undefined)]),
  )
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function tokensOfLimit(limit: Limit): number {
  return limit === 'unlimited' ? MAX_LIMIT : limit
}

export function mapped<T, U>(members: Readonly<Record<string, T>>, of: (member: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, of(member)]))
}
