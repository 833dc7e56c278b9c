import type { Policy, Settings } from '@scoregw/quota'
import { MAX_LIMIT } from '@scoregw/quota/store'
import * as z from 'zod'
import { ownLayers } from './layer-members.ts'
import { labelsOf, labelsOfAny } from './policy-limits.ts'
import { eachOf, mapped, type TokenTable, tokensOfLimit, tokensSchema } from './table-schemas.ts'

/** Limits by plan. Plans can set limits of any layer that isn't shared. */
export type PlanTables = Readonly<Record<string, TokenTable>>

/** A plan's name, in settings and users' documents. */
export const planName: z.ZodString = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,32}$/, "expected a plan's name, 1 to 32 of A-Z a-z 0-9 _ -")

/** The shadowed limits: charged, but they refuse nothing. */
export function shadowSchema(policy: Policy): z.ZodType<Settings['shadow']> {
  const { layers, categories } = policy
  const members = layers.map(({ name }) => {
    const labels = categories.flatMap((category) => labelsOf(policy, name, category))
    return [name, z.union([z.literal('all'), z.array(z.enum([...new Set(labels)]))]).optional()] as const
  })
  return z
    .strictObject(Object.fromEntries(members))
    .describe(
      'By layer: shadowed limits, which are charged but refuse nothing. `all`, or labels. Layers that are missing have none.',
    ) as unknown as z.ZodType<Settings['shadow']>
}

/** Plans and their differences from the base limits. */
export function plansSchema(policy: Policy): z.ZodType<PlanTables> {
  const own = ownLayers(policy)
  const categoriesOf = (layer: string) => {
    const members = policy.categories.map((category) => {
      const windows = eachOf(labelsOf(policy, layer, category), tokensSchema).partial()
      return [category, windows.optional()] as const
    })
    return z.strictObject(Object.fromEntries(members)).optional()
  }
  const table = z.strictObject(Object.fromEntries(own.map((layer) => [layer, categoriesOf(layer)])))
  return z
    .record(planName, table)
    .describe(
      "By plan: the limits that differ from the base, in layers that aren't shared. Modes scale them like base values.",
    ) as unknown as z.ZodType<PlanTables>
}

export function planTables(plans: Settings['plans']): PlanTables {
  return mapped(plans, (layers) =>
    mapped(layers, (categories) => mapped(categories, (windows) => mapped(windows, tokensOfLimit))),
  )
}

const SHARE_ERROR = 'expected a share above 0 and up to 1 with at most two decimals'
const share = z
  .number(SHARE_ERROR)
  .refine((value) => value > 0 && value <= 1 && Math.round(value * 100) / 100 === value, SHARE_ERROR)
  .meta({ exclusiveMinimum: 0, maximum: 1, description: 'From this share of a limit on. At most two decimals.' })
const left = z
  .int(`expected a whole number of tokens from 0 to ${MAX_LIMIT}`)
  .min(0)
  .max(MAX_LIMIT)
  .describe('When at most this many tokens remain.')

/** When limits count as near. */
export const thresholdsSchema: z.ZodType<Settings['thresholds']> = z
  .array(z.union([z.strictObject({ share }), z.strictObject({ left })]))
  .max(8)
  .nullable()
  .describe('When limits count as near, which alerts operators; `null`: at 80 %.')

/** Labels of the limits that users can override, by category. Those of all layers come first. */
export function overrideLabels(policy: Policy, category: string): { all: readonly string[]; some: readonly string[] } {
  const own = ownLayers(policy)
  const any = labelsOfAny(policy, own, category)
  const isOfAll = (label: string): boolean => own.every((layer) => labelsOf(policy, layer, category).includes(label))
  return { all: any.filter(isOfAll), some: any.filter((label) => !isOfAll(label)) }
}
