import type { Policy, QuotaStatus } from '@scoregw/quota'
import { type QuotaStatusBody, quotaStatusBody } from '@scoregw/quota/http'
import * as z from 'zod'
import { isoInstant } from '../http/instant.ts'
import { listOf } from './policy-words.ts'

const instant = isoInstant.nullable()

function windowShape({ layers, windows }: Policy) {
  return {
    scope: z.string().describe(`${listOf(layers.map(({ scope }) => scope))}.`),
    window: z.string().describe(`${listOf(windows.map(({ label }) => label))}.`),
    limit: z.union([z.int(), z.literal('unlimited')]).describe('Tokens.'),
    used: z.int().describe('Tokens.'),
    remaining: z.union([z.int(), z.literal('unlimited')]).describe('Tokens, never below 0.'),
    startedAt: instant.describe('ISO 8601 UTC; `null`: nothing was charged in the window yet.'),
    resetAt: instant.describe('When the window ends, ISO 8601 UTC; `null`: it is not open.'),
  }
}

function statusOf(policy: Policy, window: z.ZodType): z.ZodObject {
  const list = z.array(window).readonly()
  return z.object({
    windows: z
      .object(Object.fromEntries(policy.categories.map((category) => [category, list])))
      .describe('By category: the windows of each layer in turn; those of a shared layer only where it applies.'),
    timeZone: z.string().describe('Time zone of local times in texts.'),
  })
}

/** What a user has used and has left. */
export function statusSchema(policy: Policy): z.ZodType<QuotaStatusBody> {
  const window = z.object(windowShape(policy)).meta({ id: 'WindowStatus' })
  return statusOf(policy, window).meta({ id: 'QuotaStatus' }) as unknown as z.ZodType<QuotaStatusBody>
}

/** The same for administrators: beside the layer's name for people the one that settings go by. */
export function namedStatusSchema(policy: Policy): z.ZodType<QuotaStatusBody> {
  const layer = z.enum(policy.layers.map(({ name }) => name)).describe("The layer's name in settings.")
  const window = z.object({ layer, ...windowShape(policy) }).meta({ id: 'NamedWindowStatus' })
  return statusOf(policy, window).meta({ id: 'NamedQuotaStatus' }) as unknown as z.ZodType<QuotaStatusBody>
}

export function namedStatusBody(status: QuotaStatus): QuotaStatusBody {
  const { windows, timeZone } = quotaStatusBody(status)
  const named = Object.entries(windows).map(([category, list]) => {
    const layers = status.windows[category] ?? []
    return [category, list.map((window, index) => ({ layer: layers[index]?.layer, ...window }))] as const
  })
  return { windows: Object.fromEntries(named), timeZone }
}
