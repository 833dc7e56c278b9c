import * as z from 'zod'
import type { Doer } from '../audit/audit.ts'
import { HttpError } from '../http/http-error.ts'
import { type Route, route } from '../http/route.ts'
import { DEMO_LABEL } from './tokens.ts'

/** A new credential, which is only shown this time, and the end of the one that it replaces. */
export interface Rotated {
  readonly id: string
  readonly token: string
  /** Epoch milliseconds. */
  readonly formerExpiresAt: number
}

/** @throws {HttpError} `conflict` for a credential that was rotated before, or belongs to the demo */
export function requireRotatable(name: string, expiresAt: number | null): void {
  if (name === DEMO_LABEL) throw new HttpError('conflict', 'This credential belongs to the demo, which replaces it.')
  if (expiresAt !== null) throw new HttpError('conflict', 'This credential was rotated already.')
}

const GRACE_ERROR = 'expected a whole number from 0 to 604800'

const body = z.strictObject({
  graceSeconds: z
    .int(GRACE_ERROR)
    .min(0, GRACE_ERROR)
    .max(604_800, GRACE_ERROR)
    .default(86_400)
    .describe('How long the former credential stays valid.'),
})

interface Rotation<Params> {
  readonly path: string
  readonly params: z.ZodType<Params, Record<string, unknown>>
  /** The operation's name in the document. */
  readonly id: string
  /** A credential of the kind, with its article. */
  readonly one: string
  rotate(params: Params, graceSeconds: number, by: Doer): Promise<Rotated | undefined>
}

/** A route that issues a credential in the place of another, which expires after the grace. */
export function rotationRoute<Params>(of: Rotation<Params>): Route {
  const { path, params, id, one, rotate } = of
  return route({
    method: 'post',
    path,
    docs: {
      id,
      tag: 'Administration',
      summary: `Replace ${one} by a new one, which is only shown this time`,
      description: 'The new one has the same name. The former one stays valid for the grace.',
      statuses: [201],
      example: { graceSeconds: 86_400 },
      errors: ['not_found', 'conflict'],
    },
    access: 'admin',
    params,
    body,
    answer: z.object({ id: z.string(), token: z.string(), formerExpiresAt: z.iso.datetime() }),
    async handle({ params: given, input: { graceSeconds }, user }) {
      const rotated = await rotate(given, graceSeconds, user.id)
      if (rotated === undefined) throw new HttpError('not_found', 'There is no such credential.')
      return { status: 201, body: { ...rotated, formerExpiresAt: new Date(rotated.formerExpiresAt).toISOString() } }
    },
  })
}
