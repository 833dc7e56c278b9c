import type { Policy } from '@scoregw/quota'
import { MAX_LIMIT } from '@scoregw/quota/store'
import * as z from 'zod'
import { bypassMember } from './layer-members.ts'

/** What settings, overrides and statuses are made of, for those who show them. */
export const policyDocument = z.object({
  windows: z
    .array(z.object({ label: z.string(), lengthMs: z.int().describe('Milliseconds.') }))
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
      }),
    )
    .readonly(),
  operations: z
    .record(z.string(), z.object({ category: z.string(), cost: z.int().describe('Tokens.') }))
    .describe('With the prices that hold until others are set.'),
  maxTokens: z.int().describe('The highest limit that can be set.'),
})
export type PolicyDocument = z.output<typeof policyDocument>

export function describedPolicy({ windows, categories, layers, operations }: Policy): PolicyDocument {
  return {
    windows,
    categories,
    layers: layers.map(({ name, scope, shared }) => ({
      name,
      scope,
      shared,
      ...(shared ? { bypass: bypassMember(name) } : {}),
    })),
    operations,
    maxTokens: MAX_LIMIT,
  }
}
