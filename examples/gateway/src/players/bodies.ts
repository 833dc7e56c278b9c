import * as z from 'zod'
import { envelope } from '../http/envelope.ts'
import { isoInstant } from '../http/instant.ts'

export const playerBody = z.object({})

/** What other clients may look at. */
export const previewAnswer = envelope(
  z.object({
    userId: z.string(),
    userName: z.string(),
    playerRating: z.int(),
    isLogin: z.literal(false).describe('Nobody plays through this service.'),
    lastPlayDate: isoInstant.nullable().describe('Of the scores whose time is known; `null`: of none.'),
  }),
)

export const regionAnswer = envelope(
  z.object({
    length: z.int().describe('Length of the list.'),
    userRegionList: z.array(z.object({ regionId: z.int(), playCount: z.int(), created: isoInstant })),
  }),
)

export const playerAnswer = envelope(
  z.object({
    userId: z.string(),
    userName: z.string(),
    playerRating: z.int(),
    playCount: z.int(),
    /** When this or a score changed last. */
    updatedAt: isoInstant,
  }),
)
