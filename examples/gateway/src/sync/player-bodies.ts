import * as z from 'zod'
import { isoInstant } from '../http/instant.ts'
import { qqText } from './bodies.ts'
import { playerRecord } from './player-record.ts'
import { MOST_DAYS } from './rating-days.ts'

export const playerParams = z.object({ qq: qqText })

const ratings = {
  rating: z.int().nullable().describe('The total.'),
  old_rating: z.int().nullable().describe('The part of the best 35 of older versions.'),
  new_rating: z.int().nullable().describe('The part of the best 15 of the newest version.'),
}

export const playerAnswer = z.object({
  qq: z.int(),
  linked: z.boolean(),
  username: z.string().nullable().describe('Name of the linked account; `null`: there is none.'),
  nickname: z.string().nullable(),
  source: z.string().nullable(),
  ...ratings,
  play_count: z.int().nullable(),
  stored_records: z.int(),
  record_count: z.int().describe('The same as `stored_records`.'),
  open_snapshot_id: z.string().nullable(),
  synced_at: isoInstant.nullable(),
  records: z.array(playerRecord),
})
export type PlayerAnswer = z.output<typeof playerAnswer>

export const summaryAnswer = z.object({
  qq: z.int(),
  nickname: z.string().nullable(),
  ...ratings,
  record_count: z.int(),
  last_sync_at: isoInstant.nullable(),
})
export type SummaryAnswer = z.output<typeof summaryAnswer>

const DAYS_ERROR = `expected a whole number from 1 to ${MOST_DAYS}`

export const trendQuery = z.object({
  days: z
    .string(DAYS_ERROR)
    .regex(/^\d{1,3}$/, { error: DAYS_ERROR, abort: true })
    .transform(Number)
    .refine((value) => value >= 1 && value <= MOST_DAYS, DAYS_ERROR)
    .prefault('30')
    .describe('How many days in Beijing, today among them.'),
})

export const trendAnswer = z.object({
  qq: z.int(),
  nickname: z.string().nullable(),
  days: z.int(),
  points: z.array(
    z.object({
      date: z.iso.date(),
      ...ratings,
      record_count: z.int(),
      delta: z.int().describe('How much the rating grew since the point before; 0 where either is not known.'),
    }),
  ),
  summary: z.object({
    start_rating: z.int().nullable(),
    end_rating: z.int().nullable(),
    rating_delta: z.int().describe('From the first point to the last; 0 where either is not known.'),
    days_with_data: z.int(),
  }),
})
export type TrendAnswer = z.output<typeof trendAnswer>
