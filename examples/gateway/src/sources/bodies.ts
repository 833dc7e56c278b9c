import * as z from 'zod'
import { envelope } from '../http/envelope.ts'
import { isoInstant } from '../http/instant.ts'
import type { SourceCredential } from './score-source.ts'

const MAX_CREDENTIAL_LENGTH = 512
/** Such tokens may be JWTs. */
const MAX_ACCESS_TOKEN_LENGTH = 4_096

const errorOf = (most: number): string => `expected 1 to ${most} visible ASCII characters`

/** What may stand in a header field; the message never repeats it. */
function visible(most: number): z.ZodString {
  return z
    .string(errorOf(most))
    .trim()
    .regex(new RegExp(`^[!-~]{1,${most}}$`), errorOf(most))
}

const credential = visible(MAX_CREDENTIAL_LENGTH)

const accessToken = visible(MAX_ACCESS_TOKEN_LENGTH).describe("An access token of the source's OAuth.")

/** The player's personal token at LXNS, or an access token. */
const lxForm = z.union([z.object({ key: credential.describe("The player's own token.") }), z.object({ accessToken })])
/** The player's import token at Diving-Fish, or an access token. */
const fishForm = z.union([
  z.object({ token: credential.describe("The player's import token.") }),
  z.object({ accessToken }),
])

/** One of two credentials: the player's own under its name, or an access token. */
function oneCredential(name: 'key' | 'token'): z.ZodType<SourceCredential> {
  return z
    .object({ [name]: credential.optional(), accessToken: accessToken.optional() })
    .transform((body, context): SourceCredential => {
      const { [name]: personal, accessToken: oauth } = body
      if (personal !== undefined && oauth === undefined) return { kind: 'personal', text: personal }
      if (personal === undefined && oauth !== undefined) return { kind: 'oauth', text: oauth }
      const message =
        personal === undefined ? errorOf(MAX_CREDENTIAL_LENGTH) : `send ${name} or accessToken, one of them`
      context.addIssue({ code: 'custom', path: [name], message })
      return z.NEVER
    })
}

export const lxBody = { body: oneCredential('key'), form: lxForm }
export const fishBody = { body: oneCredential('token'), form: fishForm }

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
