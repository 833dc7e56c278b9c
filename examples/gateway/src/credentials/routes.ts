import * as z from 'zod'
import { HttpError, strictObject } from '../http/http-error.ts'
import { adminRoute, type Route } from '../http/route.ts'
import { instantText, isoInstant } from '../http/schemas.ts'
import { nameSchema, userIdSchema } from '../users/user.ts'
import type { UserRepository } from '../users/user-repository.ts'
import { rotationRoute } from './rotation.ts'
import { DEMO_LABEL, type Service, type ShownToken, type Tokens } from './tokens.ts'

const PATH = '/admin/users/:id/tokens'

const issueBody = strictObject({
  // Tokens with the demo's label are deleted with the demo.
  label: nameSchema.refine((label) => label !== DEMO_LABEL, `"${DEMO_LABEL}" is for the demo's tokens`).optional(),
})

/** What lists show of every token, beside its id and name. */
const shown = {
  lastFour: z.string().describe('The last four characters; empty for a short one.'),
  createdAt: isoInstant,
  lastUsedAt: isoInstant.nullable().describe('Up to ten minutes late; `null`: never.'),
  expiresAt: isoInstant.nullable().describe('Set when it was rotated; `null`: never.'),
}

const listAnswer = z.object({ items: z.array(z.object({ id: z.string(), label: z.string(), ...shown })) })

function toListed({ createdAt, lastUsedAt, expiresAt, ...rest }: ShownToken): z.output<typeof listAnswer>['items'][0] {
  const textOf = (at: number | null): string | null => (at === null ? null : instantText(at))
  return {
    ...rest,
    createdAt: instantText(createdAt),
    lastUsedAt: textOf(lastUsedAt),
    expiresAt: textOf(expiresAt),
  }
}

/** Any text. An id that isn't valid isn't found, like any unknown one. */
const anyId = z.string().meta({ description: "A user's id.", example: 'demo' })
const tokenId = z.string().describe("The token's id, not the token itself.")

/** Routes for administrators to manage tokens. */
export function tokenRoutes(tokens: Tokens, users: UserRepository): Route[] {
  return [
    adminRoute(`GET ${PATH}`, {
      id: 'listTokens',
      summary: "A user's tokens",
      description: 'Ids and labels. A token itself is only shown when it is issued.',
      errors: ['not_found'],
      params: z.object({ id: anyId }),
      answer: listAnswer,
      async handle({ params: { id } }) {
        await users.require(id)
        return { body: { items: (await tokens.list({ userId: id })).map(toListed) } }
      },
    }),
    adminRoute(`POST ${PATH}`, {
      id: 'issueToken',
      summary: 'Issue a token, which is only shown this time',
      description: 'Creates the user if necessary.',
      statuses: [201],
      example: { label: 'phone' },
      errors: ['conflict'],
      params: z.object({ id: userIdSchema }),
      body: issueBody,
      answer: z.object({ id: z.string(), token: z.string() }),
      async handle({ params, input: { label = '' }, user }) {
        const { id, token } = await tokens.issue({ userId: params.id }, label, user.id)
        return { status: 201, body: { id, token } }
      },
    }),
    rotationRoute(tokens, {
      path: `${PATH}/:tokenId/rotate`,
      params: z.object({ id: anyId, tokenId }),
      id: 'rotateToken',
      one: 'a token',
      of: ({ id, tokenId }) => [tokenId, { userId: id }],
    }),
    adminRoute(`DELETE ${PATH}/:tokenId`, {
      id: 'revokeToken',
      summary: 'Revoke a token',
      description: 'It stops working immediately.',
      errors: ['not_found'],
      params: z.object({ id: anyId, tokenId }),
      answer: z.undefined(),
      async handle({ params: { id, tokenId }, user }) {
        const isRevoked = await tokens.revoke(tokenId, user.id, { userId: id })
        if (!isRevoked) throw new HttpError('not_found', 'The user has no such token.')
        return { status: 204 }
      },
    }),
  ]
}

const serviceBody = strictObject({
  // Credentials with the demo's name are deleted with the demo.
  name: nameSchema.refine((name) => name !== DEMO_LABEL, `"${DEMO_LABEL}" is for the demo's credential`),
})

const serviceAnswer = z.object({ items: z.array(z.object({ id: z.string(), name: z.string(), ...shown })) })
const credentialId = z.object({ id: z.string().describe("The credential's id, not the credential itself.") })

interface Words {
  /** In names of operations: `listBots`, `issueBot`. */
  readonly id: string
  readonly one: string
  readonly many: string
}

/** Bots' tokens and chart keys, for administrators. */
export function credentialRoutes(tokens: Tokens): Route[] {
  return [
    ...routesOf(tokens, 'sync', '/admin/bots', { id: 'Bot', one: "a bot's token", many: 'Bots of score sync' }),
    ...routesOf(tokens, 'charts', '/admin/chart-keys', {
      id: 'ChartKey',
      one: 'a chart key',
      many: 'Keys of the chart preview',
    }),
  ]
}

function routesOf(tokens: Tokens, service: Service, path: string, words: Words): Route[] {
  return [
    adminRoute(`GET ${path}`, {
      id: `list${words.id}s`,
      summary: words.many,
      description: 'Ids and names. A credential itself is only shown when it is issued.',
      answer: serviceAnswer,
      async handle() {
        const listed = (await tokens.list({ service })).map(toListed)
        return { body: { items: listed.map(({ label: name, ...rest }) => ({ name, ...rest })) } }
      },
    }),
    adminRoute(`POST ${path}`, {
      id: `issue${words.id}`,
      summary: `Issue ${words.one}, which is only shown this time`,
      description: "Only its hash is stored, so a lost one can't be recovered.",
      statuses: [201],
      example: { name: 'nightly' },
      errors: ['conflict'],
      body: serviceBody,
      answer: z.object({ id: z.string(), token: z.string() }),
      async handle({ input: { name }, user }) {
        return { status: 201, body: await tokens.issue({ service }, name, user.id) }
      },
    }),
    rotationRoute(tokens, {
      path: `${path}/:id/rotate`,
      params: credentialId,
      id: `rotate${words.id}`,
      one: words.one,
      of: ({ id }) => [id, { service }],
    }),
    adminRoute(`DELETE ${path}/:id`, {
      id: `revoke${words.id}`,
      summary: `Revoke ${words.one}`,
      description: 'It stops working immediately.',
      errors: ['not_found'],
      params: credentialId,
      answer: z.undefined(),
      async handle({ params: { id }, user }) {
        const isRevoked = await tokens.revoke(id, user.id, { service })
        if (!isRevoked) throw new HttpError('not_found', 'There is no such credential.')
        return { status: 204 }
      },
    }),
  ]
}
