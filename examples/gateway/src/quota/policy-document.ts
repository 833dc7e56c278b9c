import type { Policy } from '@scoregw/quota'
import { MAX_LIMIT } from '@scoregw/quota/store'
import * as z from 'zod'
import { bypassMember } from './layer-members.ts'
import { labelsOf } from './policy-limits.ts'
import { mapped } from './table-schemas.ts'

const PERIODS = ['hour', 'day', 'week', 'month', 'year'] as const

/** The parts of settings, overrides and statuses, for clients that display them. */
export const policyDocument = z.object({
  windows: z
    .array(
      z.object({
        label: z.string(),
        lengthMs: z.int().nullable().describe('Milliseconds; `null`: a calendar period.'),
        every: z.enum(PERIODS).optional().describe('For a calendar window: its period.'),
        timeZone: z.string().optional().describe('For a calendar window: the IANA time zone.'),
        burst: z
          .union([z.int().min(1), z.object({ share: z.number().describe('Of the limit, 0.01 to 1.') })])
          .optional()
          .describe('For a bucket: the most tokens that it can hold. It refills by its limit per `lengthMs`.'),
      }),
    )
    .readonly()
    .describe('In the order of a status.'),
  categories: z.array(z.string()).readonly(),
  layers: z
    .array(
      z.object({
        name: z.string().describe('The name in settings.'),
        scope: z.string().describe('The name for people.'),
        shared: z
          .boolean()
          .describe('`true`: all users share its windows, and the settings have a member with its name.'),
        bypass: z
          .string()
          .optional()
          .describe("For a shared layer: the member of a user's document that exempts the user."),
        limits: z
          .record(z.string(), z.array(z.string()))
          .describe('By category: the labels of its limits, in the order of a status.'),
      }),
    )
    .readonly(),
  operations: z
    .record(z.string(), z.object({ category: z.string(), cost: z.int().describe('Tokens.') }))
    .describe('With their default prices.'),
  concurrency: z
    .object({ label: z.string(), operations: z.array(z.string()) })
    .optional()
    .describe('The concurrency limit, and the operations that take a slot.'),
  plans: z.array(z.string()).describe('Plans of the policy.'),
  maxTokens: z.int().describe('The highest limit that can be set.'),
})
export type PolicyDocument = z.output<typeof policyDocument>

export function describedPolicy(policy: Policy): PolicyDocument {
  const { windows, categories, layers, operations, concurrency, plans = {} } = policy
  return {
    windows: windows.map((window) =>
      window.every === undefined
        ? { label: window.label, lengthMs: window.lengthMs, ...('burst' in window && { burst: window.burst }) }
        : { label: window.label, lengthMs: null, every: window.every, timeZone: window.timeZone },
    ),
    categories,
    layers: layers.map(({ name, scope, shared }) => ({
      name,
      scope,
      shared,
      ...(shared ? { bypass: bypassMember(name) } : {}),
      limits: Object.fromEntries(categories.map((category) => [category, [...labelsOf(policy, name, category)]])),
    })),
    operations: mapped(operations, ({ category, cost }) => ({ category, cost })),
    ...(concurrency === undefined ? {} : { concurrency: slotsOf(policy, concurrency) }),
    plans: Object.keys(plans),
    maxTokens: MAX_LIMIT,
  }
}

function slotsOf(
  { operations }: Policy,
  { label, operations: named = [], categories = [] }: NonNullable<Policy['concurrency']>,
): NonNullable<PolicyDocument['concurrency']> {
  const takes = Object.entries(operations).filter(
    ([name, of]) => named.includes(name) || categories.includes(of.category),
  )
  return { label, operations: takes.map(([name]) => name) }
}
