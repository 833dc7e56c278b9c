import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import type { Clock } from '@scoregw/quota'
import type { Audited, AuditLog, Deed, Doer } from '../audit/audit.ts'
import type { Chore } from '../chores.ts'
import type { Db } from '../db/schema.ts'
import { readerOf } from '../db/sqlite.ts'
import { HttpError } from '../http/http-error.ts'
import type { Holder, StoredUser } from '../http/request-context.ts'
import { instantText } from '../http/schemas.ts'
import { UserRepository, userIdSchema } from '../users/user-repository.ts'

/** A service whose callers aren't users: score sync with its bots, the chart preview with its keys. */
export type Service = 'sync' | 'charts'
/** The service that a token works at: the gateway for its user, or another one for its holder. */
type Kind = 'gateway' | Service

/** What new tokens begin with. */
const PREFIXES: Readonly<Record<Kind, string>> = { gateway: 'gw_', sync: 'bt_', charts: 'mk_' }
/** Their names in the audit trail. */
const NAMES = { gateway: 'token', sync: 'bot', charts: 'chart-key' } as const

/** The most tokens per user, and per other service. */
export const MAX_TOKENS = 50
const MAX_OF_SERVICE = 1_000

/** The label of the demo's credentials. They are deleted or replaced with the demo. */
export const DEMO_LABEL = 'demo'

/** A new token of 256 random bits. */
export function newToken(kind: Kind = 'gateway'): string {
  return `${PREFIXES[kind]}${randomBytes(32).toString('base64url')}`
}

/** The stored form of a token. Tokens are random, so one round of SHA-256 suffices. */
export function tokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/** A bearer credential that isn't a gateway token is a JWT. */
export function isGatewayToken(credential: string): boolean {
  return credential.startsWith(PREFIXES.gateway)
}

/** A shorter token isn't random enough to show a part of it. */
const LEAST_SHOWN_OF = 16

/** The end of a token, for people who have several. */
function lastFour(token: string): string {
  return token.length < LEAST_SHOWN_OF ? '' : token.slice(-4)
}

/** Bots' tokens may be configured in any form that no other token has. */
function hasFormOf(kind: Kind, token: string): boolean {
  if (kind !== 'sync') return token.startsWith(PREFIXES[kind])
  return !isGatewayToken(token) && !token.startsWith(PREFIXES.charts)
}

/** Whose tokens: a user's at the gateway, or those of another service. */
export type Owner = { readonly userId: string } | { readonly service: Service }

/** A token as it is shown, without the token itself. */
export interface ShownToken {
  readonly id: string
  /** For people only: no lookup uses it. */
  readonly label: string
  /** Empty for a short token. */
  readonly lastFour: string
  /** Epoch milliseconds. */
  readonly createdAt: number
  /** Up to ten minutes late; `null`: never. */
  readonly lastUsedAt: number | null
  /** Set when it was rotated; `null`: never. */
  readonly expiresAt: number | null
}

/** A new token, which is only shown this time. */
export interface NewToken {
  readonly id: string
  readonly token: string
}

const FLUSH_EVERY_MS = 5_000
/** How far apart two stored uses of a token are, so that few requests cause a write. */
const RESOLUTION_MS = 10 * 60_000

/** Tokens of users, bots and the chart preview. Each works at one service; the others reject it. */
export class Tokens {
  /** Writes when tokens were last used, and deletes those that have expired. Requests don't wait for it. */
  readonly chore: Chore = { what: 'writing uses of tokens', everyMs: FLUSH_EVERY_MS, run: () => this.flush() }
  readonly #db: Db
  readonly #clock: Clock
  readonly #audit: AuditLog
  readonly #used = new Map<string, number>()

  constructor({ db, clock, audit }: { readonly db: Db; readonly clock: Clock; readonly audit: AuditLog }) {
    this.#db = db
    this.#clock = clock
    this.#audit = audit
  }

