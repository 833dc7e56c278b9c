import * as z from 'zod'
import { strictObject } from '../http/http-error.ts'
import { adminRoute, type Route } from '../http/route.ts'
import { instantText, isoInstant } from '../http/schemas.ts'
import { nameSchema, type UserRepository, userIdSchema } from '../users/user-repository.ts'
import { DEMO_LABEL, type Owner, type Service, type Tokens } from './tokens.ts'

/** The variables of a path. */
type Ids = Readonly<Record<string, string>>
type Variables = z.ZodType<Ids, Record<string, unknown>>

/** The tokens of one kind: their paths, and what people call them. */
interface Kind {
  readonly path: string
  /** In names of operations: `listBots`, `issueBot`. */
  readonly id: string
  /** One of them, with its article. */
  readonly one: string
  readonly summary: string
  /** What the API calls a token's label, and the body that has it. */
  readonly called: 'label' | 'name'
  readonly body: z.ZodType<string>
  /** The variables of the list's path, of a new token's, and of one token's. */
  readonly owner: Variables | undefined
  readonly newOwner: Variables | undefined
  readonly token: Variables
  /** The variable with the token's id. */
  readonly tokenId: 'tokenId' | 'id'
  /** Also checks that the owner exists. Issuing a token creates its user. */
  ownerOf(ids: Ids): Promise<Owner>
  newOwnerOf(ids: Ids): Owner
}

/** Routes for administrators to manage tokens of users, of bots, and of the chart preview. */
export function tokenRoutes(tokens: Tokens, users: UserRepository): Route[] {
  const ownerOf = async ({ id = '' }: Ids): Promise<Owner> => ({ userId: (await users.require(id)).id })
  return [
    ...routesOf(tokens, { ...OF_USERS, ownerOf }),
    ...routesOf(tokens, ofService('sync', '/admin/bots', 'Bot', "a bot's token", 'Bots of score sync')),
    ...routesOf(
      tokens,
      ofService('charts', '/admin/chart-keys', 'ChartKey', 'a chart key', 'Keys of the chart preview'),
    ),
  ]
}

/** Any text. An id that isn't valid isn't found, like any unknown one. */
const anyId = z.string().meta({ description: "A user's id.", example: 'demo' })
// Tokens with the demo's label are deleted with the demo.
const label = nameSchema.refine((text) => text !== DEMO_LABEL, `"${DEMO_LABEL}" is for the demo's tokens`)

const OF_USERS = {
  path: '/admin/users/:id/tokens',
  id: 'Token',
  one: 'a token',
  summary: "A user's tokens",
  called: 'label',
  body: strictObject({ label: label.optional() }).transform((body) => body.label ?? ''),
  owner: z.object({ id: anyId }),
  newOwner: z.object({ id: userIdSchema }),
  token: z.object({ id: anyId, tokenId: z.string().describe("The token's id, not the token itself.") }),
  tokenId: 'tokenId',
  newOwnerOf: ({ id = '' }: Ids) => ({ userId: id }),
} as const satisfies Omit<Kind, 'ownerOf'>

function ofService(service: Service, path: string, id: string, one: string, summary: string): Kind {
  return {
    ...{ path, id, one, summary },
    called: 'name',
    body: strictObject({ name: label }).transform(({ name }) => name),
    owner: undefined,
    newOwner: undefined,
    token: z.object({ id: z.string().describe("The credential's id, not the credential itself.") }),
    tokenId: 'id',
    ownerOf: async () => ({ service }),
    newOwnerOf: () => ({ service }),
  }
}

const MOST_GRACE_SECONDS = 7 * 86_400
const GRACE_ERROR = `expected a whole number from 0 to ${MOST_GRACE_SECONDS}`

const rotation = strictObject({
  graceSeconds: z
    .int(GRACE_ERROR)
    .min(0, GRACE_ERROR)
    .max(MOST_GRACE_SECONDS, GRACE_ERROR)
    .default(86_400)
    .describe('How long the former token stays valid.'),
})

function routesOf(tokens: Tokens, kind: Kind): Route[] {
  const { path, id, one, called } = kind
  const onePath = `${path}/:${kind.tokenId}`
  const tokenIdOf = (ids: Ids): string => ids[kind.tokenId] ?? ''
  const listed = z.object({
    id: z.string(),
    [called]: z.string(),
    lastFour: z.string().describe('The last four characters; empty for a short one.'),
    createdAt: isoInstant,
    lastUsedAt: isoInstant.nullable().describe('Up to ten minutes late; `null`: never.'),
    expiresAt: isoInstant.nullable().describe('Set when it was rotated; `null`: never.'),
  })
  return [
    adminRoute(`GET ${path}`, {
      id: `list${id}s`,
      summary: kind.summary,
      description: 'Ids and names. A token itself is only shown when it is issued.',
      params: kind.owner,
      answer: z.object({ items: z.array(listed) }),
      async handle({ params }) {
        const items = (await tokens.list(await kind.ownerOf(params))).map(({ label, ...token }) => ({
          ...token,
          [called]: label,
          createdAt: instantText(token.createdAt),
          lastUsedAt: token.lastUsedAt === null ? null : instantText(token.lastUsedAt),
          expiresAt: token.expiresAt === null ? null : instantText(token.expiresAt),
        }))
        return { body: { items } }
      },
    }),
    adminRoute(`POST ${path}`, {
      id: `issue${id}`,
      summary: `Issue ${one}, which is only shown this time`,
      description: "Only its hash is stored, so a lost one can't be recovered. A user who doesn't exist is created.",
      statuses: [201],
      example: { [called]: 'nightly' },
      errors: ['conflict'],
      params: kind.newOwner,
      body: kind.body,
      answer: z.object({ id: z.string(), token: z.string() }),
      async handle({ params, input, user }) {
        return { status: 201, body: await tokens.issue(kind.newOwnerOf(params), input, user.id) }
      },
    }),
    adminRoute(`POST ${onePath}/rotate`, {
      id: `rotate${id}`,
      summary: `Replace ${one} by a new one, which is only shown this time`,
      description: 'The new one has the same name. The former one stays valid for the grace.',
      statuses: [201],
      example: { graceSeconds: 86_400 },
      errors: ['not_found', 'conflict'],
      params: kind.token,
      body: rotation,
      answer: z.object({ id: z.string(), token: z.string(), formerExpiresAt: isoInstant }),
      async handle({ params, input: { graceSeconds }, user: { id: by } }) {
        const rotated = await tokens.rotate(tokenIdOf(params), kind.newOwnerOf(params), graceSeconds * 1_000, by)
        return { status: 201, body: rotated }
      },
    }),
    adminRoute(`DELETE ${onePath}`, {
      id: `revoke${id}`,
      summary: `Revoke ${one}`,
      description: 'It stops working immediately.',
      errors: ['not_found'],
      params: kind.token,
      answer: z.undefined(),
      async handle({ params, user }) {
        await tokens.revoke(tokenIdOf(params), user.id, kind.newOwnerOf(params))
        return { status: 204 }
      },
    }),
  ]
}
