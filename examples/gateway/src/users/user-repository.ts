import type { Clock } from '@scoregw/quota'
import { sql, type Transaction } from 'kysely'
import type { Db, Tables } from '../db/schema.ts'
import { HttpError } from '../http/http-error.ts'
import type { StoredUser, User } from '../http/request-context.ts'
import { userIdSchema } from './user.ts'

/** Users. */
export class UserRepository {
  readonly #db: Db
  readonly #clock: Clock
  readonly #reader: Db

  /** @param reader connection for reads that don't wait for writes */
  constructor(db: Db, clock: Clock, reader: Db = db) {
    this.#db = db
    this.#clock = clock
    this.#reader = reader
  }

  /** Returns a user. Invalid ids are not looked up, because some databases reject them. */
  async find(id: string): Promise<StoredUser | undefined> {
    if (!userIdSchema.safeParse(id).success) return undefined
    const row = await this.#reader
      .selectFrom('users')
      .select(['id', 'name', 'role', 'disabled'])
      .where('id', '=', id)
      .executeTakeFirst()
    return row && { ...row, disabled: row.disabled === 1 }
  }

  /** @throws {HttpError} `not_found` for an unknown user */
  async require(id: string): Promise<StoredUser> {
    const user = await this.find(id)
    if (user === undefined) throw noSuchUser()
    return user
  }

  /** Returns a user, and creates an unknown one as a player. */
  async findOrCreate(id: string): Promise<StoredUser> {
    const known = await this.find(id)
    if (known !== undefined) return known
    const user: StoredUser = { id, name: id, role: 'player', disabled: false }
    if (await this.create(user)) return user
    // Another request has just created the user.
    return (await this.find(id)) ?? user
  }

  async list(): Promise<User[]> {
    return this.#db.selectFrom('users').select(['id', 'name', 'role']).orderBy('id').execute()
  }

  /** Creates a user. Returns `false` if the id is taken. */
  async create({ id, name, role }: User): Promise<boolean> {
    const now = this.#clock.now()
    const { numInsertedOrUpdatedRows = 0n } = await this.#db
      .insertInto('users')
      .values({ id, name, role, created_at: now, touched_at: now })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .executeTakeFirstOrThrow()
    return numInsertedOrUpdatedRows > 0n
  }

  /** Links a score sync account, if neither it nor the user is linked yet. */
  async linkIfFree(id: string, qq: number): Promise<void> {
    await this.#db
      .updateTable('users')
      .set({ qq })
      .where('id', '=', id)
      .where('qq', 'is', null)
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom('users as other').select('other.id').where('other.qq', '=', qq))),
      )
      .execute()
  }

  /** Makes users with a token of this label players. */
  async demoteHolders(label: string): Promise<void> {
    await this.#db
      .updateTable('users')
      .set({ role: 'player' })
      .where('id', 'in', ({ selectFrom }) => selectFrom('tokens').select('user_id').where('label', '=', label))
      .execute()
  }

  async setRole(id: string, role: User['role']): Promise<void> {
    await this.#db.updateTable('users').set({ role }).where('id', '=', id).execute()
  }
}

export function noSuchUser(): HttpError {
  return new HttpError('not_found', 'Unknown user.')
}

/** The tables with users' rows. Scores of upload sessions are deleted with their sessions. */
const OF_USERS = [
  'tokens',
  'tickets',
  'items',
  'gates',
  'idempotency_keys',
  'source_imports',
  'upload_sessions',
  'usage_records',
  'usage_days',
] as const satisfies readonly (keyof Tables)[]

/**
 * Deletes a user and the user's rows. What bots reported about a linked account stays. Snapshots that wrote the user's
 * scores expire. The audit trail stays.
 */
export async function forgetUser(db: Transaction<Tables>, userId: string): Promise<void> {
  for (const table of OF_USERS) await db.deleteFrom(table).where('user_id', '=', userId).execute()
  await db.deleteFrom('scores').where('owner', '=', userId).execute()
  const snapshots = db.updateTable('sync_snapshots').where('user_id', '=', userId)
  await snapshots.where('state', '=', 'open').set({ state: 'expired' }).execute()
  await snapshots.set({ user_id: null }).execute()
  await db.deleteFrom('users').where('id', '=', userId).execute()
}

/** A user as shown to administrators. */
export interface UserRecord extends StoredUser {
  readonly qq: number | null
  readonly balance: number
  /** Epoch milliseconds. */
  readonly createdAt: number
}

