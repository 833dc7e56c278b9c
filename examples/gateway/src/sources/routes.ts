import type { Request } from 'express'
import * as z from 'zod'
import type { ErrorCode } from '../http/http-error.ts'
import { envelope, type Route, success, userRoute } from '../http/route.ts'
import { isoInstant } from '../http/schemas.ts'
import { isAboutPlayer, type SourceCredential } from './score-source.ts'
import type { ImportResult } from './source-imports.ts'
import type { Sources } from './sources.ts'

const MAX_CREDENTIAL_LENGTH = 512
const CREDENTIAL_ERROR = `expected 1 to ${MAX_CREDENTIAL_LENGTH} visible ASCII characters`

/** Characters allowed in a header field. The message never repeats the text. */
const credential = z
  .string(CREDENTIAL_ERROR)
  .trim()
  .regex(new RegExp(`^[!-~]{1,${MAX_CREDENTIAL_LENGTH}}$`), CREDENTIAL_ERROR)

const accessToken = credential.describe("An access token of the source's OAuth.")

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
      const message = personal === undefined ? CREDENTIAL_ERROR : `send ${name} or accessToken, one of them`
      context.addIssue({ code: 'custom', path: [name], message })
      return z.NEVER
    })
}

const lxBody = { body: oneCredential('key'), form: lxForm }
const fishBody = { body: oneCredential('token'), form: fishForm }

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

const ERRORS = [
  'sync_in_progress',
  'source_credential_rejected',
  'source_unreachable',
  'source_bad_response',
  'source_error',
  'source_rate_limited',
  'source_timeout',
] as const satisfies readonly ErrorCode[]

const PRICE = "A request is also charged when the source refuses the player's credential."

/** Imports scores from the two public sources. */
export function sourceRoutes({ imports, lxns, fish }: Sources): Route[] {
  return [
    userRoute('POST /v1/update-lx', {
      id: 'updateLx',
      tag: 'Source',
      summary: 'Import scores from LXNS, keeping the best',
      description: `Reads the player's scores from LXNS and keeps the best of each field. ${PRICE}`,
      example: { key: '<LXNS_TOKEN>' },
      bodyForm: lxBody.form,
      errors: ERRORS,
      body: lxBody.body,
      answer: importAnswer,
      operation: 'source.lx',
      async handle({ req, user, input }) {
        return { body: success(await settled(req, imports.run(user.id, lxns, input))) }
      },
    }),
    userRoute('POST /v1/update-fish', {
      id: 'updateFish',
      tag: 'Source',
      summary: 'Import scores from Diving-Fish, keeping the best',
      description: `Reads the player's scores from Diving-Fish and keeps the best of each field. ${PRICE}`,
      example: { token: '<IMPORT_TOKEN>' },
      bodyForm: fishBody.form,
      errors: [...ERRORS, 'source_privacy'],
      body: fishBody.body,
      answer: importAnswer,
      operation: 'source.fish',
      async handle({ req, user, input }) {
        return { body: success(await settled(req, imports.run(user.id, fish, input))) }
      },
    }),
  ]
}

/** Failures cost nothing, except responses about the player: for those the source did its work. */
async function settled(req: Request, work: Promise<ImportResult>): Promise<ImportResult> {
  try {
    return await work
  } catch (error) {
    if (isAboutPlayer(error)) await req.quota?.commit()
    throw error
  }
}
