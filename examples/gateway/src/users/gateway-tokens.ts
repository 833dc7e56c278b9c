import type { Clock } from '@scoregw/quota'
import * as z from 'zod'
import type { AuditLog, Doer } from '../audit/audit.ts'
import type { Db } from '../db/schema.ts'
import { HttpError } from '../http/http-error.ts'
import { type Route, route } from '../http/route.ts'
import { type Rotated, requireRotatable, rotationRoute } from './rotation.ts'
import { DEMO_LABEL, newToken, SHOWN_COLUMNS, type ShownCredential, shownOfCredentials, withTexts } from './tokens.ts'
import { nameSchema, userIdSchema } from './user.ts'
import { UserRepository } from './user-repository.ts'

/** The most tokens per user. */
export const MAX_TOKENS = 50

/** A token as shown to administrators, without the token itself. */
export interface GatewayToken extends ShownCredential {
  readonly label: string
}

/** Operations of administrators on gateway tokens. */
export class GatewayTokens {
  readonly #db: Db
  readonly #clock: Clock
  readonly #audit: AuditLog

  constructor(db: Db, clock: Clock, audit: AuditLog) {
    this.#db = db
    this.#clock = clock
    this.#audit = audit
  }

  /**
   * Returns a user's tokens, the oldest first.
   *
   * @throws {HttpError} `not_found` for an unknown user
   */
  async list(userId: string): Promise<GatewayToken[]> {
    await new UserRepository(this.#db, this.#clock).require(userId)
    return this.#db
      .selectFrom('gateway_tokens')
      .select(['label', ...SHOWN_COLUMNS])
      .where('user_id', '=', userId)
      .where(({ or, eb }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', this.#clock.now())]))
      .orderBy('created_at')
      .orderBy('id')
      .execute()
  }

  /**
   * Makes a token, and the user if necessary. Only its hash is stored, so it is returned just this once.
   *
   * @throws {HttpError} `conflict` if the user has the maximum number of tokens
   */
  async issue(
    userId: string,
    label: string,
    by: Doer,
  ): Promise<{ readonly id: string; readonly token: string; readonly label: string }> {
    const token = newToken()
    return this.#audit.change(by, async ({ db, note }) => {
      const users = new UserRepository(db, this.#clock)
      const facts = { name: userId, role: 'player' } as const
      if (await users.create({ id: userId, ...facts })) {
        note({ action: 'user.create', subject: userId, before: null, after: { ...facts, disabled: false, qq: null } })
      }
      const { count } = await db
        .selectFrom('gateway_tokens')
        .select(({ fn }) => fn.countAll().as('count'))
        .where('user_id', '=', userId)
        .executeTakeFirstOrThrow()
      if (Number(count) >= MAX_TOKENS) {
        throw new HttpError('conflict', `The user has ${MAX_TOKENS} tokens, the maximum: revoke one first.`)
      }
      const id = await users.addToken(userId, token, label)
      note({ action: 'token.issue', subject: userId, before: null, after: { id, label } })
      return { id, token, label }
    })
  }

  /**
   * Issues a token with the label of another, which expires after the grace.
   *
   * @returns `undefined` if the user has no such token
   * @throws {HttpError} `conflict` for a token that was rotated before, or belongs to the demo
   */
  async rotate(userId: string, id: string, grace: number, by: Doer): Promise<Rotated | undefined> {
    if (![id, userId].every((text) => userIdSchema.safeParse(text).success)) return undefined
    const token = newToken()
    return this.#audit.change(by, async ({ db, note }) => {
      const former = await db
        .selectFrom('gateway_tokens')
        .select(['label', 'expires_at as expiresAt'])
        .where('id', '=', id)
        .where('user_id', '=', userId)
        .executeTakeFirst()
      if (former === undefined) return undefined
      requireRotatable(former.label, former.expiresAt)
      const formerExpiresAt = this.#clock.now() + grace * 1_000
      await db.updateTable('gateway_tokens').set({ expires_at: formerExpiresAt }).where('id', '=', id).execute()
      const { label } = former
      const newId = await new UserRepository(db, this.#clock).addToken(userId, token, label)
      const after = { id: newId, label, formerExpiresAt: new Date(formerExpiresAt).toISOString() }
      note({ action: 'token.rotate', subject: userId, before: { id, label }, after })
      return { id: newId, token, formerExpiresAt }
    })
  }

  /**
   * Revokes a token, from the next request on in every process.
   *
   * @param userId the required owner; absent: any
   * @returns whether the token existed
   */
  async revoke(id: string, by: Doer, userId?: string): Promise<boolean> {
    if (![id, userId ?? id].every((text) => userIdSchema.safeParse(text).success)) return false
    return this.#audit.change(by, async ({ db, note }) => {
      const tokens = db.deleteFrom('gateway_tokens').where('id', '=', id)
      const removed = await (userId === undefined ? tokens : tokens.where('user_id', '=', userId))
        .returning(['user_id', 'label'])
        .executeTakeFirst()
      if (removed === undefined) return false
      const { user_id: subject, label } = removed
      note({ action: 'token.revoke', subject, before: { id, label }, after: null })
      return true
    })
  }
}

const PATH = '/admin/users/:id/tokens'

const issueBody = z.strictObject({
  // Tokens with the demo's label are deleted with the demo.
  label: nameSchema.refine((label) => label !== DEMO_LABEL, `"${DEMO_LABEL}" is for the demo's tokens`).optional(),
})

const listAnswer = z.object({
  items: z.array(z.object({ id: z.string(), label: z.string(), ...shownOfCredentials })),
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
        return { body: { items: (await tokens.list(id)).map(withTexts) } }
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
    rotationRoute({
      path: `${PATH}/:tokenId/rotate`,
      params: z.object({ id: anyId, tokenId }),
      id: 'rotateToken',
      one: 'a token',
      rotate: ({ id, tokenId }, graceSeconds, by) => tokens.rotate(id, tokenId, graceSeconds, by),
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
