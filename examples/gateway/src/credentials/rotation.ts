import * as z from 'zod'
import { HttpError, strictObject } from '../http/http-error.ts'
import { adminRoute, type Route } from '../http/route.ts'
import { instantText, isoInstant } from '../http/schemas.ts'
import type { Owner, Tokens } from './tokens.ts'

const MOST_GRACE_SECONDS = 7 * 86_400
const GRACE_ERROR = `expected a whole number from 0 to ${MOST_GRACE_SECONDS}`

const body = strictObject({
  graceSeconds: z
    .int(GRACE_ERROR)
    .min(0, GRACE_ERROR)
    .max(MOST_GRACE_SECONDS, GRACE_ERROR)
    .default(86_400)
    .describe('How long the former token stays valid.'),
})

interface Rotation<Params> {
  readonly path: string
  readonly params: z.ZodType<Params, Record<string, unknown>>
  /** The operation's name in the document. */
  readonly id: string
  /** A token of the kind, with its article. */
  readonly one: string
  /** The token's id, and its owner. */
  of(params: Params): readonly [id: string, Owner]
}

/** A route that issues a token in the place of another, which expires after the grace. */
export function rotationRoute<Params>(tokens: Tokens, { path, params, id, one, of }: Rotation<Params>): Route {
  return adminRoute(`POST ${path}`, {
    id,
    summary: `Replace ${one} by a new one, which is only shown this time`,
    description: 'The new one has the same name. The former one stays valid for the grace.',
    statuses: [201],
    example: { graceSeconds: 86_400 },
    errors: ['not_found', 'conflict'],
    params,
    body,
    answer: z.object({ id: z.string(), token: z.string(), formerExpiresAt: isoInstant }),
    async handle({ params: given, input: { graceSeconds }, user }) {
      const rotated = await tokens.rotate(...of(given), { graceMs: graceSeconds * 1_000, by: user.id })
      if (rotated === undefined) throw new HttpError('not_found', 'There is no such credential.')
      return { status: 201, body: { ...rotated, formerExpiresAt: instantText(rotated.formerExpiresAt) } }
    },
  })
}
