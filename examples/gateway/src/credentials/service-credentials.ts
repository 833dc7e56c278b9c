import { randomUUID } from 'node:crypto'
import type { Clock } from '@scoregw/quota'
import * as z from 'zod'
import type { AuditLog, Doer } from '../audit/audit.ts'
import type { Db } from '../db/schema.ts'
import { HttpError } from '../http/http-error.ts'
import type { Holder } from '../http/request-context.ts'
import { type Route, route } from '../http/route.ts'
import type { CredentialUses } from '../users/credential-uses.ts'
import { type Rotated, requireRotatable, rotationRoute } from '../users/rotation.ts'
import {
  DEMO_LABEL,
  isSameHash,
  lastFour,
  newToken,
  SHOWN_COLUMNS,
  type ShownCredential,
  shownOfCredentials,
  TOKEN_PREFIX,
  tokenHash,
  withTexts,
} from '../users/tokens.ts'
import { nameSchema, userIdSchema } from '../users/user.ts'

/** A service whose callers aren't users: score sync with its bots, the chart preview with its keys. */
export type Service = 'sync' | 'charts'

/** Prefixes of each service's new credentials. */
const PREFIXES: Readonly<Record<Service, string>> = { sync: 'bt_', charts: 'mk_' }

/** Kinds of credentials in the audit trail. */
const KINDS = { sync: 'bot', charts: 'chart-key' } as const

/** How many credentials a service can have. */
const MAX_CREDENTIALS = 1_000

/** A credential as it is shown. The credential itself is not stored. */
export interface ServiceCredential extends ShownCredential {
  readonly name: string
}

/** Credentials of the services without users. Each belongs to one service; the others reject it. */
export class ServiceCredentials {
  readonly #db: Db
  readonly #clock: Clock
  readonly #audit: AuditLog
  readonly #reader: Db
  readonly #uses: CredentialUses | undefined

  /**
   * @param reader a connection for lookups of callers that don't wait for writes
   * @param uses absent: uses aren't recorded
   */
  constructor(db: Db, clock: Clock, audit: AuditLog, reader: Db = db, uses?: CredentialUses) {
    this.#db = db
    this.#clock = clock
    this.#audit = audit
    this.#reader = reader
    this.#uses = uses
  }

  /** The holder of a credential; `undefined` if it isn't valid at this service. */
  async identify(service: Service, credential: string): Promise<Holder | undefined> {
    if (!hasFormOf(service, credential)) return undefined
    const hash = tokenHash(credential)
    const row = await this.#reader
      .selectFrom('service_credentials')
      .select(['id', 'name', 'hash', 'last_used_at'])
      .where('service', '=', service)
      .where('hash', '=', hash)
      .where(({ or, eb }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', this.#clock.now())]))
      .executeTakeFirst()
    if (row === undefined || !isSameHash(row.hash, hash)) return undefined
    this.#uses?.record('service_credentials', row)
    return { id: row.id, name: row.name }
  }

  /** Oldest first. */
  async list(service: Service): Promise<ServiceCredential[]> {
    return this.#db
      .selectFrom('service_credentials')
      .select(['name', ...SHOWN_COLUMNS])
      .where('service', '=', service)
      .where(({ or, eb }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', this.#clock.now())]))
      .orderBy('created_at')
      .orderBy('id')
      .execute()
  }

  /**
   * Creates a credential. This is the only time it is returned: only its hash is stored.
   *
   * @throws {HttpError} `conflict` if the service has the maximum number
   */
  async issue(service: Service, name: string, by: Doer): Promise<{ readonly id: string; readonly token: string }> {
    const id = randomUUID()
    const token = newToken(PREFIXES[service])
    await this.#audit.change(by, async ({ db, note }) => {
      const { count } = await db
        .selectFrom('service_credentials')
        .select(({ fn }) => fn.countAll().as('count'))
        .where('service', '=', service)
        .executeTakeFirstOrThrow()
      if (Number(count) >= MAX_CREDENTIALS) {
        throw new HttpError('conflict', `There are ${MAX_CREDENTIALS}, the maximum: revoke one first.`)
      }
      await db
        .insertInto('service_credentials')
        .values(this.#row(id, service, name, token))
        .execute()
      note({ action: `${KINDS[service]}.issue`, subject: id, before: null, after: { name } })
    })
    return { id, token }
  }

  /**
   * Issues a credential with the name of another, which expires after the grace.
   *
   * @returns `undefined` if there is no such credential
   * @throws {HttpError} `conflict` for one that was rotated before, or belongs to the demo
   */
  async rotate(service: Service, id: string, grace: number, by: Doer): Promise<Rotated | undefined> {
    if (!userIdSchema.safeParse(id).success) return undefined
    const newId = randomUUID()
    const token = newToken(PREFIXES[service])
    return this.#audit.change(by, async ({ db, note }) => {
      const former = await db
        .selectFrom('service_credentials')
        .select(['name', 'expires_at as expiresAt'])
        .where('id', '=', id)
        .where('service', '=', service)
        .executeTakeFirst()
      if (former === undefined) return undefined
      const { name, expiresAt } = former
      requireRotatable(name, expiresAt)
      const formerExpiresAt = this.#clock.now() + grace * 1_000
      await db.updateTable('service_credentials').set({ expires_at: formerExpiresAt }).where('id', '=', id).execute()
      await db
        .insertInto('service_credentials')
        .values(this.#row(newId, service, name, token))
        .execute()
      const after = { id: newId, name, formerExpiresAt: new Date(formerExpiresAt).toISOString() }
      note({ action: `${KINDS[service]}.rotate`, subject: id, before: { name }, after })
      return { id: newId, token, formerExpiresAt }
    })
  }

  /**
   * The credential is invalid from the next request on, in every process.
   *
   * @returns whether it existed
   */
  async revoke(service: Service, id: string, by: Doer): Promise<boolean> {
    if (!userIdSchema.safeParse(id).success) return false
    return this.#audit.change(by, async ({ db, note }) => {
      const removed = await db
        .deleteFrom('service_credentials')
        .where('service', '=', service)
        .where('id', '=', id)
        .returning('name')
        .executeTakeFirst()
      if (removed === undefined) return false
      note({ action: `${KINDS[service]}.revoke`, subject: id, before: { name: removed.name }, after: null })
      return true
    })
  }

