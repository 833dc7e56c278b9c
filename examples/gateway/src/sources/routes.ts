import * as z from 'zod'
import type { ErrorCode } from '../http/http-error.ts'
import { type Route, success, userRoute } from '../http/route.ts'
import { isAboutPlayer, type SourceCredential } from './score-source.ts'
import { importAnswer, type Sources } from './sources.ts'

const MAX_CREDENTIAL_LENGTH = 512
const CREDENTIAL_ERROR = `expected 1 to ${MAX_CREDENTIAL_LENGTH} visible ASCII characters`

/** Characters allowed in a header field. The message never repeats the text. */
const credential = z
  .string(CREDENTIAL_ERROR)
  .trim()
  .regex(new RegExp(`^[!-~]{1,${MAX_CREDENTIAL_LENGTH}}$`), CREDENTIAL_ERROR)

const accessToken = credential.describe("An access token of the source's OAuth.")

/** One of two credentials: the player's own under its name, or an access token. */
function oneCredential(name: string): z.ZodType<SourceCredential> {
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

const ERRORS = [
  'sync_in_progress',
  'source_credential_rejected',
  'source_unreachable',
  'source_bad_response',
  'source_error',
  'source_rate_limited',
  'source_timeout',
] as const satisfies readonly ErrorCode[]

/** What differs between the two: among others the name of the player's own credential. */
const KINDS = [
  {
    source: 'lx',
    id: 'updateLx',
    title: 'LXNS',
    name: 'key',
    about: "The player's own token.",
    example: { key: '<LXNS_TOKEN>' },
    errors: ERRORS,
  },
  {
    source: 'fish',
    id: 'updateFish',
    title: 'Diving-Fish',
    name: 'token',
    about: "The player's import token.",
    example: { token: '<IMPORT_TOKEN>' },
    errors: [...ERRORS, 'source_privacy'],
  },
] as const

/** Imports scores from the two public sources. */
export function sourceRoutes(sources: Sources): Route[] {
  return KINDS.map(({ source, id, title, errors, name, about, example }) =>
    userRoute(`POST /v1/update-${source}`, {
      id,
      tag: 'Source',
      summary: `Import scores from ${title}, keeping the best`,
      description: `Reads the player's scores from ${title} and keeps the best of each field. A request is also charged when the source refuses the player's credential.`,
      example,
      bodyForm: z.union([z.object({ [name]: credential.describe(about) }), z.object({ accessToken })]),
      errors,
      body: oneCredential(name),
      answer: importAnswer,
      operation: `source.${source}`,
      async handle({ req, user, input }) {
        try {
          return { body: success(await sources.import(user.id, source, input)) }
        } catch (error) {
          // Failures cost nothing, except responses about the player: for those the source did its work.
          if (isAboutPlayer(error)) await req.quota?.commit()
          throw error
        }
      },
    }),
  )
}
