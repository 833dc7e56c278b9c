import * as z from 'zod'
import { HttpError } from '../http/http-error.ts'
import { type Route, route } from '../http/route.ts'
import type { GatewayTokens } from './gateway-tokens.ts'
import { DEMO_LABEL } from './tokens.ts'
import { nameSchema, userIdSchema } from './user.ts'

const PATH = '/admin/users/:id/tokens'

const issueBody = z.strictObject({
  // Tokens with the demo's label are deleted with the demo.
  label: nameSchema.refine((label) => label !== DEMO_LABEL, `"${DEMO_LABEL}" is for the demo's tokens`).optional(),
})

const listAnswer = z.object({
  items: z.array(z.object({ id: z.string(), label: z.string(), createdAt: z.iso.datetime() })),
})

/** Any text. An id that isn't valid isn't found, like any unknown one. */
const anyId = z.string().meta({ description: "A user's id.", example: 'demo' })
const tokenId = z.string().describe("The token's id, not the token itself.")

/** Routes for administrators to manage tokens. */
export function tokenRoutes(tokens: GatewayTokens): Route[] {
  return [
    route({
      method: 'get',
      path: PATH,
      docs: {
        id: 'listTokens',
        tag: 'Administration',
        summary: "A user's tokens",
        description: 'Ids and labels. A token itself is only shown when it is issued.',
        errors: ['not_found'],
      },
      access: 'admin',
      params: z.object({ id: anyId }),
      answer: listAnswer,
      async handle({ params: { id } }) {
        const items = (await tokens.list(id)).map((token) => {
          return { ...token, createdAt: new Date(token.createdAt).toISOString() }
        })
        return { body: { items } }
      },
    }),
    route({
      method: 'post',
      path: PATH,
      docs: {
        id: 'issueToken',
        tag: 'Administration',
        summary: 'Issue a token, which is only shown this time',
        description: 'Creates the user if necessary.',
        statuses: [201],
        example: { label: 'phone' },
        errors: ['conflict'],
      },
      access: 'admin',
      params: z.object({ id: userIdSchema }),
      body: issueBody,
      answer: z.object({ id: z.string(), token: z.string() }),
      async handle({ params, input: { label = '' }, user }) {
        const { id, token } = await tokens.issue(params.id, label, user.id)
        return { status: 201, body: { id, token } }
      },
    }),
    route({
      method: 'delete',
      path: `${PATH}/:tokenId`,
      docs: {
        id: 'revokeToken',
        tag: 'Administration',
        summary: 'Revoke a token',
        description: 'It stops working immediately.',
        errors: ['not_found'],
      },
      access: 'admin',
      params: z.object({ id: anyId, tokenId }),
      answer: z.undefined(),
      async handle({ params: { id, tokenId }, user }) {
        const isRevoked = await tokens.revoke(tokenId, user.id, id)
        if (!isRevoked) throw new HttpError('not_found', 'The user has no such token.')
        return { status: 204 }
      },
    }),
  ]
}
