import * as z from 'zod'
import { envelope } from '../http/envelope.ts'
import { isoInstant } from '../http/instant.ts'

const MAX_CREDENTIAL_LENGTH = 512
const CREDENTIAL_ERROR = `expected 1 to ${MAX_CREDENTIAL_LENGTH} visible ASCII characters`

/** What may stand in a header field; the message never repeats it. */
const credential = z
  .string(CREDENTIAL_ERROR)
  .trim()
  .regex(new RegExp(`^[!-~]{1,${MAX_CREDENTIAL_LENGTH}}$`), CREDENTIAL_ERROR)

/** The player's personal token at LXNS. */
export const lxBody = z.object({ key: credential })
/** The player's import token at Diving-Fish. */
export const fishBody = z.object({ token: credential })

export const importAnswer = envelope(
  z.object({
    source: z.enum(['lx', 'fish']),
    fetched: z.int().min(0),
    created: z.int().min(0),
    updated: z.int().min(0),
    unchanged: z.int().min(0),
    skipped: z.int().min(0),
    errors: z.array(z.object({ path: z.string(), msg: z.string() })).readonly(),
    syncedAt: isoInstant,
  }),
)