  /** Replaces all credentials of a service that have this name, in one transaction. The demo uses it. */
  async replace(service: Service, name: string, credentials: readonly string[]): Promise<void> {
    await this.#db.transaction().execute(async (transaction) => {
      await transaction
        .deleteFrom('service_credentials')
        .where('service', '=', service)
        .where('name', '=', name)
        .execute()
      for (const credential of credentials) {
        await transaction
          .insertInto('service_credentials')
          .values(this.#row(randomUUID(), service, name, credential))
          // Another process may start with the same credentials at the same moment.
          .onConflict((conflict) => conflict.column('hash').doUpdateSet({ service, name }))
          .execute()
      }
    })
  }

  #row(
    id: string,
    service: Service,
    name: string,
    credential: string,
  ): { id: string; service: Service; name: string; hash: string; last_four: string; created_at: number } {
    const hash = tokenHash(credential)
    return { id, service, name, hash, last_four: lastFour(credential), created_at: this.#clock.now() }
  }
}

/** Bots' tokens may be configured in any form that no other credential has. */
function hasFormOf(service: Service, credential: string): boolean {
  if (service === 'charts') return credential.startsWith(PREFIXES.charts)
  return !credential.startsWith(TOKEN_PREFIX) && !credential.startsWith(PREFIXES.charts)
}

const issueBody = z.strictObject({
  // Credentials with the demo's name are deleted with the demo.
  name: nameSchema.refine((name) => name !== DEMO_LABEL, `"${DEMO_LABEL}" is for the demo's credential`),
})

const listAnswer = z.object({
  items: z.array(z.object({ id: z.string(), name: z.string(), ...shownOfCredentials })),
})

interface Words {
  /** In names of operations: `listBots`, `issueBot`. */
  readonly id: string
  readonly one: string
  readonly many: string
}

/** Bots' tokens and chart keys, for administrators. */
export function credentialRoutes(credentials: ServiceCredentials): Route[] {
  return [
    ...routesOf(credentials, 'sync', '/admin/bots', { id: 'Bot', one: "a bot's token", many: 'Bots of score sync' }),
    ...routesOf(credentials, 'charts', '/admin/chart-keys', {
      id: 'ChartKey',
      one: 'a chart key',
      many: 'Keys of the chart preview',
    }),
  ]
}

function routesOf(credentials: ServiceCredentials, service: Service, path: string, words: Words): Route[] {
  const tag = 'Administration'
  return [
    route({
      method: 'get',
      path,
      docs: {
        id: `list${words.id}s`,
        tag,
        summary: words.many,
        description: 'Ids and names. A credential itself is only shown when it is issued.',
      },
      access: 'admin',
      answer: listAnswer,
      async handle() {
        return { body: { items: (await credentials.list(service)).map(withTexts) } }
      },
    }),
    route({
      method: 'post',
      path,
      docs: {
        id: `issue${words.id}`,
        tag,
        summary: `Issue ${words.one}, which is only shown this time`,
        description: "Only its hash is stored, so a lost one can't be recovered.",
        statuses: [201],
        example: { name: 'nightly' },
        errors: ['conflict'],
      },
      access: 'admin',
      body: issueBody,
      answer: z.object({ id: z.string(), token: z.string() }),
      async handle({ input: { name }, user }) {
        return { status: 201, body: await credentials.issue(service, name, user.id) }
      },
    }),
    rotationRoute({
      path: `${path}/:id/rotate`,
      params: z.object({ id: z.string().describe("The credential's id, not the credential itself.") }),
      id: `rotate${words.id}`,
      one: words.one,
      rotate: ({ id }, graceSeconds, by) => credentials.rotate(service, id, graceSeconds, by),
    }),
    route({
      method: 'delete',
      path: `${path}/:id`,
      docs: {
        id: `revoke${words.id}`,
        tag,
        summary: `Revoke ${words.one}`,
        description: 'It stops working immediately.',
        errors: ['not_found'],
      },
      access: 'admin',
      params: z.object({ id: z.string().describe("The credential's id, not the credential itself.") }),
      answer: z.undefined(),
      async handle({ params: { id }, user }) {
        const isRevoked = await credentials.revoke(service, id, user.id)
        if (!isRevoked) throw new HttpError('not_found', 'There is no such credential.')
        return { status: 204 }
      },
    }),
  ]
}
