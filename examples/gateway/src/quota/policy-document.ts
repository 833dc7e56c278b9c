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
        lengthMs: z.int().nullable().describe('Milliseconds; `null`: it is a period of the calendar.'),
        every: z.enum(PERIODS).optional().describe('Of the calendar: its period.'),
        timeZone: z.string().optional().describe("Of the calendar: whose, by the zone's IANA name."),
        burst: z
          .union([z.int().min(1), z.object({ share: z.number().describe('Of the limit, 0.01 to 1.') })])
          .optional()
          .describe('Of a bucket: how many tokens can be saved up. Its limit comes back evenly, each `lengthMs`.'),
      }),
    )
    .readonly()
    .describe('In the order of statuses.'),
  categories: z.array(z.string()).readonly(),
  layers: z
    .array(
      z.object({
        name: z.string().describe('As settings name it.'),
        scope: z.string().describe('As people read it.'),
        shared: z
          .boolean()
          .describe('`true`: everybody shares its windows, and it has a member of its name in the settings.'),
        bypass: z
          .string()
          .optional()
          .describe("Of a shared layer: the member of a user's document that takes it away."),
        limits: z
          .record(z.string(), z.array(z.string()))
          .describe('By category: labels of the limits that it has, in the order of statuses.'),
      }),
    )
    .readonly(),
  operations: z
    .record(z.string(), z.object({ category: z.string(), cost: z.int().describe('Tokens.') }))
    .describe('With the prices that hold until others are set.'),
  concurrency: z
    .object({ label: z.string(), operations: z.array(z.string()) })
    .optional()
    .describe('The limit of how much may be under way at once, and which operations take a slot of it.'),
  plans: z.array(z.string()).describe('Plans that there are without settings.'),
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