/** The columns for {@link toUserRecord}. */
export const USER_COLUMNS = ['id', 'name', 'role', 'disabled', 'qq', 'balance', 'created_at as createdAt'] as const

type UserRow = Omit<UserRecord, 'disabled'> & { readonly disabled: 0 | 1 }

export function toUserRecord(row: UserRow): UserRecord {
  return { ...row, disabled: row.disabled === 1 }
}

/** What lists of users can be sorted by. All but the ids come first where they are highest. */
export const USER_ORDERS = ['id', 'tokens', 'refusals', 'lastSeen'] as const
export type UserOrder = (typeof USER_ORDERS)[number]

/** The place of a user in a list. */
export interface UserPlace {
  readonly id: string
  /** What the list is sorted by; 0 for ids. */
  readonly value: number
}

export interface UserSearch {
  /** The beginning of an id or name, in any case, or a whole score sync account; absent: all users. */
  readonly text: string | undefined
  readonly order: UserOrder
  /** Lists users after this place. */
  readonly after: UserPlace | undefined
  readonly limit: number
}

/** A user in a list, and what the user did today and last. */
export interface ListedUser extends UserRecord {
  readonly tokensToday: number
  readonly refusalsToday: number
  /** Epoch milliseconds; `null`: no metered request within a month. */
  readonly lastSeenAt: number | null
}

/** In the order of the place of a user in a list. */
export function placeOf(user: ListedUser, order: UserOrder): UserPlace {
  const values = { id: 0, tokens: user.tokensToday, refusals: user.refusalsToday, lastSeen: user.lastSeenAt ?? 0 }
  return { id: user.id, value: values[order] }
}

/**
 * Lists users. By id and with a text, it reads along an index: no further than necessary, or only users who match. In
 * another order, it reads all of them.
 */
export async function listUsers(db: Db, { text, order, after, limit }: UserSearch, day: number): Promise<ListedUser[]> {
  const lastAt = sql<number | null>`(select max(last_at) from usage_days where usage_days.user_id = found.id)`
  const values = {
    id: sql<number>`0`,
    tokens: sql<number>`coalesce(today.tokens, 0)`,
    refusals: sql<number>`coalesce(today.refusals, 0)`,
    lastSeen: sql<number>`coalesce(${lastAt}, 0)`,
  }
  const everybody = matching(db, text)
    .leftJoin('usage_days as today', (join) => join.onRef('today.user_id', '=', 'found.id').on('today.day', '=', day))
    .select(USER_COLUMNS)
    .select([values.tokens.as('tokensToday'), values.refusals.as('refusalsToday'), lastAt.as('lastSeenAt')])
    .limit(limit)
  const value = values[order]
  const sorted = order === 'id' ? everybody : everybody.orderBy(value, 'desc')
  const behind =
    after === undefined
      ? sorted
      : sorted.where(({ or, and, eb }) => {
          const isLater = eb('found.id', '>', after.id)
          return order === 'id'
            ? isLater
            : or([eb(value, '<', after.value), and([eb(value, '=', after.value), isLater])])
        })
  const rows = await behind.orderBy('found.id').execute()
  return rows.map(({ tokensToday, refusalsToday, lastSeenAt, ...row }) => ({
    ...toUserRecord(row),
    tokensToday: Number(tokensToday),
    refusalsToday: Number(refusalsToday),
    lastSeenAt: lastSeenAt === null ? null : Number(lastSeenAt),
  }))
}

/** How many users a search finds. */
export async function countUsers(db: Db, text: string | undefined): Promise<number> {
  const { count } = await matching(db, text)
    .select(({ fn }) => fn.countAll().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** The last character: no text that begins with another one comes behind it followed by this. */
const LAST = '\u{10ffff}'

/** All users, or those who match: a union, so that each part is read along its own index. */
function matching(db: Db, text: string | undefined) {
  const users = db.selectFrom('users').select(['id', 'name', 'role', 'disabled', 'qq', 'balance', 'created_at'])
  if (text === undefined) return db.selectFrom(users.as('found'))
  const beginning = (column: 'id' | 'name') => {
    const folded = sql`lower(${sql.ref(column)}) collate "BINARY"`
    return users.where(sql<boolean>`${folded} >= lower(${text}) and ${folded} < lower(${text}) || ${LAST}`)
  }
  const named = beginning('id').union(beginning('name'))
  return db.selectFrom(
    (/^\d{5,12}$/.test(text) ? named.union(users.where('qq', '=', Number(text))) : named).as('found'),
  )
}
