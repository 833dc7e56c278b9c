import type { QuotaExceededBody } from '@scoregw/quota'
import * as z from 'zod'
import { isoInstant } from '../http/instant.ts'

/** The body of a 429. */
export const quotaExceededSchema: z.ZodType<QuotaExceededBody> = z
  .object({
    error: z.literal('quota_exceeded').describe('The same in every 429.'),
    msg: z
      .string()
      .describe(
        'For people, by `Accept-Language` in English or Chinese: scope, window, category, until when in Beijing time (UTC+8), and where to ask for more.',
      ),
    retryAfterSeconds: z.int().min(1).describe('Whole seconds to wait before retrying.'),
    quota: z
      .object({
        scope: z.string().describe('The layer that was exceeded: `Personal` or `Site`.'),
        category: z.string().describe('`read` or `write`.'),
        window: z.string().describe('Label of the window: `1h`, `5h` or `1d`.'),
        limit: z.int().describe('Quota of that window, in tokens.'),
        used: z.int().describe('Tokens used in the window.'),
        requested: z.int().describe('Tokens that this request needed.'),
        resetAt: isoInstant.describe('When the window ends, ISO 8601 UTC.'),
        retryAtBeijing: z
          .string()
          .regex(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
          .describe('The same in Beijing time, `yyyy-MM-dd HH:mm:ss`.'),
        timeZone: z.string().describe('Time zone of `retryAtBeijing`: `Asia/Shanghai`.'),
      })
      .describe('The window that refuses.'),
  })
  .meta({ id: 'QuotaExceeded', description: 'A window has too few tokens left. Nothing was charged.' })

/** A refusal as it is sent. */
export const QUOTA_EXCEEDED_EXAMPLE: QuotaExceededBody = {
  error: 'quota_exceeded',
  msg: 'Reached Personal 1-Hour Quota Limit for Write requests. You may continue after 2026-08-06 23:06:26 Beijing Time (UTC+8). For a higher quota, ask at https://forum.example.com/quota.',
  retryAfterSeconds: 1800,
  quota: {
    scope: 'Personal',
    category: 'write',
    window: '1h',
    limit: 60,
    used: 60,
    requested: 15,
    resetAt: '2026-08-06T15:06:26.000Z',
    retryAtBeijing: '2026-08-06 23:06:26',
    timeZone: 'Asia/Shanghai',
  },
}
