import { randomUUID, timingSafeEqual } from 'node:crypto'
import type { Clock } from '@scoregw/quota'
import type { Db } from '../db/schema.ts'
import { TOKEN_PREFIX, tokenHash } from './tokens.ts'
import type { User } from './user.ts'

/** Users and their gateway tokens. */
export class UserRepository {
  readonly #db: Db
  readonly #clock: Clock

  constructor(db: Db, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  async find(id: string): Promise<User | undefined> {
    return this.#db.selectFrom('users').select(['id', 'name', 'role']).where('id', '=', id).executeTakeFirst()
  }

  async list(): Promise<User[]> {
    return this.#db.selectFrom('users').select(['id', 'name', 'role']).orderBy('id').execute()
  }

  /** Creates a user; `false` when the id is taken. */
  async create(user: User): Promise<boolean> {
    const now = this.#clock.now()
    const { numInsertedOrUpdatedRows = 0n } = await this.#db
      .insertInto('users')
      .values({ ...user, created_at: now, touched_at: now })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .executeTakeFirstOrThrow()
    return numInsertedOrUpdatedRows > 0n
  }

  /** Whose a gateway token is. */
  async byToken(token: string): Promise<User | undefined> {
    if (!token.startsWith(TOKEN_PREFIX)) return undefined
    const hash = tokenHash(token)
    const row = await this.#db
      .selectFrom('gateway_tokens')
      .innerJoin('users', 'users.id', 'gateway_tokens.user_id')
      .select(['users.id', 'users.name', 'users.role', 'gateway_tokens.hash'])
      .where('gateway_tokens.hash', '=', hash)
      .executeTakeFirst()
    // The index tells how much of a *hash* fits, of which nobody can choose more than a few bits; the rest in constant time.
    if (row === undefined || !timingSafeEqual(Buffer.from(row.hash), Buffer.from(hash))) return undefined
    const { id, name, role } = row
    return { id, name, role }
  }

  /** Lets a token stand for a user. */
  async addToken(userId: string, token: string, label: string): Promise<void> {
    await this.#db
      .insertInto('gateway_tokens')
      .values({ id: randomUUID(), user_id: userId, hash: tokenHash(token), label, created_at: this.#clock.now() })
      .onConflict((conflict) => conflict.column('hash').doUpdateSet({ user_id: userId, label }))
      .execute()
  }

  /** Makes these the only tokens with a label, at once. */
  async replaceTokens(
    label: string,
    tokens: readonly { readonly userId: string; readonly token: string }[],
  ): Promise<void> {
    await this.#db.transaction().execute(async (transaction) => {
      await transaction.deleteFrom('gateway_tokens').where('label', '=', label).execute()
      const users = new UserRepository(transaction, this.#clock)
      for (const { userId, token } of tokens) await users.addToken(userId, token, label)
    })
  }
}
