import * as z from 'zod'
import { envelope } from '../http/envelope.ts'
import { isoInstant } from '../http/instant.ts'

export const playerBody = z.object({})

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