  /** The owner of a gateway token; `undefined` if it isn't valid. */
  async user(token: string): Promise<StoredUser | undefined> {
    const { userId: id, name, role, disabled } = (await this.#find('gateway', token)) ?? {}
    return id && name && role ? { id, name, role, disabled: disabled === 1 } : undefined
  }

  /** The holder of another service's token; `undefined` if it isn't valid there. */
  async holder(service: Service, token: string): Promise<Holder | undefined> {
    const found = await this.#find(service, token)
    return found && { id: found.id, name: found.label }
  }

  /** Valid tokens, oldest first. */
  async list(owner: Owner): Promise<ShownToken[]> {
    return this.#of(owner)
      .select(['id', 'label', 'last_four as lastFour', 'created_at as createdAt'])
      .select(['last_used_at as lastUsedAt', 'expires_at as expiresAt'])
      .orderBy('created_at')
      .orderBy('id')
      .execute()
  }

  /**
   * Makes a token, and its user if necessary. Only its hash is stored, so it is returned just this once.
   *
   * @throws {HttpError} `conflict` if the owner has the maximum number
   */
  async issue(owner: Owner, label: string, by: Doer): Promise<NewToken> {
    const kind = kindOf(owner)
    const token = newToken(kind)
    return this.#audit.change(by, async (audited) => {
      if ('userId' in owner) await this.#createUser(audited, owner.userId)
      const { count } = await this.#of(owner, audited.db)
        .select(({ fn }) => fn.countAll().as('count'))
        .executeTakeFirstOrThrow()
      const [whose, most] = 'userId' in owner ? ['The user has', MAX_TOKENS] : ['There are', MAX_OF_SERVICE]
      if (Number(count) >= most) {
        throw new HttpError('conflict', `${whose} ${most} tokens, the maximum: revoke one first.`)
      }
      const id = await this.add(owner, token, label, audited.db)
      audited.note({ action: `${NAMES[kind]}.issue`, before: null, ...deedOf(owner, id, label, 'after') })
      return { id, token }
    })
  }

  /**
   * Issues a token with the label of another, which expires after the grace.
   *
   * @throws {HttpError} `not_found` if the owner has no such token; `conflict` for a token that was rotated before, or
   * belongs to the demo
   */
  async rotate(
    id: string,
    owner: Owner,
    graceMs: number,
    by: Doer,
  ): Promise<NewToken & { readonly formerExpiresAt: string }> {
    if (!isStorable(id, owner)) throw noSuchToken()
    const kind = kindOf(owner)
    const token = newToken(kind)
    return this.#audit.change(by, async ({ db, note }) => {
      const of = this.#of(owner, db).where('id', '=', id)
      const former = await of.select(['label', 'expires_at as expiresAt']).executeTakeFirst()
      if (former === undefined) throw noSuchToken()
      const { label, expiresAt } = former
      if (label === DEMO_LABEL) throw new HttpError('conflict', 'This token belongs to the demo, which replaces it.')
      if (expiresAt !== null) throw new HttpError('conflict', 'This token was rotated already.')
      const expires_at = this.#clock.now() + graceMs
      await db.updateTable('tokens').set({ expires_at }).where('id', '=', id).execute()
      const newId = await this.add(owner, token, label, db)
      const named = 'userId' in owner ? { label } : { name: label }
      const formerExpiresAt = instantText(expires_at)
      const after = { id: newId, ...named, formerExpiresAt }
      note({ action: `${NAMES[kind]}.rotate`, ...deedOf(owner, id, label, 'before'), after })
      return { id: newId, token, formerExpiresAt }
    })
  }

  /** Stores a token of an owner. One that is stored already gets this owner. @returns its id */
  async add(owner: Owner, token: string, label: string, db: Db = this.#db): Promise<string> {
    const user_id = 'userId' in owner ? owner.userId : null
    const values = { service: kindOf(owner), user_id, label, last_four: lastFour(token), expires_at: null }
    const { id } = await db
      .insertInto('tokens')
      .values({ id: randomUUID(), hash: tokenHash(token), created_at: this.#clock.now(), ...values })
      .onConflict((conflict) => conflict.column('hash').doUpdateSet(values))
      .returning('id')
      .executeTakeFirstOrThrow()
    return id
  }

  /**
   * Revokes a token, from the next request on in every process.
   *
   * @param owner the required owner; absent: any user
   * @throws {HttpError} `not_found`
   */
  async revoke(id: string, by: Doer, owner?: Owner): Promise<void> {
    if (!isStorable(id, owner)) throw noSuchToken()
    const kind = owner === undefined ? 'gateway' : kindOf(owner)
    await this.#audit.change(by, async ({ db, note }) => {
      const found = db.deleteFrom('tokens').where('id', '=', id).where('service', '=', kind)
      const removed = await (owner !== undefined && 'userId' in owner
        ? found.where('user_id', '=', owner.userId)
        : found
      )
        .returning(['user_id', 'label'])
        .executeTakeFirst()
      if (removed === undefined) throw noSuchToken()
      const of = owner ?? { userId: removed.user_id ?? '' }
      note({ action: `${NAMES[kind]}.revoke`, after: null, ...deedOf(of, id, removed.label, 'before') })
    })
  }

  /** Replaces all tokens with a label, in one transaction. The demo uses it. */
  async replace(label: string, tokens: readonly { readonly owner: Owner; readonly token: string }[]): Promise<void> {
    await this.#db.transaction().execute(async (transaction) => {
      await transaction.deleteFrom('tokens').where('label', '=', label).execute()
      // Another process may start with the same tokens at the same moment.
      for (const { owner, token } of tokens) await this.add(owner, token, label, transaction)
    })
  }

  /** Compares hashes in constant time. Only the lookup leaks how much of a *hash* matches, which nobody can choose. */
  async #find(kind: Kind, token: string) {
    if (!hasFormOf(kind, token)) return undefined
    const hash = tokenHash(token)
    const row = await readerOf(this.#db)
      .selectFrom('tokens')
      .leftJoin('users', 'users.id', 'tokens.user_id')
      .select(['tokens.id', 'label', 'hash', 'last_used_at', 'expires_at'])
      .select(['users.id as userId', 'name', 'role', 'disabled'])
      .where('service', '=', kind)
      .where('hash', '=', hash)
      .executeTakeFirst()
    if (row === undefined || !timingSafeEqual(Buffer.from(row.hash), Buffer.from(hash))) return undefined
    if (row.expires_at !== null && row.expires_at <= this.#clock.now()) return undefined
    this.#use(row.id, row.last_used_at)
    return row
  }

  #use(id: string, lastUsedAt: number | null): void {
    const now = this.#clock.now()
    if (lastUsedAt === null || now - lastUsedAt >= RESOLUTION_MS) this.#used.set(id, now)
  }

  /** Writes uses. If it fails, the rest stays for the next time. */
  async flush(): Promise<void> {
    for (const [id, at] of this.#used) {
      await this.#db.updateTable('tokens').set({ last_used_at: at }).where('id', '=', id).execute()
      this.#used.delete(id)
    }
    await this.#db.deleteFrom('tokens').where('expires_at', '<=', this.#clock.now()).execute()
  }

  /** Those that have not expired. */
  #of(owner: Owner, db: Db = this.#db) {
    const tokens = db
      .selectFrom('tokens')
      .where('service', '=', kindOf(owner))
      .where(({ or, eb }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', this.#clock.now())]))
    return 'userId' in owner ? tokens.where('user_id', '=', owner.userId) : tokens
  }

  async #createUser({ db, note }: Audited, id: string): Promise<void> {
    const facts = { name: id, role: 'player' } as const
    if (!(await new UserRepository(db, this.#clock).create({ id, ...facts }))) return
    note({ action: 'user.create', subject: id, before: null, after: { ...facts, disabled: false, qq: null } })
  }
}

function kindOf(owner: Owner): Kind {
  return 'userId' in owner ? 'gateway' : owner.service
}

function noSuchToken(): HttpError {
  return new HttpError('not_found', 'There is no such token.')
}

/** Some databases reject other texts, and no id is one. */
function isStorable(id: string, owner?: Owner): boolean {
  const userId = owner !== undefined && 'userId' in owner ? owner.userId : id
  return [id, userId].every((text) => userIdSchema.safeParse(text).success)
}

/** In the audit trail, users' tokens are about the user, and those of a service about themselves. */
function deedOf<Side extends 'before' | 'after'>(owner: Owner, id: string, label: string, side: Side) {
  const [subject, document] = 'userId' in owner ? [owner.userId, { id, label }] : [id, { name: label }]
  return { subject, [side]: document } as Pick<Deed, 'subject'> & Record<Side, object>
}
